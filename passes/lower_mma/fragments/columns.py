"""Columns of a fragment: a subset of its registers."""

from ....bindings.irtypes import Value
from ....dialect.ops import ColumnsOp
from ....dialect.ops.columns import STEP
from ..registers import struct_of
from ..target import MmaTarget
from ..typed import TypedOp
from .lowerings import FRAGMENTS


@FRAGMENTS.of(ColumnsOp)
def lower_columns(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the registers of an `smem.columns`: some of those of its operand."""
    op, result = typed.op, target.registers(typed.result)
    source, first = target.registers(typed.type_of("fragment")), op.first.value
    # The registers of each 8 columns of 64 rows.
    held: dict[tuple[int, int], list[Value]] = {}
    per_step = STEP // 2 // source.accumulator.per_register
    for position, scalars in source.scalars(op.fragment):
        row, column, _ = source.blocks[position]
        for i in range(0, len(scalars), per_step):
            held[row, column + i // per_step * STEP] = scalars[i : i + per_step]
    structs = []
    for position, (row, column, count) in enumerate(result.blocks):
        begin = first + column
        members = [v for at in range(begin, begin + count, STEP) for v in held[row, at]]
        structs.append(struct_of(result.block_type(position), members))
    return result.join(structs)
