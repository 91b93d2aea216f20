"""nvvm: barriers of a block, or of some of its threads, and the fences around them."""

from __future__ import annotations

from typing import Any

from ..errors import Kind, Stop
from ..program import Op
from ..registry import executes
from ..strand import Strand


def _uniform(strand: Strand, value: Any, what: str) -> int:
    numbers = strand.checked(value)
    if (numbers != numbers[0]).any():
        strand.block.report_at(strand, Kind.DIVERGENT, f"has a {what} that threads disagree on")
        raise Stop
    return int(numbers[0])


@executes("nvvm.barrier", "nvvm.barrier0", waits=True)
def _barrier(op: Op) -> Any:
    has_id, has_count = (0, 0)
    if op.has("operandSegmentSizes"):
        has_id, has_count, *others = op.numbers("operandSegmentSizes")
        if any(others):
            raise op.refuse("reduces a predicate, which the emulator does not know")

    def step(strand: Strand, *values: Any) -> None:
        given = list(values)
        number = _uniform(strand, given.pop(0), "barrier number") if has_id else 0
        count = _uniform(strand, given.pop(0), "number of threads") if has_count else None
        strand.block.barriers.arrive(strand, number, count, wait=True)

    return step


@executes("nvvm.barrier.arrive")
def _arrive(op: Op) -> Any:
    has_id = len(op.operand_types) == 2

    def step(strand: Strand, *values: Any) -> None:
        number = _uniform(strand, values[0], "barrier number") if has_id else 0
        count = _uniform(strand, values[-1], "number of threads")
        strand.block.barriers.arrive(strand, number, count, wait=False)

    return step


@executes("nvvm.fence.proxy")
def _proxy_fence(op: Op) -> Any:
    kind, space = op.text("kind"), op.text("space")
    if "async" not in kind or (space and "cluster" in space):
        raise op.refuse(f"is of kind {kind}, which the emulator does not know")
    if "global" in kind:
        return lambda strand: None
    return lambda strand: strand.block.order.fence(strand.lanes.threads)
