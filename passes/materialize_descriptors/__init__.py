"""`smem-materialize-descriptors`: turn each operand of an mma into 64-bit matrix descriptors."""

from dataclasses import dataclass

from ...bindings.irtypes import Module, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import MmaDescOp, MmaDescSpOp, TileMma
from ...dialect.types import is_a_fragment
from ...ir.errors import OpError
from ...ir.matrix_descriptors import Descriptors
from ...ir.subtiles import Subtile, subtile_from
from ...ir.walk import walk
from ...layout import Mismatch, MmaTiles, Role
from ...layout.arch import Arch
from ..driver.base import Pass, option
from .operand_attributes import (
    descriptor_attributes,
    explain,
    modifiers_of,
    register_attributes,
)
from .scaled import describe_scaled


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
                replacement = describe_scaled(mma, self.arch, operands.descriptors, self.explain)
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
    attributes = modifiers_of(mma)
    for position, (role, operand) in enumerate(zip(Role, (mma.a, mma.b), strict=True)):
        type_ = operand.type
        if is_a_fragment(type_):
            attributes |= register_attributes(type_, role)
            continue
        subtile, mma_tiles = tiles.of(mma, role, operand)
        if explains:
            explain(mma, role.name, subtile, mma_tiles)
        operands[position] = tiles.descriptors.of(mma, role.name, subtile, mma_tiles)
        attributes |= descriptor_attributes(type_, role, mma_tiles)
    op = MmaDescOp if mma.metadata is None else MmaDescSpOp
    return ir.Operation.create(
        op.OPERATION_NAME,
        results=[mma.result.type],
        operands=operands,
        attributes=attributes,
    )
