"""What partitions must do equally often: waits and arrivals on pipelines, and barriers of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import NamedTuple

from ....dialect.ops import CreatePipelineOp
from ...order.report import label
from ..describe import PolynomialPrinter
from ..polynomials import Polynomial, number
from .circular_waits import are_excluded
from .findings import Findings
from .kernel import KernelAnalysis
from .ops import PipelineSide, Side, stages_of
from .partition import Partition
from .relative_indices import FinalIndices, RunEnd
from .state import PartitionState


class _Excess(NamedTuple):
    """The difference of two numbers of indices.

    Attributes:
        by: an upper bound of `numbers[0] - numbers[1]`; None if not known.
        certain: whether some run is known to have these numbers.
    """

    by: int | None
    certain: bool
    numbers: tuple[Polynomial, Polynomial]


class PipelineCounts:
    """The waits and arrivals of all partitions on the pipelines of a kernel.

    Args:
        kernel: what was recorded of all partitions.
        findings: receives errors and remarks.
    """

    def __init__(self, kernel: KernelAnalysis, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings
        self._description = PolynomialPrinter(
            kernel.function, kernel.relative_indices.values.symbols
        )

    def check(self) -> None:
        """Check the pipelines.

        Raises:
            OpError: if some run breaks a rule.
        """
        if self._kernel.relative_indices.failure:
            self._findings.remark(self._kernel.function, self._kernel.relative_indices.failure)
        for pipeline in self._kernel.pipelines():
            partitions = {side: self._partitions_of(PipelineSide(pipeline, side)) for side in Side}
            if not any(partitions.values()):
                continue
            self._check_arrivals(PipelineSide(pipeline, Side.PRODUCER), "producers", "thread")
            if not partitions[Side.CONSUMER]:
                self._findings.remark(pipeline, "no op waits for its stages")
                continue
            self._check_arrivals(PipelineSide(pipeline, Side.CONSUMER), "consumers", "warpgroup")
            self._check_totals(pipeline)
        if not self._findings.remarks:
            self._check_deadlocks()

    def _partitions_of(self, pipeline_side: PipelineSide) -> list[Partition]:
        """Return the partitions that take a side of a pipeline."""
        return [
            partition
            for partition, side in self._kernel.recorded.most_outstanding
            if side == pipeline_side
        ]

    def _check_arrivals(self, pipeline_side: PipelineSide, name: str, unit: str) -> None:
        """Check that the number of arrivals on a stage is the count of its mbarriers.

        Args:
            pipeline_side: the pipeline, and the side that arrives.
            name: the attribute with the count.
            unit: what arrives, for messages.
        """
        pipeline, side = pipeline_side
        counts: dict[Partition, set[int | None]] = {}
        certain = True
        for arrival in self._kernel.recorded.arrivals:
            if arrival.pipeline_side == pipeline_side:
                counts.setdefault(arrival.partition, set()).add(arrival.participants)
                certain &= arrival.certain
        if not counts:
            if side is Side.PRODUCER:
                message = f"has stages that are waited for and never {side.arrived}"
                fix = f"put {side.arrive_name}"
                self._findings.error(pipeline, f"{message}; {fix}", certain)
            return
        if any(len(participants) > 1 or None in participants for participants in counts.values()):
            reason = f"it is not known by how many {unit}s a stage is {side.arrived}"
            self._findings.remark(pipeline, reason)
            return
        total = sum(
            count for participants in counts.values() for count in participants if count is not None
        )
        declared = getattr(pipeline, name).value
        if total != declared:
            self._findings.error(
                pipeline,
                f"has {name} = {declared}, but each stage is {side.arrived} by {total} "
                f"{unit}{'' if total == 1 else 's'}; set {name} = {total}",
                certain,
            )

    def _check_totals(self, pipeline: CreatePipelineOp) -> None:
        """Check that all indices that are waited for are committed or released, and all loads waited
        for."""
        loads, stages = self._kernel.loads(pipeline), stages_of(pipeline)
        waited: list[_Excess] = []
        acquired: list[_Excess] = []
        for end, (producer, filled), (consumer, emptied) in self._both_sides(pipeline):
            if filled is None or emptied is None:
                reason = (
                    f"which indices the warpgroups of the {label(consumer.op)} take is not known"
                )
                self._findings.remark(pipeline, reason)
                continue
            if loads and filled.outstanding:
                message = "has a stage that is loaded and never committed"
                fix = f"put {Side.PRODUCER.arrive_name}"
                self._findings.error(pipeline, f"{message}; {fix}", end.certain)
            room = emptied.following - number(emptied.outstanding - stages)
            committed = filled.following - number(filled.outstanding)
            waited.append(self._excess(emptied.following, committed, end))
            acquired.append(self._excess(filled.following, room, end))
            if loads and end.known.bounds(emptied.following - committed).exact != 0:
                excess_loads = "may load more stages of it than are waited for"
                self._findings.remark(pipeline, f"the {label(producer.op)} {excess_loads}")
        self._check_at_most(pipeline, waited, ("waited for", "committed"))
        self._check_at_most(pipeline, acquired, ("acquired", "released or initially empty"))

    def _excess(self, x: Polynomial, y: Polynomial, end: RunEnd) -> _Excess:
        """Return by how much a number exceeds another at the end of some runs."""
        return _Excess(end.known.bounds(x - y).high, end.certain, (x, y))

    def _in_words(self, numbers: tuple[Polynomial, Polynomial]) -> str:
        """Return two numbers as the end of a clause; empty if there are no words for them."""
        words = [self._description.text(polynomial) for polynomial in numbers]
        return "" if None in words else f": {words[0]} and {words[1]}"

    def _both_sides(
        self, pipeline: CreatePipelineOp
    ) -> Iterator[
        tuple[RunEnd, tuple[Partition, FinalIndices | None], tuple[Partition, FinalIndices | None]]
    ]:
        """Yield the final indices of each producer and consumer partition of a pipeline, for some
        runs."""
        sides = [PipelineSide(pipeline, side) for side in Side]
        for partition_pair in product(*map(self._partitions_of, sides)):
            threads = [
                x
                for x, program in enumerate(self._kernel.use.programs)
                if program.partition in partition_pair
            ]
            for end in self._kernel.relative_indices.ends(threads):
                filled, emptied = (
                    (partition, self._final_indices(end, partition, side))
                    for partition, side in zip(partition_pair, sides, strict=True)
                )
                yield end, filled, emptied

    def _final_indices(
        self, end: RunEnd, partition: Partition, side: PipelineSide
    ) -> FinalIndices | None:
        """Return the final indices of all warpgroups of a partition together; None if not known."""
        programs = self._kernel.use.programs
        round_robin = self._kernel.use.round_robins.get((partition, side))
        ends = [
            final
            for (thread, pipeline_side), final in end.final_indices.items()
            if pipeline_side == side and programs[thread].partition == partition
        ]
        if round_robin is not None:
            for current, following in pairwise(ends):
                between = end.known.bounds(following.following - current.following).exact
                if between != round_robin.chunk or current.outstanding != following.outstanding:
                    return None
        return ends[-1] if ends else None

    def _check_at_most(
        self, pipeline: CreatePipelineOp, excesses: list[_Excess], names: tuple[str, str]
    ) -> None:
        """Check that no number of indices exceeds the other one; `names` name both in messages."""
        # The last one covers runs of any number of iterations.
        unknown = next((excess for excess in reversed(excesses) if excess.by is None), None)
        if unknown is not None:
            numbers = self._in_words(unknown.numbers)
            reason = f"more of its indices may be {names[0]} than {names[1]}{numbers}"
            fix = "give both sides the same number, computed alike, or assume what holds of them"
            self._findings.remark(pipeline, f"{reason}; {fix}")
            return
        over = [excess for excess in excesses if excess.by is not None and excess.by > 0]
        for excess in sorted(over, key=lambda x: not x.certain)[:1]:
            indices = "indices" if excess.by != 1 else "index"
            message = f"has {excess.by} more pipeline {indices} {names[0]} than {names[1]}"
            self._findings.error(pipeline, f"{message}; make both numbers equal", excess.certain)

    def _check_deadlocks(self) -> None:
        """Check that no threads wait for each other."""
        pipelines = [
            p
            for p in self._kernel.pipelines()
            if p in {used for _, (used, _) in self._kernel.recorded.most_outstanding}
        ]
        if pipelines and not are_excluded(self._kernel) and (reason := self._kernel.deadlock):
            self._findings.remark(pipelines[-1], f"partitions may deadlock: {reason}")


class ClusterBarriers:
    """The barriers of the cluster that the partitions of a kernel reach.

    Args:
        kernel: what was recorded of all partitions.
        findings: receives errors and remarks.
    """

    def __init__(self, kernel: KernelAnalysis, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings

    def check(self) -> None:
        """Check the barriers.

        Raises:
            OpError: if one partition reaches more of them than another.
        """
        self._check_number()
        for pipeline in self._kernel.pipelines():
            for filling, emptying in product(*(self._states(pipeline, side) for side in Side)):
                if filling[0] is not emptying[0] and filling[1].epoch == emptying[1].epoch:
                    self._check_drained(pipeline, filling, emptying)

    def _check_number(self) -> None:
        """Check that all partitions reach the same number."""
        numbers = [
            (partition, state.epoch, state.certain)
            for partition, states in self._kernel.recorded.ends.items()
            for state in states
        ]
        if not numbers:
            return
        first, count, certain = numbers[0]
        for partition, other_count, also_certain in numbers:
            if other_count != count:
                message = (
                    f"reaches {other_count} of the cluster's barriers, and the {label(first.op)} reaches "
                    f"{count}; put the same number in both"
                )
                self._findings.error(partition.op, message, certain and also_certain)

    def _states(
        self, pipeline: CreatePipelineOp, side: Side
    ) -> list[tuple[Partition, PartitionState]]:
        """Return the states at cluster barriers of the partitions that take a side of a pipeline."""
        pipeline_side = PipelineSide(pipeline, side)
        return [
            (partition, state)
            for partition, states in self._kernel.recorded.cluster_barriers.items()
            if (partition, pipeline_side) in self._kernel.recorded.most_outstanding
            for state in states
        ]

    def _check_drained(
        self,
        pipeline: CreatePipelineOp,
        filling: tuple[Partition, PartitionState],
        emptying: tuple[Partition, PartitionState],
    ) -> None:
        """Check that stages that are committed before a cluster barrier are released before it.

        A partition at the barrier commits and releases no stage that another one waits for.
        """
        (_, filled), (consumer, emptied) = filling, emptying
        outstanding = filled.outstanding(PipelineSide(pipeline, Side.PRODUCER))
        outstanding += emptied.outstanding(PipelineSide(pipeline, Side.CONSUMER))
        if outstanding or not self._kernel.relative_indices.are_balanced(pipeline, filled.epoch):
            reason = (
                f"it is not known whether the {label(consumer.op)} has released all stages that are "
                "committed before a barrier of the cluster"
            )
            self._findings.remark(pipeline, reason)
