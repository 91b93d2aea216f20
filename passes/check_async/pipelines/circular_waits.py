"""Circular waits of partitions: excluded by a logical clock in which each wait follows its arrival.

The wait of one side of a pipeline for index k has the time k + c, with a constant c for that side. What a
partition does between two waits has the time of the first. If there are constants such that

- time does not decrease in each partition,
- each index is committed at an earlier time than a consumer waits for it, and
- each stage is released at an earlier time than a producer waits for it to be empty,

where equal times are ordered by some order of the partitions, then no partitions wait for each other in
a circle, because time would have to increase along it. (The clock is a topological order of the events
of all partitions; a schedule of a marked graph in the sense of Commoner, Holt, Even and Pnueli, 1971.)
The constants are found as a system of difference constraints, by the algorithm of Bellman and Ford.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from ....dialect.ops import CreatePipelineOp
from ...order.report import at
from .kernel import Event, Kernel, Partition, stages_of
from .pipeline_sides import PipelineSide, Side

#: The most partitions of which all orders are tried.
_MOST = 5

#: The key of a clock's constant: a partition, and the pipeline side that it takes.
_Constant = tuple[Partition, PipelineSide]


class _Bound(NamedTuple):
    """The constraint later >= earlier + by."""

    earlier: _Constant
    later: _Constant
    by: int


def find_circular_wait(kernel: Kernel, pipelines: list[CreatePipelineOp]) -> str | None:
    """Return why a circular wait of partitions is not excluded; None if it is.

    Args:
        kernel: the waits and arrivals of all partitions.
        pipelines: those that connect partitions in circles.
    """
    events = [e for e in kernel.events if e.pipeline_side.pipeline in pipelines]
    for event in events:
        for pipeline_side, ahead in event.ahead.items():
            if pipeline_side.pipeline in pipelines and ahead is None:
                taken = f"how many indices of the {at(pipeline_side.pipeline)}"
                where = f"its partition has taken at the {at(event.op)}"
                return f"{taken} {where} is not the same in each iteration"
    partitions = list(dict.fromkeys(event.partition for event in events))
    if len(partitions) > _MOST:
        return (
            f"{len(partitions)} partitions take part, and orders of more than {_MOST} are not tried"
        )
    for order in permutations(partitions):
        if _is_feasible(list(_bounds(events, pipelines, order))):
            return None
    return "one of them waits before it has committed or released what another waits for"


def _bounds(
    events: list[Event], pipelines: list[CreatePipelineOp], order: tuple[Partition, ...]
) -> Iterator[_Bound]:
    """Yield the constraints, if `order` is that of partitions at equal times."""
    waiting = {(event.partition, event.pipeline_side) for event in events if event.waits}
    for event in events:
        partition, (pipeline, side) = event.partition, event.pipeline_side
        # The last wait before the event was for index `ahead - 1` of each pipeline.
        last = [
            (of, by - 1)
            for of, by in event.ahead.items()
            if of.pipeline in pipelines and by is not None
        ]
        last = [(of, by) for of, by in last if (partition, of) in waiting]
        if event.waits:
            for of, by in last:
                yield _Bound((partition, of), (partition, event.pipeline_side), by)
            continue
        ahead = stages_of(pipeline) if side is Side.CONSUMER else 0
        for waiter, pipeline_side in waiting:
            if pipeline_side == (pipeline, side.other) and waiter is not partition:
                after = int(order.index(partition) > order.index(waiter))
                for of, by in last:
                    yield _Bound((partition, of), (waiter, pipeline_side), by - ahead + after)


def _is_feasible(bounds: list[_Bound]) -> bool:
    """Whether some constants satisfy all constraints: no cycle of them has a sum over 0."""
    longest = {constant: 0 for bound in bounds for constant in bound[:2]}
    for _ in range(len(longest) + 1):
        changed = False
        for earlier, later, by in bounds:
            if longest[earlier] + by > longest[later]:
                longest[later] = longest[earlier] + by
                changed = True
        if not changed:
            return True
    return False
