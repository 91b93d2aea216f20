"""What all partitions together must do: write what is read, and nothing that others access at that time."""

from __future__ import annotations

from typing import Any

from ....dialect.ops import FenceOp, TmaWaitOp
from ....ir.errors import OpError
from ..report import at
from .findings import Findings
from .kernel import Handover, Kernel, TileAccess, stages_of
from .spots import Side, Spot, Turning
from .state import Reader


class Contents:
    """What the partitions of a kernel have done to its tiles, taken together.

    Args:
        kernel: what was noted of all partitions.
        findings: takes what is wrong, or not known.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings

    def check_written(self) -> None:
        """Checks that something writes what is read.

        Raises:
            OpError: if nothing in the function does.
        """
        for access in self._kernel.accesses:
            if not access.writes and access.spot.allocation not in self._kernel.written:
                allocation = access.spot.allocation
                raise OpError(access.op, f"reads the {at(allocation)}, which nothing writes")

    def check(self) -> None:
        """Checks the tiles.

        Raises:
            OpError: if a rule is broken in some run.
        """
        allocations: dict[Any, list[TileAccess]] = {}
        for access in self._kernel.accesses:
            allocations.setdefault(access.spot.allocation, []).append(access)
            if not access.writes and access.spot.turning is not None:
                self._check_filled(access, *access.spot.turning)
        for allocation, accesses in allocations.items():
            self._check_one_order(allocation, accesses)
            self._check_late(allocation, accesses)
            for write in (access for access in accesses if access.writes):
                for other in accesses:
                    self._check_apart(write, other)
        self._check_ends()

    def _check_ends(self) -> None:
        """Checks that no bulk store is unfinished when the kernel ends."""
        for states in self._kernel.ends.values():
            for state in states:
                for read in state.reads:
                    if read.by is Reader.BULK and read.age is not None:
                        message = "may still read its tile when the kernel ends"
                        put = f"put {TmaWaitOp.OPERATION_NAME} with pending = 0 before the end"
                        self._findings.wrong(read.op, f"{message}; {put}", state.certain)

    # Stages.

    def _check_filled(self, read: TileAccess, pipeline: Any, side: Side) -> None:
        """Checks that the other side writes, in each step, what is read, and fences it."""
        allocation = read.spot.allocation
        given = [h for h in self._kernel.handovers if h.turning == (pipeline, side.other)]
        if not _is_filled(read.spot, given):
            others = [t for t in self._turnings_that_write(allocation) if t[0] != pipeline]
            if others and not self._is_held(read, others[0][0]):
                message = f"reads the {at(allocation)}, which is written in steps of the {at(others[0][0])}"
                needs = f"put {others[0][1].other.begins} of that pipeline before it"
                self._findings.wrong(read.op, f"{message}; {needs}", read.certain)
            reason = f"it is not known whether each step of the {at(pipeline)} fills the {at(allocation)}"
            self._findings.unknown(read.op, reason)
        for handover in given:
            for written, write in handover.unfenced:
                if written == allocation and read.by is not Reader.THREADS:
                    message = f"reads the {at(allocation)} before the {at(write)} is over"
                    needs = f"put {FenceOp.OPERATION_NAME} before the {at(handover.op)}"
                    certain = read.certain and handover.certain
                    self._findings.wrong(read.op, f"{message}; {needs}", certain)

    def _turnings_that_write(self, allocation: Any) -> list[Turning]:
        accesses = (
            a.spot for a in self._kernel.accesses if a.writes and a.spot.allocation == allocation
        )
        return list({spot.turning: None for spot in accesses if spot.turning is not None})

    def _is_held(self, access: TileAccess, pipeline: Any) -> bool:
        """Whether the partition of an access takes steps of a pipeline."""
        return any(
            partition is access.partition and of == pipeline
            for partition, (of, _) in self._kernel.held
        )

    def _check_one_order(self, allocation: Any, accesses: list[TileAccess]) -> None:
        """Checks that one pipeline gives all stages of a tile, or none any."""
        pipelines = {access.spot.turning and access.spot.turning[0]: access for access in accesses}
        if len(pipelines) > 1:
            access = pipelines.get(None) or accesses[-1]
            given = next(pipeline for pipeline in pipelines if pipeline is not None)
            reason = f"some stages of the {at(allocation)} come from the {at(given)}, and this one does not"
            self._findings.unknown(access.op, reason)

    def _check_late(self, allocation: Any, accesses: list[TileAccess]) -> None:
        """Checks that a stage of a tile with fewer stages than its pipeline is empty when it is handed on:
        what used it before, a round of the tile ago, is released."""
        stages = accesses[0].spot.extents[0].whole
        for pipeline in {
            access.spot.turning[0]: None for access in accesses if access.spot.turning
        }:
            for handover in self._kernel.handovers:
                first = handover.step is not None and handover.step < stages
                enough = handover.ago > stages_of(pipeline) - stages
                if handover.turning == (pipeline, Side.PRODUCER) and not (first or enough):
                    reason = (
                        f"the stage of the {at(allocation)} that it hands on may still be in use"
                    )
                    self._findings.unknown(handover.op, reason)

    # Partitions, and the warpgroups of one.

    def _check_apart(self, write: TileAccess, other: TileAccess) -> None:
        """Checks that no other warpgroup accesses what one writes."""
        partition, turning = write.partition, write.spot.turning
        if partition is not other.partition:
            before = partition.whole and partition.symbol is None
            if turning is None and not before:
                reason = f"nothing orders it and the {at(other.op)} of other threads"
                self._findings.unknown(write.op, reason)
            elif turning is not None and turning == other.spot.turning:
                reason = f"the {at(other.op)} of other threads may access the same stage"
                self._findings.unknown(write.op, reason)
            return
        if partition.symbol is None or partition.warpgroups == 1 or self._has_turns(write):
            return
        apart = write.spot.subtiles_from(other.spot, partition.symbol)
        if turning == other.spot.turning and not apart:
            who = "another warpgroup of its partition"
            reason = f"{who} may access the same bytes by the {at(other.op)}"
            self._findings.unknown(write.op, reason)

    def _has_turns(self, write: TileAccess) -> bool:
        """Whether the warpgroups take the steps of a pipeline in turns."""
        turning = write.spot.turning
        return turning is not None and all(
            state.turn(turning).share is not None for state in self._kernel.ends[write.partition]
        )


def _is_filled(read: Spot, given: list[Handover]) -> bool:
    """Whether some partition writes all that is read, before each step that it hands on."""
    for partition in {handover.partition: None for handover in given}:
        own = [handover.written for handover in given if handover.partition is partition]
        if all(any(spot.covers(read) for spot in written) for written in own):
            return True
    return False
