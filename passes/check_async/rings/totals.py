"""What all roles together must do: as many steps, with as many arrivals, as all of them wait for."""

from __future__ import annotations

from typing import Any

from ....dialect.ops.ring import ring_number
from ..forms import Form, number
from ..report import at
from .findings import Findings
from .kernel import Agent, Kernel, stages_of
from .spots import Side, Turning
from .state import Turn


def check_totals(kernel: Kernel, findings: Findings) -> None:
    """Checks the rings of a kernel, by what was noted of all agents.

    Raises:
        OpError: if a rule is broken in some run.
    """
    for ring in kernel.rings():
        agents = {side: agents_of(kernel, (ring, side)) for side in Side}
        if not any(agents.values()):
            continue
        _check_count(kernel, (ring, Side.PRODUCER), "producers", "thread", findings)
        if not agents[Side.CONSUMER]:
            findings.unknown(ring, "nothing waits for its stages")
            continue
        _check_count(kernel, (ring, Side.CONSUMER), "consumers", "warpgroup", findings)
        _check_steps(kernel, ring, agents, findings)
        _check_held(kernel, ring, agents, findings)
    _check_circles(kernel, findings)


def agents_of(kernel: Kernel, turning: Turning) -> list[Agent]:
    """The agents that take a side of a ring."""
    return [agent for agent, taken in kernel.held if taken == turning]


def _check_count(kernel: Kernel, turning: Turning, name: str, who: str, findings: Findings) -> None:
    """Checks that as many arrive for a step as the mbarriers count."""
    ring, side = turning
    each: dict[Agent, set[int | None]] = {}
    certain = True
    for handover in kernel.handovers:
        if handover.turning == turning:
            each.setdefault(handover.agent, set()).add(handover.arrivals)
            certain &= handover.certain
    if not each:
        if side is Side.PRODUCER:
            message = f"has steps that are waited for and never {side.ended}; put {side.ends}"
            findings.wrong(ring, message, certain)
        return
    if any(len(counts) > 1 or None in counts for counts in each.values()):
        findings.unknown(ring, f"it is not known how many {who}s have {side.ended} a step")
        return
    total = sum(count for counts in each.values() for count in counts if count is not None)
    if total != ring_number(ring.opview, name):
        findings.wrong(
            ring,
            f"has {name} = {ring_number(ring.opview, name)}, but each step is {side.ended} by {total} "
            f"{who}{'' if total == 1 else 's'}; set {name} = {total}",
            certain,
        )


def _check_steps(
    kernel: Kernel, ring: Any, agents: dict[Side, list[Agent]], findings: Findings
) -> None:
    """Checks that all steps that are waited for are handed on, and that nothing is left loading."""
    loads = kernel.loads(ring)
    for producer, filled, certain in _ends(kernel, ring, agents, Side.PRODUCER):
        if loads and filled.held:
            message = "has a step that is loaded and never committed; put smem.producer_commit"
            findings.wrong(ring, message, certain)
        for consumer, emptied, known in _ends(kernel, ring, agents, Side.CONSUMER):
            waited = _total(consumer, emptied)
            if waited is None:
                reason = f"which steps the warpgroups of the {at(consumer.op)} take is not known"
                findings.unknown(ring, reason)
                continue
            committed = filled.next - number(filled.held)
            _at_most(
                ring, waited, committed, ("waited for", "committed"), certain and known, findings
            )
            released = waited - number(emptied.held - stages_of(ring))
            what = ("acquired", "released, or empty at first,")
            _at_most(ring, filled.next, released, what, certain and known, findings)
            if loads and (waited - committed).constant != 0:
                reason = f"the {at(producer.op)} may load more steps of it than are waited for"
                findings.unknown(ring, reason)


def _ends(
    kernel: Kernel, ring: Any, agents: dict[Side, list[Agent]], side: Side
) -> list[tuple[Agent, Turn, bool]]:
    return [
        (agent, state.turn((ring, side)), state.certain)
        for agent in agents[side]
        for state in kernel.ends[agent]
    ]


def _total(agent: Agent, turn: Turn) -> Form | None:
    """The steps that the warpgroups of an agent have taken in all; None if not known."""
    if turn.share is None:
        return turn.next
    if agent.symbol is None or turn.taken not in (0, turn.share):
        return None
    split = (turn.next - number(turn.taken)).split(agent.symbol)
    if split is None or split[0] != turn.share:
        return None
    return split[1] + number((agent.warpgroups or 1) * turn.taken)


def _at_most(
    ring: Any, fewer: Form, more: Form, what: tuple[str, str], certain: bool, findings: Findings
) -> None:
    """Checks that no more steps are done by one side than by the other."""
    over = (fewer - more).constant
    if over is None:
        reason = f"as many of its steps may not be {what[1]} as are {what[0]}"
        findings.unknown(ring, reason)
    elif over > 0:
        message = f"has {over} step{'s' if over > 1 else ''} {what[0]} more than {what[1]}"
        findings.wrong(ring, f"{message}; let both be as many", certain)


def _check_held(
    kernel: Kernel, ring: Any, agents: dict[Side, list[Agent]], findings: Findings
) -> None:
    """Checks that a producer and a consumer do not wait for each other with all stages in their hands."""
    for producer in agents[Side.PRODUCER]:
        for consumer in agents[Side.CONSUMER]:
            ahead = kernel.held[producer, (ring, Side.PRODUCER)]
            behind = kernel.held[consumer, (ring, Side.CONSUMER)]
            if producer is not consumer and ahead + behind >= stages_of(ring):
                reason = (
                    f"of its {stages_of(ring)} stages a producer may hold {ahead} and a consumer "
                    f"{behind} while they wait for each other"
                )
                findings.unknown(ring, reason)


def _check_circles(kernel: Kernel, findings: Findings) -> None:
    """Checks that rings connect roles as the edges of a tree do: then they cannot wait in a circle."""
    above: dict[Any, Any] = {}

    def top(x: Any) -> Any:
        while x in above:
            x = above[x]
        return x

    for ring in kernel.rings():
        agents = {agent: None for agent, (other, _) in kernel.held if other == ring}
        for agent in agents if len(agents) > 1 else ():
            if top(agent) == top(ring):
                reason = f"the {at(agent.op)} and others may wait for each other by several rings"
                findings.unknown(ring, reason)
            else:
                above[top(agent)] = top(ring)
