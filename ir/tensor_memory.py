"""Where accumulators of tcgen05, and A that are not in shared memory, are in tensor memory.

An instruction of 128 rows leaves rows 32w to 32w + 31 in the 32 lanes that warp w reaches, one of 64 rows
its rows 16w to 16w + 15 in the first half of them, or in the second (PTX ISA 9.7.16.10.5, layouts D and
F; CuTe). A load of half the lanes in the shape 16x256b gives each thread the elements that `wgmma` would
have left in its registers for 64 rows. So fragments are the same on both architectures, but for which
rows a warp holds of 128. A is read from the lanes of its rows, and the shape 16x128b stores there what
`wgmma` would have read from registers.
"""

from math import prod
from typing import Any

from ..dialect.ops import AnyMma, MmaDescScaledOp, MmaScaledOp
from ..dialect.ops.mma_rules import operand_element
from ..dialect.types import is_a_fragment, is_in_flight, shape_of
from ..layout.tcgen05.scales import BLOCK_COLUMNS

#: Lanes of tensor memory, those that a warp reaches, and those that 64 rows take of these.
LANES, WARP_LANES, BLOCK_LANES = 128, 32, 16

#: Bytes of a column, in each lane.
COLUMN_BYTES = 4

#: The bit of an address at which lanes are counted.
LANE_BIT = 16


def begins(op: Any) -> bool:
    """Whether an op that results in an accumulator in flight begins one, and does not add to another."""
    if not isinstance(op, AnyMma):
        return True
    return op.accumulator is None or not is_in_flight(op.accumulator.type)


def columns_of(fragment: Any) -> int:
    """Columns that an accumulator or an A of that type takes: two blocks of rows share their lanes."""
    m, n = shape_of(fragment)
    if is_a_fragment(fragment):
        n = operand_element(fragment).bytes(n) // COLUMN_BYTES
    return -(-m // LANES) * n


def needed_by(op: Any) -> list[Any]:
    """The types of what an op that results in an accumulator in flight needs columns for: the accumulator
    if it begins there, and an A from registers."""
    needed = [op.results[0].type] if begins(op) else []
    if isinstance(op, AnyMma) and is_a_fragment(op.a.type):
        needed.append(op.a.type)
    return needed


def scale_columns(op: Any) -> int:
    """Columns that the scale factors of an `smem.mma_scaled`, also one of descriptors, take: four for 4
    factors of 128 rows."""
    if isinstance(op, MmaDescScaledOp):
        return (len(op.a_scale_steps) + len(op.b_scale_steps)) * BLOCK_COLUMNS
    scales = op.scales if isinstance(op, MmaScaledOp) else ()
    return sum(prod(shape_of(tile.type)) // LANES for tile in scales)


def columns_needed(making: list[Any]) -> int:
    """Columns of a warpgroup that some ops, which result in accumulators in flight, need. One thread
    copies scale factors and starts what reads them, in its order: all mma share the last columns.
    """
    accumulators = sum(columns_of(type_) for op in making for type_ in needed_by(op))
    return accumulators + max(map(scale_columns, making), default=0)


def place_of(row: int, column: int, columns: int, rows: int) -> int:
    """What is added to the address of an accumulator or an A for a block of it.

    Args:
        row: the block's first row.
        column: its first column of tensor memory among those of its rows.
        columns: how many of them its rows take.
        rows: rows of an instruction.
    """
    above, within = divmod(row, LANES)
    lane = within if rows == LANES else within // rows * BLOCK_LANES
    return (lane << LANE_BIT) + above * columns + column
