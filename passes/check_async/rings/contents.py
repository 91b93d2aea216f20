"""What all roles together must do: write what is read, and nothing that others access at that time."""

from __future__ import annotations

from typing import Any

from ....ir.errors import OpError
from ..report import at
from .findings import Findings
from .kernel import Access, Handover, Kernel, stages_of
from .spots import Side, Spot
from .state import Reader


def check_contents(kernel: Kernel) -> None:
    """Checks that something writes what is read.

    Raises:
        OpError: if nothing in the function does.
    """
    for access in kernel.accesses:
        if not access.writes and access.spot.root not in kernel.written:
            raise OpError(access.op, f"reads the {at(access.spot.root)}, which nothing writes")


def check_tiles(kernel: Kernel, findings: Findings) -> None:
    """Checks the tiles of a kernel, by what was noted of all agents.

    Raises:
        OpError: if a rule is broken in some run.
    """
    for access in kernel.accesses:
        if not access.writes and access.spot.turning is not None:
            _check_filled(kernel, access, access.spot.turning[0], access.spot.turning[1], findings)
    roots: dict[Any, list[Access]] = {}
    for access in kernel.accesses:
        roots.setdefault(access.spot.root, []).append(access)
    for root, accesses in roots.items():
        _check_one_order(root, accesses, findings)
        _check_late(kernel, root, accesses, findings)
        for write in (access for access in accesses if access.writes):
            for other in accesses:
                _check_apart(kernel, write, other, findings)
    for states in kernel.ends.values():
        for state in states:
            for read in state.reads:
                if read.by is Reader.BULK and read.age is not None:
                    message = "may still read its tile when the kernel ends; put smem.tma_wait with"
                    findings.wrong(read.op, f"{message} pending = 0 before the end", state.certain)


def _check_filled(kernel: Kernel, read: Access, ring: Any, side: Side, findings: Findings) -> None:
    """Checks that the other side writes, in each step, what is read, and fences it."""
    root = read.spot.root
    given = [h for h in kernel.handovers if h.turning == (ring, side.other)]
    if not _is_filled(read.spot, given):
        others = [t for t in _turnings_that_write(kernel, root) if t[0] != ring]
        if others and not any(a is read.agent and t[0] == others[0][0] for a, t in kernel.held):
            message = f"reads the {at(root)}, which is written in steps of the {at(others[0][0])}"
            needs = f"put {others[0][1].other.begins} of that ring before it"
            findings.wrong(read.op, f"{message}; {needs}", read.certain)
        reason = f"it is not known whether each step of the {at(ring)} fills the {at(root)}"
        findings.unknown(read.op, reason)
    for handover in given:
        for written, write in handover.unfenced:
            if written == root and read.op.name not in ("smem.load", "smem.copy"):
                message = f"reads the {at(root)} before the {at(write)} is over"
                needs = f"put smem.fence before the {at(handover.op)}"
                findings.wrong(read.op, f"{message}; {needs}", read.certain and handover.certain)


def _turnings_that_write(kernel: Kernel, root: Any) -> list[Any]:
    turnings = (a.spot.turning for a in kernel.accesses if a.writes and a.spot.root == root)
    return list({turning: None for turning in turnings if turning is not None})


def _is_filled(read: Spot, given: list[Handover]) -> bool:
    """Whether some agent writes all that is read, before each step that it hands on."""
    for agent in {handover.agent: None for handover in given}:
        own = [handover.written for handover in given if handover.agent is agent]
        if all(any(spot.covers(read) for spot in written) for written in own):
            return True
    return False


def _check_one_order(root: Any, accesses: list[Access], findings: Findings) -> None:
    """Checks that one ring gives all stages of a tile, or none any."""
    rings = {access.spot.turning and access.spot.turning[0]: access for access in accesses}
    if len(rings) > 1:
        access = rings.get(None) or accesses[-1]
        given = next(ring for ring in rings if ring is not None)
        reason = f"some stages of the {at(root)} come from the {at(given)}, and this one does not"
        findings.unknown(access.op, reason)


def _check_late(kernel: Kernel, root: Any, accesses: list[Access], findings: Findings) -> None:
    """Checks that a stage of a tile with fewer stages than its ring is empty when it is handed on: what
    used it before, a round of the tile ago, is released."""
    stages = accesses[0].spot.extents[0].whole
    for ring in {access.spot.turning[0]: None for access in accesses if access.spot.turning}:
        for handover in kernel.handovers:
            first = handover.step is not None and handover.step < stages
            enough = handover.ago > stages_of(ring) - stages
            if handover.turning == (ring, Side.PRODUCER) and not (first or enough):
                reason = f"the stage of the {at(root)} that it hands on may still be in use"
                findings.unknown(handover.op, reason)


def _check_apart(kernel: Kernel, write: Access, other: Access, findings: Findings) -> None:
    """Checks that no other warpgroup accesses what one writes."""
    agent = write.agent
    if agent is not other.agent:
        before = agent.whole and agent.symbol is None
        if write.spot.turning is None and not before:
            reason = f"nothing orders it and the {at(other.op)} of other threads"
            findings.unknown(write.op, reason)
        elif write.spot.turning is not None and write.spot.turning == other.spot.turning:
            reason = f"the {at(other.op)} of other threads may access the same stage"
            findings.unknown(write.op, reason)
        return
    if agent.symbol is None or agent.warpgroups == 1 or _has_turns(kernel, write):
        return
    if write.spot.turning == other.spot.turning and not write.spot.parts_from(
        other.spot, agent.symbol
    ):
        reason = f"another warpgroup of its role may access the same bytes by the {at(other.op)}"
        findings.unknown(write.op, reason)


def _has_turns(kernel: Kernel, write: Access) -> bool:
    """Whether the warpgroups take the steps of a ring in turns."""
    turning = write.spot.turning
    return turning is not None and all(
        state.turn(turning).share is not None for state in kernel.ends[write.agent]
    )
