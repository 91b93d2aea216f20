"""What all partitions together must do: equal numbers of waits and arrivals, and no circular wait."""

from __future__ import annotations

from collections import Counter
from itertools import product

from ....dialect.ops import CreatePipelineOp
from ...order.report import at
from ..polynomials import Polynomial, number
from .circular_waits import find_circular_wait
from .findings import Findings
from .kernel import Kernel, Partition, stages_of
from .pipeline_sides import PipelineSide, Side
from .state import PipelineState
from .turns import find_conflicting_turns, hold_together


class PipelineCounts:
    """The waits and arrivals of all partitions on the pipelines of a kernel.

    Args:
        kernel: what was recorded of all partitions.
        findings: receives errors and remarks.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings

    def check(self) -> None:
        """Check the pipelines.

        Raises:
            OpError: if some run breaks a rule.
        """
        hold_together(self._kernel)
        for pipeline in self._kernel.pipelines():
            partitions = {side: self._partitions_of(PipelineSide(pipeline, side)) for side in Side}
            if not any(partitions.values()):
                continue
            self._check_arrivals(PipelineSide(pipeline, Side.PRODUCER), "producers", "thread")
            if not partitions[Side.CONSUMER]:
                self._findings.remark(pipeline, "no op waits for its stages")
                continue
            self._check_arrivals(PipelineSide(pipeline, Side.CONSUMER), "consumers", "warpgroup")
            self._check_totals(pipeline, partitions)
            self._check_held(pipeline, partitions)
        self._check_circular_waits()
        self._check_turns()

    def _partitions_of(self, pipeline_side: PipelineSide) -> list[Partition]:
        """Return the partitions that take a side of a pipeline."""
        return [partition for partition, taken in self._kernel.held if taken == pipeline_side]

    def _check_arrivals(self, pipeline_side: PipelineSide, name: str, unit: str) -> None:
        """Check that the arrivals on a stage are as many as its mbarriers count.

        Args:
            pipeline_side: the pipeline, and the side that arrives.
            name: the attribute with the count.
            unit: what arrives, for messages.
        """
        pipeline, side = pipeline_side
        counts: dict[Partition, set[int | None]] = {}
        certain = True
        for arrival in self._kernel.arrivals:
            if arrival.pipeline_side == pipeline_side:
                counts.setdefault(arrival.partition, set()).add(arrival.participants)
                certain &= arrival.certain
        if not counts:
            if side is Side.PRODUCER:
                message = f"has stages that are waited for and never {side.arrived}"
                fix = f"put {side.arrive_name}"
                self._findings.error(pipeline, f"{message}; {fix}", certain)
            return
        if any(len(each) > 1 or None in each for each in counts.values()):
            reason = f"it is not known by how many {unit}s a stage is {side.arrived}"
            self._findings.remark(pipeline, reason)
            return
        total = sum(count for each in counts.values() for count in each if count is not None)
        declared = getattr(pipeline, name).value
        if total != declared:
            self._findings.error(
                pipeline,
                f"has {name} = {declared}, but each stage is {side.arrived} by {total} "
                f"{unit}{'' if total == 1 else 's'}; set {name} = {total}",
                certain,
            )

    def _check_totals(
        self, pipeline: CreatePipelineOp, partitions: dict[Side, list[Partition]]
    ) -> None:
        """Check that all indices that are waited for are passed on, and that no load is left over."""
        loads = self._kernel.loads(pipeline)
        for producer, filled, certain in self._ends(pipeline, partitions, Side.PRODUCER):
            if loads and filled.held:
                message = "has a stage that is loaded and never committed"
                fix = f"put {Side.PRODUCER.arrive_name}"
                self._findings.error(pipeline, f"{message}; {fix}", certain)
            for consumer, emptied, known in self._ends(pipeline, partitions, Side.CONSUMER):
                waited = _total(consumer, emptied)
                if waited is None:
                    warpgroups = f"the warpgroups of the {at(consumer.op)}"
                    reason = f"which indices {warpgroups} take is not known"
                    self._findings.remark(pipeline, reason)
                    continue
                both = certain and known
                committed = filled.next_index - number(filled.held)
                self._at_most(pipeline, waited, committed, ("waited for", "committed"), both)
                released = waited - number(emptied.held - stages_of(pipeline))
                names = ("acquired", "released or initially empty")
                self._at_most(pipeline, filled.next_index, released, names, both)
                if loads and (waited - committed).constant != 0:
                    more = "may load more stages of it than are waited for"
                    self._findings.remark(pipeline, f"the {at(producer.op)} {more}")

    def _ends(
        self, pipeline: CreatePipelineOp, partitions: dict[Side, list[Partition]], side: Side
    ) -> list[tuple[Partition, PipelineState, bool]]:
        return [
            (partition, state.pipeline_state(PipelineSide(pipeline, side)), state.certain)
            for partition in partitions[side]
            for state in self._kernel.ends[partition]
        ]

    def _at_most(
        self,
        pipeline: CreatePipelineOp,
        fewer: Polynomial,
        more: Polynomial,
        names: tuple[str, str],
        certain: bool,
    ) -> None:
        """Check that `fewer` is not larger than `more`; `names` describe the indices of each."""
        excess = (fewer - more).constant
        if excess is None:
            reason = f"more of its indices may be {names[0]} than {names[1]}"
            self._findings.remark(pipeline, reason)
        elif excess > 0:
            indices = "indices" if excess > 1 else "index"
            message = f"has {excess} more pipeline {indices} {names[0]} than {names[1]}"
            self._findings.error(pipeline, f"{message}; make both numbers equal", certain)

    def _check_held(
        self, pipeline: CreatePipelineOp, partitions: dict[Side, list[Partition]]
    ) -> None:
        """Check that a producer and a consumer do not hold all stages while they wait for each other."""
        for producer, consumer in product(partitions[Side.PRODUCER], partitions[Side.CONSUMER]):
            filling = self._kernel.held[producer, PipelineSide(pipeline, Side.PRODUCER)]
            emptying = self._kernel.held[consumer, PipelineSide(pipeline, Side.CONSUMER)]
            if producer is not consumer and filling + emptying >= stages_of(pipeline):
                reason = (
                    f"of its {stages_of(pipeline)} stages a producer may hold {filling} and a consumer "
                    f"{emptying} while they wait for each other"
                )
                self._findings.remark(pipeline, reason)

    def _check_circular_waits(self) -> None:
        """Check that partitions do not wait for each other in a circle.

        Pipelines that connect partitions as the edges of a tree exclude it; others need a logical clock.
        """
        taken: dict[CreatePipelineOp, set[Partition]] = {
            pipeline: set() for pipeline in self._kernel.pipelines()
        }
        for partition, (pipeline, _) in self._kernel.held:
            taken[pipeline].add(partition)
        if pipelines := _in_circles(taken):
            reason = find_circular_wait(self._kernel, pipelines)
            if reason is not None:
                # The first one: sets have another order in each process.
                first = next(p for p, (of, _) in self._kernel.held if of == pipelines[-1])
                message = (
                    f"the {at(first.op)} and others may deadlock on several pipelines: {reason}"
                )
                self._findings.remark(pipelines[-1], message)

    def _check_turns(self) -> None:
        """Check that warpgroups of a partition that take indices in turn do not wait for each other."""
        for partition in dict.fromkeys(event.partition for event in self._kernel.events):
            if found := find_conflicting_turns(self._kernel, partition):
                pipeline, reason = found
                message = f"the warpgroups of the {at(partition.op)} may deadlock: {reason}"
                self._findings.remark(pipeline, message)


def _in_circles(taken: dict[CreatePipelineOp, set[Partition]]) -> list[CreatePipelineOp]:
    """Return the pipelines that connect partitions in circles, or are between such circles.

    Pipelines of one partition, and partitions of one pipeline, are removed until none is left.
    """
    left = dict(taken)
    while True:
        uses = Counter(partition for partitions in left.values() for partition in partitions)
        kept = {r: {a for a in partitions if uses[a] > 1} for r, partitions in left.items()}
        kept = {
            pipeline: partitions for pipeline, partitions in kept.items() if len(partitions) > 1
        }
        if kept == left:
            return list(left)
        left = kept


def _total(partition: Partition, taken: PipelineState) -> Polynomial | None:
    """Return how many indices the warpgroups of a partition have taken together; None if not known."""
    if taken.chunk is None:
        return taken.next_index
    if partition.symbol is None or taken.in_chunk not in (0, taken.chunk):
        return None
    split = (taken.next_index - number(taken.in_chunk)).split(partition.symbol)
    if split is None or split[0] != taken.chunk:
        return None
    return split[1] + number((partition.warpgroups or 1) * taken.in_chunk)
