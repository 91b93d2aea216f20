"""Whether the tensor memory of functions is what their accumulators need, whoever has placed it."""

from collections.abc import Sequence
from typing import Any

from ....dialect.diagnostics import format_location
from ....dialect.ops import AnyMma, WaitOp
from ....dialect.types import FragmentType, is_in_flight
from ....ir.cluster import check_clusters
from ....ir.errors import OpError
from ....ir.kernel import function_of, warpgroups_of
from ....ir.tensor_memory import columns_needed


def check_memories(lowered: Sequence[Any], memories: Sequence[Any]) -> None:
    """Checks that accumulators in flight have tensor memory where they need it, and only there.

    Args:
        lowered: the ops on fragments.
        memories: the `smem.tensor_memory` of their functions.

    Raises:
        OpError: for the first that has not, or has other than it needs.
    """
    prepared: dict[Any, Any] = {}
    for op in memories:
        function = function_of(op)
        if function in prepared:
            where = format_location(prepared[function].location)
            raise OpError(op, f"allocates once more in a function that has done so at {where}")
        if op.operation.block != function.regions[0].blocks[0]:
            raise OpError(op, "is not at the top of its function, where all threads come by once")
        prepared[function] = op
    making: dict[Any, list[Any]] = {}
    for op in lowered:
        fragments = [value.type for value in (*op.operands, *op.results)]
        if not any(isinstance(t, FragmentType) and is_in_flight(t) for t in fragments):
            continue
        function = function_of(op)
        if function not in prepared:
            raise OpError(op, "has no tensor memory; run smem-place-accumulators before")
        _check_order(op, prepared[function], function)
        if not isinstance(op, WaitOp):
            _check_op(op, prepared[function])
            making.setdefault(function, []).append(op)
    for function, ops in making.items():
        _check_columns(prepared[function], ops)


def _check_order(op: Any, memory: Any, function: Any) -> None:
    """Checks that tensor memory is allocated before an op that is executed after it."""
    outer = op.operation
    while outer.parent.operation != function:
        outer = outer.parent.operation
    if outer.block == memory.operation.block and outer.is_before_in_block(memory.operation):
        raise OpError(
            memory,
            f"comes after the '{op.operation.name}' at {format_location(op.location)}, which needs it",
        )


def _check_op(op: Any, memory: Any) -> None:
    """Checks that the warpgroups, and blocks, that execute an op are those of its tensor memory."""
    where = f"the smem.tensor_memory at {format_location(memory.location)}"
    if isinstance(op, AnyMma):
        paired = memory.pair
        if (op.ctas > 1) != paired:
            has, other = ("no pair", "has") if paired else ("pair", "has not")
            raise OpError(op, f"has {has}, but {where} {other}")
        if paired:
            check_clusters(op)
    (first, end), begin = warpgroups_of(op), memory.first.value
    behind = begin + memory.warpgroups.value
    if first < begin or end > behind:
        raise OpError(
            op,
            f"is executed by warpgroups {first} to {end - 1} of the block, but {where} is of {begin} to "
            f"{behind - 1}",
        )


def _check_columns(memory: Any, making: list[Any]) -> None:
    """Checks that there are columns for all that some ops begin."""
    columns, needed = memory.columns.value, columns_needed(making)
    if columns < needed:
        raise OpError(
            memory,
            f"has {columns} columns for each warpgroup, but its function's accumulators and factors take "
            f"{needed}",
        )
