"""Races of partitions: reads of tiles that may not be written, and accesses of the same bytes in no
order."""

from __future__ import annotations

from ....bindings.irtypes import Op
from ....dialect.ops import CreatePipelineOp, FenceOp, TmaWaitOp
from ....ir.errors import OpError
from ...order.needs import CLUSTER_BARRIER, Need
from ...order.report import label
from .findings import Findings, MissingSync
from .kernel import Arrival, KernelAnalysis, TileAccess
from .ops import PipelineSide, Side, stages_of
from .state import Reader, TileRectangle


class Races:
    """The accesses of tiles by all partitions of a kernel.

    Args:
        kernel: what was recorded of all partitions.
        findings: receives errors and remarks.
    """

    def __init__(self, kernel: KernelAnalysis, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings

    def check_written(self) -> None:
        """Check that some op writes what is read.

        Raises:
            OpError: if no op of the function does.
        """
        for access in self._kernel.recorded.accesses:
            if not access.writes and access.rectangle.allocation not in self._kernel.written:
                allocation = access.rectangle.allocation
                raise OpError(access.op, f"reads the {label(allocation)}, which nothing writes")

    def check(self) -> None:
        """Check the accesses of all tiles.

        Raises:
            OpError: if some run breaks a rule.
        """
        allocations: dict[Op, list[TileAccess]] = {}
        for access in self._kernel.recorded.accesses:
            allocations.setdefault(access.rectangle.allocation, []).append(access)
            if not access.writes and access.rectangle.pipeline_side is not None:
                self._check_filled(access, *access.rectangle.pipeline_side)
        for allocation, accesses in allocations.items():
            self._check_one_pipeline(allocation, accesses)
            self._check_empty(allocation, accesses)
            for write in (access for access in accesses if access.writes):
                for other in accesses:
                    self._check_ordered(write, other)
        self._check_ends()

    def _check_ends(self) -> None:
        """Check that no bulk store is incomplete when the kernel ends."""
        for partition, states in self._kernel.recorded.ends.items():
            for state in states:
                for read in self._kernel.in_order(state.reads):
                    if read.reader is Reader.BULK and read.age is not None:
                        message = "may still read its tile when the kernel ends"
                        fix = f"put {TmaWaitOp.OPERATION_NAME} with pending = 0 before the end"
                        sync = MissingSync(read.op, tuple(read.missing), partition.op)
                        self._findings.error(read.op, f"{message}; {fix}", state.certain, sync=sync)

    # Stages.

    def _check_filled(self, read: TileAccess, pipeline: CreatePipelineOp, side: Side) -> None:
        """Check that the other side writes and fences what is read before each of its arrivals."""
        allocation = read.rectangle.allocation
        arrivals = [
            a for a in self._kernel.recorded.arrivals if a.pipeline_side == (pipeline, side.other)
        ]
        if not _is_filled(read.rectangle, arrivals):
            other_sides = [
                writing_side
                for writing_side in self._writing_sides(allocation)
                if writing_side.pipeline != pipeline
            ]
            if other_sides and not self._takes(read, other_sides[0].pipeline):
                written = f"which is written in stages of the {label(other_sides[0].pipeline)}"
                message = f"reads the {label(allocation)}, {written}"
                fix = f"put {other_sides[0].side.other.wait_name} of that pipeline before it"
                self._findings.error(read.op, f"{message}; {fix}", read.certain)
            filled = f"each index of the {label(pipeline)} fills the {label(allocation)}"
            reason = f"it is not known whether {filled}"
            self._findings.remark(read.op, reason)
        for arrival in arrivals:
            for written, write in sorted(
                arrival.unfenced, key=lambda x: self._kernel.position(x[1])
            ):
                if written == allocation and read.reader is not Reader.THREADS:
                    message = f"reads the {label(allocation)} before the {label(write)} is over"
                    fix = f"put {FenceOp.OPERATION_NAME} before the {label(arrival.op)}"
                    certain = read.certain and arrival.certain
                    sync = MissingSync(write, (Need(FenceOp),), arrival.op)
                    self._findings.error(read.op, f"{message}; {fix}", certain, sync=sync)

    def _writing_sides(self, allocation: Op) -> list[PipelineSide]:
        written = (
            a.rectangle.pipeline_side
            for a in self._kernel.recorded.accesses
            if a.writes and a.rectangle.allocation == allocation
        )
        return list({side: None for side in written if side is not None})

    def _takes(self, access: TileAccess, pipeline: CreatePipelineOp) -> bool:
        """Whether the partition of an access takes indices of a pipeline."""
        return any(
            partition is access.partition and used == pipeline
            for partition, (used, _) in self._kernel.recorded.most_outstanding
        )

    def _check_one_pipeline(self, allocation: Op, accesses: list[TileAccess]) -> None:
        """Check that all stages of a tile come from one pipeline, or from none."""
        pipelines: dict[CreatePipelineOp | None, TileAccess] = {
            access.rectangle.pipeline_side and access.rectangle.pipeline_side.pipeline: access
            for access in accesses
        }
        if len(pipelines) > 1:
            access = pipelines.get(None) or accesses[-1]
            providing = next(pipeline for pipeline in pipelines if pipeline is not None)
            other_stages = (
                f"some stages of the {label(allocation)} come from the {label(providing)}"
            )
            reason = f"{other_stages}, and this one does not"
            self._findings.remark(access.op, reason)

    def _check_empty(self, allocation: Op, accesses: list[TileAccess]) -> None:
        """Check that a stage is empty when it is committed, if the tile has fewer stages than its
        pipeline.

        The index that is the tile's number of stages earlier used the same stage. It must be released.
        """
        stages = accesses[0].rectangle.slices[0].tile_size
        pipelines = {
            access.rectangle.pipeline_side.pipeline: None
            for access in accesses
            if access.rectangle.pipeline_side
        }
        for pipeline in pipelines:
            for arrival in self._kernel.recorded.arrivals:
                first = arrival.pipeline_index is not None and arrival.pipeline_index < stages
                enough = arrival.lag > stages_of(pipeline) - stages
                if arrival.pipeline_side == (pipeline, Side.PRODUCER) and not (first or enough):
                    reason = (
                        f"the stage of the {label(allocation)} that it commits may still be in use"
                    )
                    self._findings.remark(arrival.op, reason)

    # Partitions.

    def _check_ordered(self, write: TileAccess, other: TileAccess) -> None:
        """Check that a write by one partition and an access by another are in some order."""
        partition, pipeline_side = write.partition, write.rectangle.pipeline_side
        if other.remote:
            self._check_remote(write, other)
            return
        if write.epoch != other.epoch and write.by_threads and other.by_threads:
            return
        if partition is other.partition:
            # `Accesses` compares these, path by path.
            return
        before = partition.whole and partition.symbol is None
        if pipeline_side is None and not before:
            reason = f"nothing orders it and the {label(other.op)} of other threads"
            self._findings.remark(write.op, reason)
        elif pipeline_side is not None and pipeline_side == other.rectangle.pipeline_side:
            reason = f"the {label(other.op)} of other threads may access the same stage"
            self._findings.remark(write.op, reason)

    def _check_remote(self, write: TileAccess, read: TileAccess) -> None:
        """Check that a write of a CTA's tile and a read by another CTA are in some order."""
        if write.epoch == read.epoch:
            fix = f"put {CLUSTER_BARRIER} between them"
            reason = f"the {label(write.op)} of another CTA may not be over; {fix}"
            self._findings.remark(read.op, reason)


def _is_filled(read: TileRectangle, arrivals: list[Arrival]) -> bool:
    """Whether some partition writes all that is read before each of its arrivals."""
    for partition in {arrival.partition: None for arrival in arrivals}:
        written_sets = [arrival.written for arrival in arrivals if arrival.partition is partition]
        if all(read.is_covered(written) for written in written_sets):
            return True
    return False
