"""What all roles together must do: fill what is read, as often as it is read, with as many arrivals."""

from __future__ import annotations

from typing import Any

from ....dialect.ops.ring import ring_number
from ..report import at
from .findings import Findings
from .kernel import Access, Agent, Commit, Kernel, stages_of
from .spots import Side, Spot
from .state import Reader


def check_totals(kernel: Kernel, findings: Findings) -> None:
    """Checks what was noted of all agents.

    Raises:
        OpError: if a rule is broken in some run.
    """
    for ring in kernel.rings():
        _check_ring(kernel, ring, findings)
    _check_order_of_rings(kernel, findings)
    for access in kernel.accesses:
        if not access.writes:
            _check_read(kernel, access, findings)
    _check_shared(kernel, findings)
    for states in kernel.ends.values():
        for state in states:
            for read in state.reads:
                if read.by is Reader.BULK and read.age is not None:
                    message = "may still read its tile when the kernel ends; put smem.tma_wait with"
                    findings.wrong(read.op, f"{message} pending = 0 before the end", state.certain)


# Rings.


def _check_ring(kernel: Kernel, ring: Any, findings: Findings) -> None:
    turns = {
        side: [agent for agent, (other, taken) in kernel.held if (other, taken) == (ring, side)]
        for side in Side
    }
    commits = [commit for commit in kernel.commits if kernel.turning(commit.op)[0] == ring]
    releases = [release for release in kernel.releases if kernel.turning(release.op)[0] == ring]
    if not any(turns.values()):
        return
    if not turns[Side.CONSUMER]:
        findings.unknown(ring, "nothing waits for its stages")
        return
    counts = [(c.agent, c.threads, c.certain) for c in commits]
    _check_count(ring, "producers", counts, "committed", "thread", findings)
    counts = [(r.agent, r.warpgroups, r.certain) for r in releases]
    if releases:
        _check_count(ring, "consumers", counts, "released", "warpgroup", findings)
    _check_steps(kernel, ring, turns, findings)
    _check_held(kernel, ring, turns, findings)


def _check_count(
    ring: Any,
    name: str,
    counts: list[tuple[Agent, int | None, bool]],
    done: str,
    who: str,
    findings: Findings,
) -> None:
    """Checks that as many arrive for a step as the mbarriers count."""
    each: dict[Agent, set[int | None]] = {}
    for agent, count, _ in counts:
        each.setdefault(agent, set()).add(count)
    if any(len(found) > 1 or None in found for found in each.values()):
        findings.unknown(ring, f"it is not known how many {who}s have each step {done}")
        return
    total = sum(count for found in each.values() for count in found if count is not None)
    if total != ring_number(ring, name):
        message = (
            f"has {name} = {ring_number(ring, name)}, but each step is {done} by {total} "
            f"{who}{'' if total == 1 else 's'}; set {name} = {total}"
        )
        if not total:
            message = f"has steps that are waited for, and nothing {done}; put smem.producer_commit"
        findings.wrong(ring, message, all(certain for *_, certain in counts))


def _check_steps(
    kernel: Kernel, ring: Any, turns: dict[Side, list[Agent]], findings: Findings
) -> None:
    """Checks that all agents take the same steps."""
    ends = [
        (agent, side, state.turn((ring, side)), state.certain)
        for side in Side
        for agent in turns[side]
        for state in kernel.ends[agent]
    ]
    for agent, side, turn, certain in ends:
        if side is Side.PRODUCER and turn.held:
            message = f"has a step that is acquired, and never {side.ended}; put {side.ends} for it"
            findings.wrong(ring, message, certain)
    made = next((turn.next for _, side, turn, _ in ends if side is Side.PRODUCER), None)
    if made is None:
        return
    for agent, side, turn, certain in ends:
        more = (turn.next - made).constant
        if more is None:
            reason = f"the {at(agent.op)} may take more or fewer of its steps than others do"
            findings.unknown(ring, reason)
        elif more > 0 and side is Side.CONSUMER:
            message = f"has {more} more step{'s' if more > 1 else ''} waited for than committed"
            findings.wrong(ring, f"{message}; wait for as many", certain and _are_certain(ends))
        elif more:
            findings.unknown(ring, f"the {at(agent.op)} takes {abs(more)} fewer of its steps")


def _are_certain(ends: list[Any]) -> bool:
    return all(certain for *_, certain in ends)


def _check_held(
    kernel: Kernel, ring: Any, turns: dict[Side, list[Agent]], findings: Findings
) -> None:
    """Checks that a producer and a consumer do not wait for each other with all stages in their hands."""
    for producer in turns[Side.PRODUCER]:
        for consumer in turns[Side.CONSUMER]:
            ahead = kernel.held[producer, (ring, Side.PRODUCER)]
            behind = kernel.held[consumer, (ring, Side.CONSUMER)]
            if producer is not consumer and ahead + behind >= stages_of(ring):
                reason = (
                    f"it has {stages_of(ring)} stages, of which a producer holds {ahead} and a "
                    f"consumer {behind} while they wait for each other"
                )
                findings.unknown(ring, reason)


