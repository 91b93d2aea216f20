"""Columns of a fragment: registers of their own."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops.columns import STEP
from .registers import Registers, struct_of


def lower_columns(op: Any, source: Registers, result: Registers) -> Any:
    """The registers of an `smem.columns`, taken from those of its operand."""
    first = ir.IntegerAttr(op.attributes["first"]).value
    # For each 8 columns of 64 rows, the registers that hold them.
    held: dict[tuple[int, int], list[Any]] = {}
    per_step = STEP // 2 // source.accumulator.per_register
    for position, scalars in source.scalars(op.operands[0]):
        row, column, _ = source.blocks[position]
        for i in range(0, len(scalars), per_step):
            held[row, column + i // per_step * STEP] = scalars[i : i + per_step]
    parts = []
    for position, (row, column, count) in enumerate(result.blocks):
        begin = first + column
        members = [v for at in range(begin, begin + count, STEP) for v in held[row, at]]
        parts.append(struct_of(result.block_type(position), members))
    return result.join(parts)
