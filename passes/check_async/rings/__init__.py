"""Kernels whose roles wait for each other by rings: each role by itself, and then all together."""

from typing import Any

from ....dialect.diagnostics import remark
from ....dialect.ops.roles import elected_warp, role_warpgroups, roles_of
from ....ir.kernel import threads_of
from ....layout.fragments import WARPGROUP
from .contents import check_contents, check_tiles
from .findings import Findings
from .kernel import Agent, Kernel, within
from .state import State
from .totals import check_totals
from .walker import Walker, is_followed, ops_in


def check_rings(function: Any, block: Any) -> None:
    """Checks a function with rings or roles; what is neither proven nor wrong is said in remarks.

    Raises:
        OpError: if it is wrong.
    """
    kernel, findings = Kernel.of(function), Findings()
    _follow(kernel, ops_in(block), findings)
    check_contents(kernel)
    if not findings.unproven:
        check_totals(kernel, findings)
        check_tiles(kernel, findings)
    for op, reason in findings.unproven:
        remark(op.location, f"cannot prove that accesses of tiles are in order: {reason}")


def _follow(kernel: Kernel, ops: list[Any], findings: Findings) -> None:
    """Follows what the block does, and from its `smem.roles` on what each role does."""
    threads = threads_of(kernel.function)
    count = None if threads is None or threads % WARPGROUP else threads // WARPGROUP
    roles = [op for op in ops if op.name == "smem.roles"]
    block = Agent(kernel.function, count, True, True, None)
    if len(roles) != 1:
        _run(kernel, block, ops, [State(kernel.furthest)], findings)
        return
    place = ops.index(roles[0])
    states = Walker(kernel, block, ops[:place], findings).run(State(kernel.furthest))
    for op in ops[place + 1 :]:
        if is_followed(op):
            findings.unknown(op, "it comes after the smem.roles")
    for state in states:
        if state.turns:
            findings.unknown(roles[0], "rings are used outside of it", state)
        if state.writes or state.reads:
            findings.unknown(roles[0], "no barrier comes after the accesses before it", state)
    first = 0
    for role in (role.operation for role in roles_of(roles[0])):
        own = role_warpgroups(role.opview)
        agent = Agent(role, own, own == count, first == 0, kernel.values.warpgroup(role))
        body = ops_in(role.regions[0].blocks[0])
        _run(kernel, agent, body, states, findings)
        first += own


def _run(
    kernel: Kernel, agent: Agent, ops: list[Any], states: list[State], findings: Findings
) -> None:
    """Follows an agent; threads of several warps, if they do all that there is, run by themselves."""
    elects = [e for op in ops for e in (op, *within(op)) if e.name == "smem.elect"]
    warps = sorted({elected_warp(elect.opview) for elect in elects})
    parts = [(agent, ops)]
    if len(warps) > 1:
        if all(op in elects for op in ops if is_followed(op)):
            parts = [_threads_of_warp(agent, elects, warp) for warp in warps]
        else:
            findings.unknown(elects[-1], "threads of several warps run beside the others")
    for each, own in parts:
        walker = Walker(kernel, each, own, findings)
        kernel.ends[each] = [end for state in states for end in walker.run(state.copy())]


def _threads_of_warp(agent: Agent, elects: list[Any], warp: int) -> tuple[Agent, list[Any]]:
    """The elected threads of a warp, and what they do."""
    own = [elect for elect in elects if elected_warp(elect.opview) == warp]
    return Agent(own[0], agent.warpgroups, agent.whole, agent.first, agent.symbol), own
