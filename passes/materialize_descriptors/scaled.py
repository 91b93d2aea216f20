"""The operands of an `smem.mma_scaled` as descriptors."""

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...dialect.ops import MmaDescScaledOp, MmaScaledOp
from ...dialect.ops.mma_scaled import scaling_of
from ...dialect.types import shape_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.matrix_descriptors import Descriptors
from ...ir.shared_memory import allocation_alignment
from ...ir.subtiles import Subtile, subtile_from
from ...layout import Mismatch, Role, Swizzle
from ...layout.arch import Arch
from ...layout.tcgen05 import BlockScaling, Chunks, scale_blocks
from .operand_attributes import descriptor_attributes, explain, modifiers_of, numbers


def describe_scaled(mma: MmaScaledOp, arch: Arch, descriptors: Descriptors, explains: bool) -> Op:
    """Emit the `smem.mma_desc_scaled` of an `smem.mma_scaled`.

    Raises:
        OpError: if instructions cannot read an operand.
    """
    operands = list(mma.operands)
    tiles = (mma.a, mma.b, *mma.scales)
    scaling = scaling_of(mma.a.type, mma.b.type, mma.a_scales.type)
    subtiles = [subtile_from(tile, mma) for tile in tiles]
    context = mma.operation.context
    attributes = modifiers_of(mma) | {
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
            attributes[f"{role.value}_second_chunks"] = numbers(context, chunks[i].second_steps)
        mma_tiles = chunks[i] if chunks else scaling.mma_tiles(subtiles[i].slice.layout, role, ctas)
        if isinstance(mma_tiles, Mismatch):
            raise OpError(mma, f"cannot read {role.name}: {mma_tiles.reason}")
        attributes |= descriptor_attributes(tiles[i].type, role, mma_tiles)
        factors_name = f"the factors of {role.name}"
        factors = scale_blocks(subtiles[2 + i].slice.layout)
        if isinstance(factors, Mismatch):
            raise OpError(mma, f"cannot read {factors_name}: {factors.reason}")
        attributes[f"{role.value}_scale_steps"] = numbers(context, factors.operand.steps)
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
