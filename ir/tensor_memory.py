"""Positions in tensor memory of tcgen05 accumulators, and of A that is not in shared memory.

An instruction of 128 rows writes rows 32w to 32w + 31 to the 32 lanes that warp w can access; one of 64
rows writes its rows 16w to 16w + 15 to the first or the second half of these lanes (PTX ISA 9.7.16.10.5,
layouts D and F; CuTe). A load of half the lanes in the shape 16x256b gives each thread the elements that
it would have in its registers after a `wgmma` of 64 rows. Fragments are therefore the same on both
architectures, except for the rows that a warp holds of 128. A is read from the lanes of its rows; the
shape 16x128b stores to them the registers that `wgmma` would read.
"""

from math import prod

from ..bindings.irtypes import Op, Type
from ..dialect.ops import AnyMma, MmaDescScaledOp, MmaScaledOp
from ..dialect.ops.mma_rules import operand_element
from ..dialect.types import is_a_fragment, is_in_flight, shape_of
from ..layout.tcgen05.scales import BLOCK_COLUMNS

#: Lanes of tensor memory; lanes that a warp can access; lanes of these that an instruction of 64 rows
#: uses.
LANES, WARP_LANES, BLOCK_LANES = 128, 32, 16

#: Bytes of a column in each lane.
COLUMN_BYTES = 4

#: The lowest bit of the lane in an address.
LANE_BIT = 16


def starts_accumulator(op: Op) -> bool:
    """Whether an op whose result is an accumulator in flight starts it, rather than adding to an earlier
    one."""
    if not isinstance(op, AnyMma):
        return True
    return op.accumulator is None or not is_in_flight(op.accumulator.type)


def columns_of(fragment: Type) -> int:
    """Return the columns that an accumulator or an A fragment needs; two blocks of 64 rows share
    columns."""
    m, n = shape_of(fragment)
    if is_a_fragment(fragment):
        n = operand_element(fragment).bytes(n) // COLUMN_BYTES
    return -(-m // LANES) * n


def needed_by(op: Op) -> list[Type]:
    """Return the types of fragments for which an op with an accumulator in flight needs columns.

    These are the accumulator, if the op starts it, and an A from registers.
    """
    needed = [op.results[0].type] if starts_accumulator(op) else []
    if isinstance(op, AnyMma) and is_a_fragment(op.a.type):
        needed.append(op.a.type)
    return needed


def scale_columns(op: Op) -> int:
    """Return the columns of the scale factors of a block-scaled mma (on tiles or descriptors): four for
    4 factors of 128 rows; 0 for other ops."""
    if isinstance(op, MmaDescScaledOp):
        return (len(op.a_scale_steps) + len(op.b_scale_steps)) * BLOCK_COLUMNS
    scales = op.scales if isinstance(op, MmaScaledOp) else ()
    return sum(prod(shape_of(tile.type)) // LANES for tile in scales)


def columns_needed(ops: list[Op]) -> int:
    """Return the columns of a warpgroup that ops with accumulators in flight need.

    All mma share the columns of scale factors: one thread copies the factors and starts the mma that
    reads them, in order.
    """
    accumulators = sum(columns_of(type_) for op in ops for type_ in needed_by(op))
    return accumulators + max(map(scale_columns, ops), default=0)


def address_offset(row: int, column: int, columns: int, rows: int) -> int:
    """Return the address offset of a block of rows and columns in an accumulator or an A.

    Args:
        row: the first row of the block.
        column: its first tensor memory column, relative to the columns of its 128 rows.
        columns: the number of columns of 128 rows.
        rows: rows of an instruction.
    """
    above, within = divmod(row, LANES)
    lane = within if rows == LANES else within // rows * BLOCK_LANES
    return (lane << LANE_BIT) + above * columns + column
