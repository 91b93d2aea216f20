"""`smem-materialize-descriptors`: turn each operand of an mma into 64-bit matrix descriptors."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..bindings.diagnostics import format_location, remark
from ..bindings.irtypes import Attribute, Context, Module, Op, Type, Value
from ..bindings.mlir import ir
from ..dialect.caching import cached_in_context
from ..dialect.ops import MmaDescOp, MmaDescScaledOp, MmaDescSpOp, MmaScaledOp, TileMma
from ..dialect.ops.mma_rules import MODIFIERS, PAIR, operand_element
from ..dialect.ops.mma_scaled import scaling_of
from ..dialect.types import is_a_fragment, shape_of
from ..ir import emit
from ..ir.errors import OpError
from ..ir.matrix_descriptors import Descriptors, first_byte
from ..ir.shared_memory import allocation_alignment
from ..ir.subtiles import Subtile, subtile_from
from ..ir.walk import walk
from ..layout import Major, Mismatch, MmaTiles, Role, Swizzle
from ..layout.arch import Arch
from ..layout.tcgen05 import BlockScaling, Chunks, scale_blocks
from .driver.base import Pass, option


@dataclass(frozen=True)
class MaterializeDescriptors(Pass):
    """Replaces `smem.mma` by `smem.mma_desc`, whose operands are descriptors; a scaled one by
    `smem.mma_desc_scaled`.

    At the allocation of a tile, one constant is OR'd with the encoded address. The run-time offsets of
    stages and subtiles are added where these are used, loop-invariant offsets first. The constant offsets
    of the MMA tiles along m/n and k stay attributes of the op. Where a run-time start cuts atoms, the
    distance between MMA tiles is not a constant: each then has its own descriptor.
    """

    name = "smem-materialize-descriptors"
    description = "turn the tiles that mma read into 64-bit matrix descriptors"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")
    explain: bool = option(False, "print each operand's descriptor, field by field, as remarks")

    def run(self, module: Module) -> None:
        operands = _TileOperands(self.arch)
        for mma in walk(module, TileMma):
            self._rewrite(mma, operands)

    def _rewrite(self, mma: TileMma, operands: "_TileOperands") -> None:
        with ir.InsertionPoint(mma), mma.location:
            if mma.scales:
                replacement = _describe_scaled(mma, self.arch, operands.descriptors, self.explain)
            else:
                replacement = _describe(mma, operands, self.explain)
        mma.result.replace_all_uses_with(replacement.result)
        mma.operation.erase()


class _TileOperands:
    """The MMA tiles of the operands of a module; operands that several mma read alike are shared.

    Attributes:
        descriptors: the descriptors that have been emitted.
    """

    def __init__(self, arch: Arch) -> None:
        self.descriptors = Descriptors()
        self._arch = arch
        self._tiles: dict[tuple[Value, Role, bool, int], tuple[Subtile, MmaTiles]] = {}

    def of(self, mma: TileMma, role: Role, tile: Value) -> tuple[Subtile, MmaTiles]:
        """Return the subtile that an operand is, and its MMA tiles.

        Raises:
            OpError: if instructions cannot read it.
        """
        sparse, ctas = mma.metadata is not None, mma.ctas
        key = (tile, role, sparse, ctas)
        if key not in self._tiles:
            subtile = subtile_from(tile, mma)
            mma_tiles = self._arch.mma_tiles(subtile.slice.layout, role, sparse, ctas)
            if isinstance(mma_tiles, Mismatch):
                raise OpError(mma, f"cannot read {role.name}: {mma_tiles.reason}")
            self._tiles[key] = subtile, mma_tiles
        return self._tiles[key]


def _describe(mma: TileMma, tiles: _TileOperands, explains: bool) -> Op:
    """Emit the `smem.mma_desc` of an `smem.mma`.

    Raises:
        OpError: if instructions cannot read an operand.
    """
    operands = list(mma.operands)
    attributes = _modifiers_of(mma)
    for position, (role, operand) in enumerate(zip(Role, (mma.a, mma.b), strict=True)):
        type_ = operand.type
        if is_a_fragment(type_):
            attributes |= _register_attributes(type_, role)
            continue
        subtile, mma_tiles = tiles.of(mma, role, operand)
        if explains:
            explain(mma, role.name, subtile, mma_tiles)
        operands[position] = tiles.descriptors.of(mma, role.name, subtile, mma_tiles)
        attributes |= _descriptor_attributes(type_, role, mma_tiles)
    op = MmaDescOp if mma.metadata is None else MmaDescSpOp
    return ir.Operation.create(
        op.OPERATION_NAME,
        results=[mma.result.type],
        operands=operands,
        attributes=attributes,
    )


def _describe_scaled(mma: MmaScaledOp, arch: Arch, descriptors: Descriptors, explains: bool) -> Op:
    """Emit the `smem.mma_desc_scaled` of an `smem.mma_scaled`.

    Raises:
        OpError: if instructions cannot read an operand.
    """
    operands = list(mma.operands)
    tiles = (mma.a, mma.b, *mma.scales)
    scaling = scaling_of(mma.a.type, mma.b.type, mma.a_scales.type)
    subtiles = [subtile_from(tile, mma) for tile in tiles]
    context = mma.operation.context
    attributes = _modifiers_of(mma) | {
        "scale": ir.StringAttr.get(scaling.scale),
        "block": ir.IntegerAttr.get(emit.i64(), scaling.block),
    }
    (k, n), ctas = shape_of(mma.b.type), mma.ctas
    chunks = None
    if arch.has_absolute_lbo and scaling.reads_long(k, n * ctas):
        chunks = _chunks(scaling, subtiles[:2], ctas)
        if isinstance(chunks, str):
            if explains:
                remark(mma.location, f"instructions read 32 bytes along K, not 48: it {chunks}")
            chunks = None
    for i, role in enumerate(Role):
        if chunks:
            if explains:
                remark(mma.location, f"{role.name}: {chunks[i]}")
            attributes[f"{role.value}_second_chunks"] = _numbers(context, chunks[i].second_steps)
        mma_tiles = chunks[i] if chunks else scaling.mma_tiles(subtiles[i].slice.layout, role, ctas)
        if isinstance(mma_tiles, Mismatch):
            raise OpError(mma, f"cannot read {role.name}: {mma_tiles.reason}")
        attributes |= _descriptor_attributes(tiles[i].type, role, mma_tiles)
        factors_name = f"the factors of {role.name}"
        factors = scale_blocks(subtiles[2 + i].slice.layout)
        if isinstance(factors, Mismatch):
            raise OpError(mma, f"cannot read {factors_name}: {factors.reason}")
        attributes[f"{role.value}_scale_steps"] = _numbers(context, factors.operand.steps)
        for position, name, operand_tiles in (
            (i, role.name, mma_tiles),
            (2 + i, factors_name, factors.operand),
        ):
            if explains:
                explain(mma, name, subtiles[position], operand_tiles)
            operands[position] = descriptors.of(mma, name, subtiles[position], operand_tiles)
    return ir.Operation.create(
        MmaDescScaledOp.OPERATION_NAME,
        results=[mma.result.type],
        operands=operands,
        attributes=attributes,
    )


def _chunks(scaling: BlockScaling, subtiles: list[Subtile], ctas: int) -> list[Chunks] | str:
    """Return the chunks of A and B that instructions with 48 bytes along K read, or the reason why they
    cannot read both."""
    pattern = Swizzle.B128.pattern_bytes
    chunks: list[Chunks] = []
    for subtile, role in zip(subtiles, Role, strict=True):
        operand_chunks = scaling.chunks(subtile.slice.layout, role, ctas)
        if isinstance(operand_chunks, Mismatch):
            return f"cannot read {role.name}: {operand_chunks.reason}"
        alignment = allocation_alignment(subtile.allocation)
        if alignment % pattern:
            return (
                f"reads {role.name} from a tile that begins at a multiple of {alignment}; with an "
                f"absolute leading dimension the base offset is 0, so it begins at a multiple of "
                f"{pattern}"
            )
        chunks.append(operand_chunks)
    return chunks


def explain(mma: TileMma, name: str, subtile: Subtile, mma_tiles: MmaTiles) -> None:
    """Emit a remark on the descriptor of an operand, field by field."""
    runtime = " plus an offset known at run time" if any((subtile.terms, *mma_tiles.terms)) else ""
    count = f", {len(mma_tiles.terms)} descriptors" if len(mma_tiles.terms) > 1 else ""
    remark(
        mma.location,
        f"{name}: {mma_tiles.encoding.of(mma_tiles.canonical, 0)}; starts "
        f"{first_byte(subtile, mma_tiles)} bytes{runtime} into the tile at "
        f"{format_location(subtile.allocation.location)}{count}",
    )


@cached_in_context
def _descriptor_attributes(type_: Type, role: Role, mma_tiles: MmaTiles) -> dict[str, Attribute]:
    """Return the attributes of an operand with a descriptor.

    Args:
        type_: its type.
        role: A or B.
        mma_tiles: its MMA tiles.
    """
    letter = role.value
    attributes: dict[str, Attribute] = {
        f"{letter}_element": ir.StringAttr.get(operand_element(type_).name, type_.context),
        f"{letter}_major": ir.StringAttr.get(mma_tiles.canonical.major.value, type_.context),
        f"{letter}_steps": _numbers(type_.context, mma_tiles.steps),
    }
    if len(mma_tiles.terms) > 1:
        attributes[f"{letter}_bases"] = _numbers(type_.context, mma_tiles.bases)
    return attributes


@cached_in_context
def _register_attributes(type_: Type, role: Role) -> dict[str, Attribute]:
    """Return the attributes of an operand in registers, which has no descriptor."""
    letter = role.value
    return {
        f"{letter}_element": ir.StringAttr.get(operand_element(type_).name, type_.context),
        f"{letter}_major": ir.StringAttr.get(Major.K.value, type_.context),
        f"{letter}_steps": _numbers(type_.context, ()),
    }


def _modifiers_of(mma: TileMma) -> dict[str, Attribute]:
    """Return the unit attributes of an mma that its instructions keep."""
    return {name: mma.attributes[name] for name in (*MODIFIERS, PAIR) if name in mma.attributes}


def _numbers(context: Context, rows: Iterable[Iterable[int]]) -> Attribute:
    """Return _numbers for each MMA tile of an operand, row by row, as an array attribute."""
    return ir.DenseI64ArrayAttr.get([number for row in rows for number in row], context)
