"""What all roles together must do: write what is read, and nothing that others access at that time."""

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
    """What the agents of a kernel have done to its tiles, taken together.

    Args:
        kernel: what was noted of all agents.
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
            if not access.writes and access.spot.root not in self._kernel.written:
                root = access.spot.root
                raise OpError(access.op, f"reads the {at(root)}, which nothing writes")

    def check(self) -> None:
        """Checks the tiles.

        Raises:
            OpError: if a rule is broken in some run.
        """
        roots: dict[Any, list[TileAccess]] = {}
        for access in self._kernel.accesses:
            roots.setdefault(access.spot.root, []).append(access)
            if not access.writes and access.spot.turning is not None:
                self._check_filled(access, *access.spot.turning)
        for root, accesses in roots.items():
            self._check_one_order(root, accesses)
            self._check_late(root, accesses)
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

    def _check_filled(self, read: TileAccess, ring: Any, side: Side) -> None:
        """Checks that the other side writes, in each step, what is read, and fences it."""
        root = read.spot.root
        given = [h for h in self._kernel.handovers if h.turning == (ring, side.other)]
        if not _is_filled(read.spot, given):
            others = [t for t in self._turnings_that_write(root) if t[0] != ring]
            if others and not self._is_held(read, others[0][0]):
                message = (
                    f"reads the {at(root)}, which is written in steps of the {at(others[0][0])}"
                )
                needs = f"put {others[0][1].other.begins} of that ring before it"
                self._findings.wrong(read.op, f"{message}; {needs}", read.certain)
            reason = f"it is not known whether each step of the {at(ring)} fills the {at(root)}"
            self._findings.unknown(read.op, reason)
        for handover in given:
            for written, write in handover.unfenced:
                if written == root and read.by is not Reader.THREADS:
                    message = f"reads the {at(root)} before the {at(write)} is over"
                    needs = f"put {FenceOp.OPERATION_NAME} before the {at(handover.op)}"
                    certain = read.certain and handover.certain
                    self._findings.wrong(read.op, f"{message}; {needs}", certain)

    def _turnings_that_write(self, root: Any) -> list[Turning]:
        accesses = (a.spot for a in self._kernel.accesses if a.writes and a.spot.root == root)
        return list({spot.turning: None for spot in accesses if spot.turning is not None})

    def _is_held(self, access: TileAccess, ring: Any) -> bool:
        """Whether the agent of an access takes steps of a ring."""
        return any(agent is access.agent and of == ring for agent, (of, _) in self._kernel.held)

    def _check_one_order(self, root: Any, accesses: list[TileAccess]) -> None:
        """Checks that one ring gives all stages of a tile, or none any."""
        rings = {access.spot.turning and access.spot.turning[0]: access for access in accesses}
        if len(rings) > 1:
            access = rings.get(None) or accesses[-1]
            given = next(ring for ring in rings if ring is not None)
            reason = (
                f"some stages of the {at(root)} come from the {at(given)}, and this one does not"
            )
            self._findings.unknown(access.op, reason)

    def _check_late(self, root: Any, accesses: list[TileAccess]) -> None:
        """Checks that a stage of a tile with fewer stages than its ring is empty when it is handed on:
        what used it before, a round of the tile ago, is released."""
        stages = accesses[0].spot.extents[0].whole
        for ring in {access.spot.turning[0]: None for access in accesses if access.spot.turning}:
            for handover in self._kernel.handovers:
                first = handover.step is not None and handover.step < stages
                enough = handover.ago > stages_of(ring) - stages
                if handover.turning == (ring, Side.PRODUCER) and not (first or enough):
                    reason = f"the stage of the {at(root)} that it hands on may still be in use"
                    self._findings.unknown(handover.op, reason)

    # Agents, and the warpgroups of one.

    def _check_apart(self, write: TileAccess, other: TileAccess) -> None:
        """Checks that no other warpgroup accesses what one writes."""
        agent, turning = write.agent, write.spot.turning
        if agent is not other.agent:
            before = agent.whole and agent.symbol is None
            if turning is None and not before:
                reason = f"nothing orders it and the {at(other.op)} of other threads"
                self._findings.unknown(write.op, reason)
            elif turning is not None and turning == other.spot.turning:
                reason = f"the {at(other.op)} of other threads may access the same stage"
                self._findings.unknown(write.op, reason)
            return
        if agent.symbol is None or agent.warpgroups == 1 or self._has_turns(write):
            return
        apart = write.spot.parts_from(other.spot, agent.symbol)
        if turning == other.spot.turning and not apart:
            who = "another warpgroup of its role"
            reason = f"{who} may access the same bytes by the {at(other.op)}"
            self._findings.unknown(write.op, reason)

    def _has_turns(self, write: TileAccess) -> bool:
        """Whether the warpgroups take the steps of a ring in turns."""
        turning = write.spot.turning
        return turning is not None and all(
            state.turn(turning).share is not None for state in self._kernel.ends[write.agent]
        )


def _is_filled(read: Spot, given: list[Handover]) -> bool:
    """Whether some agent writes all that is read, before each step that it hands on."""
    for agent in {handover.agent: None for handover in given}:
        own = [handover.written for handover in given if handover.agent is agent]
        if all(any(spot.covers(read) for spot in written) for written in own):
            return True
    return False