def _check_order_of_rings(kernel: Kernel, findings: Findings) -> None:
    """Checks that no roles are connected by rings in two ways, by which they could wait in a circle."""
    group: dict[Any, Any] = {}

    def top(x: Any) -> Any:
        while x in group:
            x = group[x]
        return x

    for ring in kernel.rings():
        agents = {agent: None for agent, (other, _) in kernel.held if other == ring}
        for agent in agents if len(agents) > 1 else ():
            if top(agent) == top(ring):
                reason = f"the {at(agent.op)} and others may wait for each other by several rings"
                findings.unknown(ring, reason)
            else:
                group[top(agent)] = top(ring)


# Tiles.


def _check_read(kernel: Kernel, read: Access, findings: Findings) -> None:
    """Checks that what is read was written."""
    root, turning = read.spot.root, read.spot.turning
    if not any(a.writes and a.spot.root == root for a in kernel.accesses):
        findings.wrong(read.op, f"reads the {at(root)}, which nothing writes", read.certain)
        return
    if turning is None:
        return
    ring = turning[0]
    commits = [commit for commit in kernel.commits if kernel.turning(commit.op)[0] == ring]
    if not _is_filled(root, read.spot, commits):
        others = _rings_that_fill(kernel, root)
        if others and ring not in others:
            waited = any(read.agent is a and r == others[0] for a, (r, _) in kernel.held)
            message = (
                f"reads the {at(root)}, which is filled by the {at(others[0])}, by a stage of the "
                f"{at(ring)}"
            )
            findings.wrong(read.op, f"{message}; put smem.consumer_wait of that ring", not waited)
            return
        reason = f"it is not known whether each step of the {at(ring)} fills the {at(root)}"
        findings.unknown(read.op, reason)
    by_threads = read.op.name == "smem.load"
    for commit in commits:
        for written, write in commit.unfenced:
            if written == root and not by_threads:
                message = f"reads the {at(root)} before the {at(write)} is over"
                needs = f"put smem.fence before the {at(commit.op)}"
                findings.wrong(read.op, f"{message}; {needs}", read.certain and commit.certain)


def _rings_that_fill(kernel: Kernel, root: Any) -> list[Any]:
    """The rings by whose stages a tile is written."""
    turnings = (a.spot.turning for a in kernel.accesses if a.writes and a.spot.root == root)
    return list({turning[0]: None for turning in turnings if turning is not None})


def _is_filled(root: Any, read: Spot, commits: list[Commit]) -> bool:
    """Whether some agent writes all that is read of a tile, in each step."""
    for agent in {commit.agent: None for commit in commits}:
        own = [commit.written for commit in commits if commit.agent is agent]
        if all(_covers(root, read, written) for written in own):
            return True
    return False


def _covers(root: Any, read: Spot, written: frozenset[Spot]) -> bool:
    return any(
        spot.root == root and (spot.is_whole or spot.extents[1:] == read.extents[1:])
        for spot in written
    )


def _check_shared(kernel: Kernel, findings: Findings) -> None:
    """Checks that what no ring orders is accessed by the threads of one warpgroup."""
    roots: dict[Any, list[Access]] = {}
    for access in kernel.accesses:
        roots.setdefault(access.spot.root, []).append(access)
    for root, accesses in roots.items():
        plain = [access for access in accesses if access.spot.turning is None]
        in_rings = [access for access in accesses if access.spot.turning is not None]
        if plain and in_rings:
            reason = (
                f"its stage of the {at(root)} does not come from the "
                f"{at(in_rings[0].spot.turning[0] if in_rings[0].spot.turning else root)}"
            )
            findings.unknown(plain[0].op, reason)
        rings = {a.spot.turning[0]: None for a in in_rings if a.spot.turning and a.writes}
        if len(rings) > 1:
            findings.unknown(in_rings[0].op, f"several rings fill the {at(root)}")
        for write in (access for access in plain if access.writes):
            _check_apart(write, plain, findings)


def _check_apart(write: Access, accesses: list[Access], findings: Findings) -> None:
    """Checks that no other warpgroup accesses what one writes."""
    for other in accesses:
        if write.agent is not other.agent and not (write.agent.whole and not other.writes):
            reason = f"nothing orders it and the {at(other.op)}, of another role"
            findings.unknown(write.op, reason)
        elif write.agent is other.agent and not write.agent.whole and write.agent.warpgroups != 1:
            if not write.spot.parts_from(other.spot, write.agent.symbol):
                reason = (
                    f"another warpgroup of its role may access the same bytes by the {at(other.op)}"
                )
                findings.unknown(write.op, reason)
