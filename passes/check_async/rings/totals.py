"""What all roles together must do: as many steps, with as many arrivals, as all of them wait for."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

from ..forms import Form, number
from ..report import at
from .clocks import find_circle
from .findings import Findings
from .kernel import Agent, Kernel, stages_of
from .spots import Side, Turning
from .state import Turn


class Totals:
    """What the agents of a kernel have done to its rings, taken together.

    Args:
        kernel: what was noted of all agents.
        findings: takes what is wrong, or not known.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings

    def check(self) -> None:
        """Checks the rings.

        Raises:
            OpError: if a rule is broken in some run.
        """
        for ring in self._kernel.rings():
            agents = {side: self._agents_of((ring, side)) for side in Side}
            if not any(agents.values()):
                continue
            self._check_count((ring, Side.PRODUCER), "producers", "thread")
            if not agents[Side.CONSUMER]:
                self._findings.unknown(ring, "nothing waits for its stages")
                continue
            self._check_count((ring, Side.CONSUMER), "consumers", "warpgroup")
            self._check_steps(ring, agents)
            self._check_held(ring, agents)
        self._check_circles()

    def _agents_of(self, turning: Turning) -> list[Agent]:
        """The agents that take a side of a ring."""
        return [agent for agent, taken in self._kernel.held if taken == turning]

    def _check_count(self, turning: Turning, name: str, who: str) -> None:
        """Checks that as many arrive for a step as the mbarriers count."""
        ring, side = turning
        each: dict[Agent, set[int | None]] = {}
        certain = True
        for handover in self._kernel.handovers:
            if handover.turning == turning:
                each.setdefault(handover.agent, set()).add(handover.arrivals)
                certain &= handover.certain
        if not each:
            if side is Side.PRODUCER:
                message = f"has steps that are waited for and never {side.ended}; put {side.ends}"
                self._findings.wrong(ring, message, certain)
            return
        if any(len(counts) > 1 or None in counts for counts in each.values()):
            reason = f"it is not known how many {who}s have {side.ended} a step"
            self._findings.unknown(ring, reason)
            return
        total = sum(count for counts in each.values() for count in counts if count is not None)
        counted = getattr(ring, name).value
        if total != counted:
            self._findings.wrong(
                ring,
                f"has {name} = {counted}, but each step is {side.ended} by {total} "
                f"{who}{'' if total == 1 else 's'}; set {name} = {total}",
                certain,
            )

    def _check_steps(self, ring: Any, agents: dict[Side, list[Agent]]) -> None:
        """Checks that all steps that are waited for are handed on, and that nothing is left loading."""
        loads = self._kernel.loads(ring)
        for producer, filled, certain in self._ends(ring, agents, Side.PRODUCER):
            if loads and filled.held:
                message = "has a step that is loaded and never committed"
                put = f"put {Side.PRODUCER.ends}"
                self._findings.wrong(ring, f"{message}; {put}", certain)
            for consumer, emptied, known in self._ends(ring, agents, Side.CONSUMER):
                waited = _total(consumer, emptied)
                if waited is None:
                    where = f"the warpgroups of the {at(consumer.op)}"
                    self._findings.unknown(ring, f"which steps {where} take is not known")
                    continue
                both = certain and known
                committed = filled.next - number(filled.held)
                self._at_most(ring, waited, committed, ("waited for", "committed"), both)
                released = waited - number(emptied.held - stages_of(ring))
                what = ("acquired", "released, or empty at first,")
                self._at_most(ring, filled.next, released, what, both)
                if loads and (waited - committed).constant != 0:
                    more = "may load more steps of it than are waited for"
                    self._findings.unknown(ring, f"the {at(producer.op)} {more}")

    def _ends(
        self, ring: Any, agents: dict[Side, list[Agent]], side: Side
    ) -> list[tuple[Agent, Turn, bool]]:
        return [
            (agent, state.turn((ring, side)), state.certain)
            for agent in agents[side]
            for state in self._kernel.ends[agent]
        ]

    def _at_most(
        self, ring: Any, fewer: Form, more: Form, what: tuple[str, str], certain: bool
    ) -> None:
        """Checks that no more steps are done by one side than by the other."""
        over = (fewer - more).constant
        if over is None:
            reason = f"as many of its steps may not be {what[1]} as are {what[0]}"
            self._findings.unknown(ring, reason)
        elif over > 0:
            message = f"has {over} step{'s' if over > 1 else ''} {what[0]} more than {what[1]}"
            self._findings.wrong(ring, f"{message}; let both be as many", certain)

    def _check_held(self, ring: Any, agents: dict[Side, list[Agent]]) -> None:
        """Checks that a producer and a consumer do not wait for each other with all stages in their
        hands."""
        for producer, consumer in product(agents[Side.PRODUCER], agents[Side.CONSUMER]):
            ahead = self._kernel.held[producer, (ring, Side.PRODUCER)]
            behind = self._kernel.held[consumer, (ring, Side.CONSUMER)]
            if producer is not consumer and ahead + behind >= stages_of(ring):
                reason = (
                    f"of its {stages_of(ring)} stages a producer may hold {ahead} and a consumer "
                    f"{behind} while they wait for each other"
                )
                self._findings.unknown(ring, reason)

    def _check_circles(self) -> None:
        """Checks that agents do not wait in a circle: rings that connect them as the edges of a tree do
        cannot let them; for others there must be a clock."""
        taken: dict[Any, set[Agent]] = {ring: set() for ring in self._kernel.rings()}
        for agent, (ring, _) in self._kernel.held:
            taken[ring].add(agent)
        if rings := _in_circles(taken):
            reason = find_circle(self._kernel, rings)
            if reason is not None:
                others = f"the {at(next(iter(taken[rings[-1]])).op)} and others"
                message = f"{others} may wait for each other by several rings: {reason}"
                self._findings.unknown(rings[-1], message)


def _in_circles(taken: dict[Any, set[Agent]]) -> list[Any]:
    """The rings that connect agents in circles, or lie between such: what is left when rings of one
    agent, and agents of one ring, are taken away again and again."""
    left = dict(taken)
    while True:
        several = Counter(agent for agents in left.values() for agent in agents)
        kept = {r: {a for a in agents if several[a] > 1} for r, agents in left.items()}
        kept = {ring: agents for ring, agents in kept.items() if len(agents) > 1}
        if kept == left:
            return list(left)
        left = kept


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
