"""The agents of a kernel: all threads of its block, those of each role, and those of several warps that
do several things at a time."""

from __future__ import annotations

from typing import Any

from ....dialect.ops import ElectOp, RolesOp
from ....ir.kernel import threads_of
from ....ir.walk import walk
from ....layout.fragments import WARPGROUP
from .findings import Findings
from .kernel import Agent, Kernel
from .state import State
from .walker import Walker


class Agents:
    """Follows the agents of a kernel one after the other.

    Args:
        kernel: the function, where what is found is noted.
        findings: takes what is wrong, or not known.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings
        threads = threads_of(kernel.function)
        #: Warpgroups of the block; None if that is not known.
        self._count = None if threads is None or threads % WARPGROUP else threads // WARPGROUP

    def follow(self, ops: list[Any]) -> None:
        """Follows what the block does, and from its `smem.roles` on what each role does."""
        kernel = self._kernel
        block = Agent(kernel.function, self._count, True, True, None)
        roles = [op for op in ops if isinstance(op, RolesOp)]
        if len(roles) != 1:
            self._run(block, ops, [State(kernel.furthest)])
            return
        place = ops.index(roles[0])
        walker = Walker(kernel, block, ops[:place], self._findings)
        states = walker.run(State(kernel.furthest))
        for op in ops[place + 1 :]:
            if kernel.ops.is_followed(op):
                self._findings.unknown(op, f"it comes after the {RolesOp.OPERATION_NAME}")
        for state in states:
            if state.turns:
                self._findings.unknown(roles[0], "rings are used outside of it", state)
            if state.writes or not all(read.met for read in state.reads):
                reason = "no barrier comes after the accesses before it"
                self._findings.unknown(roles[0], reason, state)
        first = 0
        for role in roles[0].roles:
            own = role.warpgroups.value
            agent = Agent(role, own, own == self._count, first == 0, kernel.values.warpgroup(role))
            self._run(agent, kernel.ops.within(role), states)
            first += own

    def _run(self, agent: Agent, ops: list[Any], states: list[State]) -> None:
        """Follows an agent; threads of several warps, if they do all that there is, run by
        themselves."""
        elects = [e for op in ops if len(op.regions) for e in walk(op, ElectOp)]
        warps = sorted({elect.warp for elect in elects})
        parts = [(agent, ops)]
        if len(warps) > 1:
            if all(op in elects for op in ops if self._kernel.ops.is_followed(op)):
                parts = [_threads_of_warp(agent, elects, warp) for warp in warps]
            else:
                reason = "threads of several warps run beside the others"
                self._findings.unknown(elects[-1], reason)
        for each, own in parts:
            walker = Walker(self._kernel, each, own, self._findings)
            ends = [end for state in states for end in walker.run(state.copy())]
            self._kernel.ends[each] = ends


def _threads_of_warp(agent: Agent, elects: list[Any], warp: int) -> tuple[Agent, list[Any]]:
    """The elected threads of a warp, and what they do."""
    own = [elect for elect in elects if elect.warp == warp]
    return Agent(own[0], agent.warpgroups, agent.whole, agent.first, agent.symbol), own
