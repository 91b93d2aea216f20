"""Checks of `smem.tensor_memory` ops against the accumulators of their functions.

`smem-place-accumulators` inserts these ops, but a module may also have its own.
"""

from collections.abc import Sequence

from ....bindings.diagnostics import format_location
from ....bindings.irtypes import Op
from ....dialect.ops import AnyMma, TensorMemoryOp, WaitOp
from ....dialect.types import FragmentType, is_in_flight
from ....ir.cluster import check_clusters
from ....ir.errors import OpError
from ....ir.kernel import function_of, warpgroups_of
from ....ir.tensor_memory import columns_needed


def check_tensor_memory(lowered: Sequence[Op], memories: Sequence[TensorMemoryOp]) -> None:
    """Check that functions have the tensor memory that their accumulators in flight need.

    Args:
        lowered: the ops on fragments.
        memories: the `smem.tensor_memory` of their functions.

    Raises:
        OpError: for the first op without tensor memory, or with tensor memory that does not fit it.
    """
    memory_of: dict[Op, TensorMemoryOp] = {}
    for op in memories:
        function = function_of(op)
        if function in memory_of:
            where = format_location(memory_of[function].location)
            raise OpError(
                op, f"allocates tensor memory again; the function has allocated it at {where}"
            )
        if op.operation.block != function.regions[0].blocks[0]:
            raise OpError(
                op, "is not at the top of its function, where all threads execute it once"
            )
        memory_of[function] = op
    makers: dict[Op, list[Op]] = {}
    for op in lowered:
        fragments = [value.type for value in (*op.operands, *op.results)]
        if not any(isinstance(t, FragmentType) and is_in_flight(t) for t in fragments):
            continue
        function = function_of(op)
        if function not in memory_of:
            raise OpError(op, "has no tensor memory; run smem-place-accumulators before")
        _check_order(op, memory_of[function], function)
        if not isinstance(op, WaitOp):
            _check_op(op, memory_of[function])
            makers.setdefault(function, []).append(op)
    for function, ops in makers.items():
        _check_columns(memory_of[function], ops)


def _check_order(op: Op, memory: TensorMemoryOp, function: Op) -> None:
    """Check that tensor memory is allocated before an op that needs it."""
    outer = op.operation
    while outer.parent.operation != function:
        outer = outer.parent.operation
    if outer.block == memory.operation.block and outer.is_before_in_block(memory.operation):
        raise OpError(
            memory,
            f"comes after the '{op.operation.name}' at {format_location(op.location)}, which needs it",
        )


def _check_op(op: Op, memory: TensorMemoryOp) -> None:
    """Check that the warpgroups, and the CTA pair, that execute an op are those of its tensor memory."""
    where = f"the smem.tensor_memory at {format_location(memory.location)}"
    if isinstance(op, AnyMma):
        paired = memory.pair
        if (op.ctas > 1) != paired:
            op_pair, memory_pair = ("no pair", "pair") if paired else ("pair", "no pair")
            raise OpError(op, f"has {op_pair}, but {where} has {memory_pair}")
        if paired:
            check_clusters(op)
    (first, end), begin = warpgroups_of(op), memory.first.value
    stop = begin + memory.warpgroups.value
    if first < begin or end > stop:
        raise OpError(
            op,
            f"is executed by warpgroups {first} to {end - 1} of the CTA, but {where} is for {begin} to "
            f"{stop - 1}",
        )


def _check_columns(memory: TensorMemoryOp, makers: list[Op]) -> None:
    """Check that there are columns for all accumulators that ops make."""
    columns, needed = memory.columns.value, columns_needed(makers)
    if columns < needed:
        raise OpError(
            memory,
            f"has {columns} columns for each warpgroup, but its function's accumulators and factors take "
            f"{needed}",
        )
