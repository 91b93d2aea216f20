"""Kernels whose roles wait for each other by rings: each role by itself, and then all together."""

from typing import Any

from ....dialect.diagnostics import remark
from ....dialect.ops.roles import role_warpgroups, roles_of
from ...kernel import threads_of
from .findings import Findings
from .kernel import Agent, Kernel, within
from .state import Reader, State
from .totals import check_totals
from .walker import Walker, ops_in

#: Threads of a warpgroup.
_WARPGROUP = 128


def check_rings(function: Any, block: Any) -> None:
    """Checks a function with rings or roles; what is neither proven nor wrong is said in remarks.

    Raises:
        OpError: if it is wrong.
    """
    kernel, findings = Kernel.of(function), Findings()
    _follow(kernel, ops_in(block), findings)
    if not findings.unproven:
        check_totals(kernel, findings)
    for op, reason in findings.unproven:
        remark(op.location, f"cannot prove that accesses of tiles are in order: {reason}")


def _follow(kernel: Kernel, ops: list[Any], findings: Findings) -> None:
    """Follows what the block does, and from its `smem.roles` on what each role does."""
    threads = threads_of(kernel.function)
    whole = None if threads is None or threads % _WARPGROUP else threads // _WARPGROUP
    roles = [op for op in ops if op.name == "smem.roles"]
    block = Agent(kernel.function, whole, True, True, None)
    if len(roles) != 1:
        state = State(kernel.furthest)
        kernel.ends[block] = Walker(kernel, block, findings).block(ops, state)
        return
    place = ops.index(roles[0])
    walker = Walker(kernel, block, findings)
    states = walker.block(ops[:place], State(kernel.furthest))
    for op in ops[place + 1 :]:
        if walker.is_followed(op):
            findings.unknown(op, f"it comes after the smem.roles")
    for state in states:
        if state.turns:
            findings.unknown(roles[0], "rings are used outside of it", state)
        if state.writes or any(read.by is not Reader.THREADS for read in state.reads):
            findings.unknown(roles[0], "tiles are accessed before it that no barrier follows", state)
    first = 0
    for role in (role.operation for role in roles_of(roles[0])):
        count = role_warpgroups(role)
        symbol = kernel.values.warpgroup(role)
        agent = Agent(role, count, count == whole, first == 0, symbol)
        body = ops_in(role.regions[0].blocks[0])
        each = Walker(kernel, agent, findings)
        kernel.ends[agent] = [end for state in states for end in each.block(body, state.copy())]
        first += count
