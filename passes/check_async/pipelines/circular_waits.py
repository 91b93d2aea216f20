"""Circular waits of partitions: what excludes them without a schedule.

Pipelines that connect partitions as the edges of a tree exclude them, if no producer and consumer
hold all stages between them. Else a logical clock does, in which each wait follows its arrival:

The wait of one side of a pipeline for index k has the time k + c, with a constant c for that side.
What a partition does between two waits has the time of the first. If there are constants such that

- time does not decrease in each partition,
- each index is committed at an earlier time than a consumer waits for it, and
- each stage is released at an earlier time than a producer waits for it to be empty,

where equal times are ordered by some order of the partitions, then no partitions wait for each other
in a circle, because time would have to increase along it. (The clock is a topological order of the
events of all partitions; a schedule of a marked graph in the sense of Commoner, Holt, Even and
Pnueli, 1971.) The constants are found as a system of difference constraints, by the algorithm of
Bellman and Ford.

Warpgroups of a partition that take indices round-robin wait each on its own. The exclusion holds for
them, too, if the steps of all have a common order in which the indices of each pipeline come one
after the other, as one thread of execution would take them: if no circle closes in that order, none
closes without it. The order is that of rounds: the first chunk of the first warpgroup, on all
pipelines, then the first chunk of the next one. An index that every warpgroup takes is a step of them
all: what one of them has outstanding there, all of them have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from typing import NamedTuple

from ....dialect.ops import CreatePipelineOp, OrderWaitOp, PartitionOp
from ....ir.walk import holds
from .instructions import Opcode
from .kernel import KernelAnalysis
from .ops import PipelineSide, Side, stages_of
from .partition import Partition
from .relative_indices import Event

#: The most partitions of which all orders are tried.
_MOST = 5

#: The key of a clock's constant: a partition, and the pipeline side that it takes.
_Constant = tuple[Partition, PipelineSide]


class _Bound(NamedTuple):
    """The constraint later >= earlier + by."""

    earlier: _Constant
    later: _Constant
    by: int


def are_excluded(kernel: KernelAnalysis) -> bool:
    """Whether circular waits of partitions, and of their warpgroups, are excluded.

    Args:
        kernel: the waits and arrivals of all partitions.
    """
    events = kernel.relative_indices.events()
    # Threads at a barrier wait for each other without a pipeline.
    has_barriers = any(
        x.kind is Opcode.BARRIER for program in kernel.use.programs for x in program.instructions
    )
    if events is None or has_barriers:
        return False
    outstanding = kernel.recorded.most_outstanding | _outstanding_together(kernel, events)
    users: dict[CreatePipelineOp, set[Partition]] = {}
    for partition, (pipeline, _) in outstanding:
        users.setdefault(pipeline, set()).add(partition)
    if any(_may_hold_all(pipeline, outstanding) for pipeline in users):
        return False
    if any(
        has_conflicting_rounds(events, partition) for partition in {x.partition for x in events}
    ):
        return False
    pipelines = _pipelines_in_circles(users)
    return not pipelines or _is_clocked(
        [e for e in events if e.pipeline_side.pipeline in pipelines], pipelines
    )


def _may_hold_all(
    pipeline: CreatePipelineOp, outstanding: dict[tuple[Partition, PipelineSide], int]
) -> bool:
    """Whether all stages may be outstanding, for a producer and a consumer that wait for each other."""
    filling, emptying = (
        [
            (p, count)
            for (p, pipeline_side), count in outstanding.items()
            if pipeline_side == (pipeline, side)
        ]
        for side in Side
    )
    return any(
        producer != consumer and filled + emptied >= stages_of(pipeline)
        for (producer, filled), (consumer, emptied) in product(filling, emptying)
    )


def _outstanding_together(
    kernel: KernelAnalysis, events: list[Event]
) -> dict[tuple[Partition, PipelineSide], int]:
    """Return how many indices are outstanding for all warpgroups of a partition, where all of them wait
    for the same index of another pipeline."""
    return {
        (event.partition, side): kernel.recorded.most_outstanding[event.partition, side]
        + ((event.partition.warpgroups or 1) - 1) * turn.chunk
        for event in events
        if event.pipeline_side not in event.round_robins
        for side, turn in event.round_robins.items()
        if turn.outstanding
    }


def _pipelines_in_circles(users: dict[CreatePipelineOp, set[Partition]]) -> list[CreatePipelineOp]:
    """Return the pipelines that connect partitions in circles, or are between such circles.

    Remove pipelines of one partition, and partitions of one pipeline, until none is left.

    Args:
        users: the partitions that use each pipeline.
    """
    remaining = dict(users)
    while True:
        uses = Counter(partition for partitions in remaining.values() for partition in partitions)
        reduced = {r: {a for a in partitions if uses[a] > 1} for r, partitions in remaining.items()}
        reduced = {
            pipeline: partitions for pipeline, partitions in reduced.items() if len(partitions) > 1
        }
        if reduced == remaining:
            return list(remaining)
        remaining = reduced


def _is_clocked(events: list[Event], pipelines: list[CreatePipelineOp]) -> bool:
    """Whether a logical clock orders all events."""
    for event in events:
        for side, ahead in event.ahead.items():
            if side.pipeline in pipelines and ahead is None:
                return False
    partitions = list(dict.fromkeys(event.partition for event in events))
    return len(partitions) <= _MOST and any(
        _is_feasible(list(_bounds(events, pipelines, order))) for order in permutations(partitions)
    )


def _bounds(
    events: list[Event], pipelines: list[CreatePipelineOp], order: tuple[Partition, ...]
) -> Iterator[_Bound]:
    """Yield the constraints, if `order` is that of partitions at equal times."""
    waiting = {(event.partition, event.pipeline_side) for event in events if event.waits}
    for event in events:
        partition, (pipeline, side) = event.partition, event.pipeline_side
        # The last wait before the event was for index `ahead - 1` of each pipeline.
        last = [
            (waited_side, offset - 1)
            for waited_side, offset in event.ahead.items()
            if waited_side.pipeline in pipelines and offset is not None
        ]
        last = [
            (waited_side, offset)
            for waited_side, offset in last
            if (partition, waited_side) in waiting
        ]
        if event.waits:
            for waited_side, offset in last:
                yield _Bound((partition, waited_side), (partition, event.pipeline_side), offset)
            continue
        ahead = stages_of(pipeline) if side is Side.CONSUMER else 0
        for waiter, pipeline_side in waiting:
            if pipeline_side == (pipeline, side.other) and waiter != partition:
                after = int(order.index(partition) > order.index(waiter))
                for waited_side, offset in last:
                    yield _Bound(
                        (partition, waited_side), (waiter, pipeline_side), offset - ahead + after
                    )


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


def has_conflicting_rounds(events: list[Event], partition: Partition) -> bool:
    """Whether no order of rounds may fit all pipelines whose indices warpgroups take round-robin.

    Args:
        events: the waits and arrivals of all partitions.
        partition: the partition.
    """
    takes_order = isinstance(partition.op, PartitionOp) and holds(partition.op, OrderWaitOp)
    for event in events:
        if event.partition != partition:
            continue
        if takes_order and event.round_robins:
            # `smem.order_wait` assumes warpgroups that take the same indices (`check_async.warpgroups`).
            return True
        if event.pipeline_side not in event.round_robins:
            if any(0 < turn.acquired < turn.chunk for turn in event.round_robins.values()):
                return True
        elif event.waits and not all(
            _is_in_same_round(event, other) for other in event.round_robins
        ):
            return True
    return False


def _is_in_same_round(event: Event, other: PipelineSide) -> bool:
    """Whether a wait is in the same round as another pipeline, or in the next round when that is over."""
    turn, other_turn = event.round_robins[event.pipeline_side], event.round_robins[other]
    ahead = event.ahead[other]
    warpgroups = event.partition.warpgroups
    if warpgroups is None or ahead is None or turn.chunk != other_turn.chunk:
        return False
    # The difference of the first indices of both chunks.
    between = ahead - other_turn.acquired + turn.acquired
    is_over = other_turn.acquired == other_turn.chunk and other_turn.outstanding == 0
    return between == 0 or (between == -warpgroups * turn.chunk and is_over)
