"""What all partitions together must do: as many steps, with as many arrivals, as all of them wait for."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

from ..polynomials import Polynomial, number
from ..report import at
from .clocks import find_circle
from .findings import Findings
from .kernel import Kernel, Partition, stages_of
from .spots import Side, Turning
from .state import Turn


class Totals:
    """What the partitions of a kernel have done to its pipelines, taken together.

    Args:
        kernel: what was noted of all partitions.
        findings: takes what is wrong, or not known.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings

    def check(self) -> None:
        """Checks the pipelines.

        Raises:
            OpError: if a rule is broken in some run.
        """
        for pipeline in self._kernel.pipelines():
            partitions = {side: self._partitions_of((pipeline, side)) for side in Side}
            if not any(partitions.values()):
                continue
            self._check_count((pipeline, Side.PRODUCER), "producers", "thread")
            if not partitions[Side.CONSUMER]:
                self._findings.unknown(pipeline, "nothing waits for its stages")
                continue
            self._check_count((pipeline, Side.CONSUMER), "consumers", "warpgroup")
            self._check_steps(pipeline, partitions)
            self._check_held(pipeline, partitions)
        self._check_circles()

    def _partitions_of(self, turning: Turning) -> list[Partition]:
        """The partitions that take a side of a pipeline."""
        return [partition for partition, taken in self._kernel.held if taken == turning]

    def _check_count(self, turning: Turning, name: str, who: str) -> None:
        """Checks that as many arrive for a step as the mbarriers count."""
        pipeline, side = turning
        each: dict[Partition, set[int | None]] = {}
        certain = True
        for handover in self._kernel.handovers:
            if handover.turning == turning:
                each.setdefault(handover.partition, set()).add(handover.arrivals)
                certain &= handover.certain
        if not each:
            if side is Side.PRODUCER:
                message = f"has steps that are waited for and never {side.ended}; put {side.ends}"
                self._findings.wrong(pipeline, message, certain)
            return
        if any(len(counts) > 1 or None in counts for counts in each.values()):
            reason = f"it is not known how many {who}s have {side.ended} a step"
            self._findings.unknown(pipeline, reason)
            return
        total = sum(count for counts in each.values() for count in counts if count is not None)
        counted = getattr(pipeline, name).value
        if total != counted:
            self._findings.wrong(
                pipeline,
                f"has {name} = {counted}, but each step is {side.ended} by {total} "
                f"{who}{'' if total == 1 else 's'}; set {name} = {total}",
                certain,
            )

    def _check_steps(self, pipeline: Any, partitions: dict[Side, list[Partition]]) -> None:
        """Checks that all steps that are waited for are handed on, and that nothing is left loading."""
        loads = self._kernel.loads(pipeline)
        for producer, filled, certain in self._ends(pipeline, partitions, Side.PRODUCER):
            if loads and filled.held:
                message = "has a step that is loaded and never committed"
                put = f"put {Side.PRODUCER.ends}"
                self._findings.wrong(pipeline, f"{message}; {put}", certain)
            for consumer, emptied, known in self._ends(pipeline, partitions, Side.CONSUMER):
                waited = _total(consumer, emptied)
                if waited is None:
                    where = f"the warpgroups of the {at(consumer.op)}"
                    self._findings.unknown(pipeline, f"which steps {where} take is not known")
                    continue
                both = certain and known
                committed = filled.next - number(filled.held)
                self._at_most(pipeline, waited, committed, ("waited for", "committed"), both)
                released = waited - number(emptied.held - stages_of(pipeline))
                what = ("acquired", "released, or empty at first,")
                self._at_most(pipeline, filled.next, released, what, both)
                if loads and (waited - committed).constant != 0:
                    more = "may load more steps of it than are waited for"
                    self._findings.unknown(pipeline, f"the {at(producer.op)} {more}")

    def _ends(
        self, pipeline: Any, partitions: dict[Side, list[Partition]], side: Side
    ) -> list[tuple[Partition, Turn, bool]]:
        return [
            (partition, state.turn((pipeline, side)), state.certain)
            for partition in partitions[side]
            for state in self._kernel.ends[partition]
        ]

    def _at_most(
        self,
        pipeline: Any,
        fewer: Polynomial,
        more: Polynomial,
        what: tuple[str, str],
        certain: bool,
    ) -> None:
        """Checks that no more steps are done by one side than by the other."""
        over = (fewer - more).constant
        if over is None:
            reason = f"as many of its steps may not be {what[1]} as are {what[0]}"
            self._findings.unknown(pipeline, reason)
        elif over > 0:
            message = f"has {over} step{'s' if over > 1 else ''} {what[0]} more than {what[1]}"
            self._findings.wrong(pipeline, f"{message}; let both be as many", certain)

    def _check_held(self, pipeline: Any, partitions: dict[Side, list[Partition]]) -> None:
        """Checks that a producer and a consumer do not wait for each other with all stages in their
        hands."""
        for producer, consumer in product(partitions[Side.PRODUCER], partitions[Side.CONSUMER]):
            ahead = self._kernel.held[producer, (pipeline, Side.PRODUCER)]
            behind = self._kernel.held[consumer, (pipeline, Side.CONSUMER)]
            if producer is not consumer and ahead + behind >= stages_of(pipeline):
                reason = (
                    f"of its {stages_of(pipeline)} stages a producer may hold {ahead} and a consumer "
                    f"{behind} while they wait for each other"
                )
                self._findings.unknown(pipeline, reason)

    def _check_circles(self) -> None:
        """Checks that partitions do not wait in a circle: pipelines that connect them as the edges of a tree do
        cannot let them; for others there must be a clock."""
        taken: dict[Any, set[Partition]] = {
            pipeline: set() for pipeline in self._kernel.pipelines()
        }
        for partition, (pipeline, _) in self._kernel.held:
            taken[pipeline].add(partition)
        if pipelines := _in_circles(taken):
            reason = find_circle(self._kernel, pipelines)
            if reason is not None:
                others = f"the {at(next(iter(taken[pipelines[-1]])).op)} and others"
                message = f"{others} may wait for each other by several pipelines: {reason}"
                self._findings.unknown(pipelines[-1], message)


def _in_circles(taken: dict[Any, set[Partition]]) -> list[Any]:
    """The pipelines that connect partitions in circles, or lie between such: what is left when pipelines of one
    partition, and partitions of one pipeline, are taken away again and again."""
    left = dict(taken)
    while True:
        several = Counter(partition for partitions in left.values() for partition in partitions)
        kept = {r: {a for a in partitions if several[a] > 1} for r, partitions in left.items()}
        kept = {
            pipeline: partitions for pipeline, partitions in kept.items() if len(partitions) > 1
        }
        if kept == left:
            return list(left)
        left = kept


def _total(partition: Partition, turn: Turn) -> Polynomial | None:
    """The steps that the warpgroups of an partition have taken in all; None if not known."""
    if turn.share is None:
        return turn.next
    if partition.symbol is None or turn.taken not in (0, turn.share):
        return None
    split = (turn.next - number(turn.taken)).split(partition.symbol)
    if split is None or split[0] != turn.share:
        return None
    return split[1] + number((partition.warpgroups or 1) * turn.taken)
