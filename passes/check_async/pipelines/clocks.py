"""Pipelines that connect partitions in circles: a clock by which each wait comes after what it waits for.

The step k of a pipeline, as one side of it waits for it, is given the time k + c with a number c for that
side. What an partition does between two waits has the time of the first. If there are such numbers that

- time goes on in each partition,
- each step is committed at an earlier time than a consumer waits for it, and
- each stage is released at an earlier time than a producer waits for it to be empty,

where the partitions are in some order at equal times, then no partitions wait for each other in a circle: time
would go round. (That is a topological order of the events of all partitions; a schedule of a marked graph
in the sense of Commoner, Holt, Even and Pnueli, 1971.) The numbers are found as a system of difference
constraints, by Bellman and Ford's algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any, NamedTuple

from ..report import at
from .kernel import Event, Kernel, Partition, stages_of
from .spots import Side, Turning

#: Partitions of which all orders are tried.
_MOST = 5

#: A clock's number: of an partition, as it takes a side of a pipeline.
_Number = tuple[Partition, Turning]


class _Bound(NamedTuple):
    """The number `more` is at least `less` + `by`."""

    less: _Number
    more: _Number
    by: int


def find_circle(kernel: Kernel, pipelines: list[Any]) -> str | None:
    """Why pipelines that connect partitions in circles are not known to be free of circular waits; None if they
    are.

    Args:
        kernel: the waits, and what was handed on, of all partitions.
        pipelines: the pipelines.
    """
    events = [e for e in kernel.events if e.turning[0] in pipelines]
    for event in events:
        for pipeline, _ in event.ahead:
            if pipeline in pipelines and event.ahead[pipeline, _] is None:
                return (
                    f"how many steps of the {at(pipeline)} its partition has taken at the {at(event.op)} is not "
                    "the same in each round"
                )
    partitions = list(dict.fromkeys(event.partition for event in events))
    if len(partitions) > _MOST:
        return (
            f"{len(partitions)} partitions take part, and orders of more than {_MOST} are not tried"
        )
    for order in permutations(partitions):
        if _is_feasible(list(_bounds(events, pipelines, order))):
            return None
    return "one of them waits before it has handed on what another needs to go on"


def _bounds(
    events: list[Event], pipelines: list[Any], order: tuple[Partition, ...]
) -> Iterator[_Bound]:
    """The constraints, if partitions come in an order at equal times."""
    takers = {(event.partition, event.turning) for event in events if event.waits}
    for event in events:
        partition, (pipeline, side) = event.partition, event.turning
        # The last wait before the event was for the step `ahead - 1` of each pipeline.
        last = [
            (t, by - 1) for t, by in event.ahead.items() if t[0] in pipelines and by is not None
        ]
        last = [(t, by) for t, by in last if (partition, t) in takers]
        if event.waits:
            for turning, by in last:
                yield _Bound((partition, turning), (partition, event.turning), by)
            continue
        later = stages_of(pipeline) if side is Side.CONSUMER else 0
        for waiter, turning in takers:
            if turning == (pipeline, side.other) and waiter is not partition:
                after = int(order.index(partition) > order.index(waiter))
                for of, by in last:
                    yield _Bound((partition, of), (waiter, turning), by - later + after)


def _is_feasible(bounds: list[_Bound]) -> bool:
    """Whether there are numbers within all bounds: no way round adds up to more than 0."""
    longest = {number: 0 for bound in bounds for number in bound[:2]}
    for _ in range(len(longest) + 1):
        changed = False
        for less, more, by in bounds:
            if longest[less] + by > longest[more]:
                longest[more] = longest[less] + by
                changed = True
        if not changed:
            return True
    return False
