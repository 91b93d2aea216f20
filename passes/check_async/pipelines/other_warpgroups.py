"""What the warpgroups of a partition access of each other's bytes."""

from __future__ import annotations

from ....dialect.ops import FenceOp, WarpgroupBarrierOp
from ...order.needs import Need, listed
from ...order.report import at
from .findings import Findings, Order
from .kernel import Kernel
from .state import Exposed, State
from .threads import Threads


class OtherWarpgroups:
    """Compares the accesses of the warpgroups of a partition, which run the same ops on their own.

    Args:
        kernel: the function.
        threads: those of the partition.
        findings: receives remarks.
    """

    def __init__(self, kernel: Kernel, threads: Threads, findings: Findings) -> None:
        self._kernel = kernel
        self._threads = threads
        self._findings = findings

    def expose(self, access: Exposed, state: State) -> None:
        """Check that an access comes after those of the same bytes by other warpgroups, which execute it,
        too, and note that others may not come after it."""
        if (self._threads.partition, access.rectangle.pipeline_side) in self._kernel.use.turns:
            return
        for earlier in (access, *self._kernel.in_order(state.exposed - {access})):
            self._check(earlier, access, state)
        state.exposed |= {access}

    def check_branches(self, one: frozenset[Exposed], other: frozenset[Exposed]) -> None:
        """Check accesses in two branches, of which each warpgroup of the partition takes one."""
        for first in self._kernel.in_order(one):
            for second in self._kernel.in_order(other):
                self._check(first, second, None)

    def _check(self, earlier: Exposed, later: Exposed, state: State | None) -> None:
        partition = self._threads.partition
        writes = [each for each in (later, earlier) if each.by is None]
        is_past = earlier.past_barrier and not later.is_async
        if not writes or is_past or not earlier.rectangle.has_same_pipeline(later.rectangle):
            return
        assert partition.symbol is not None
        if earlier.rectangle.is_disjoint_between(later.rectangle, partition.symbol):
            return
        other = earlier if writes[0] is later else later
        reason = (
            f"another warpgroup of its partition may access the same bytes by the {at(other.op)}"
        )
        if earlier is later or state is None or partition.warpgroups is None or earlier.in_bulk:
            self._findings.remark(writes[0].op, reason, state)
            return
        needs = self._needs_between(earlier, later, partition.warpgroups, state)
        order = Order(earlier.op, needs, before=later.op)
        reason = f"{reason}; put {listed(needs)} between them"
        self._findings.remark(writes[0].op, reason, state, order)

    def _needs_between(
        self, earlier: Exposed, later: Exposed, warpgroups: int, state: State
    ) -> tuple[Need, ...]:
        """Return what orders accesses of several warpgroups of a partition."""
        waits = [
            need
            for read in self._kernel.in_order(state.reads)
            if read.op == earlier.op and earlier.by is not None
            for need in read.missing
        ]
        fences = [Need(FenceOp)] if earlier.by is None and later.is_async else []
        barrier = Need(WarpgroupBarrierOp, warpgroups=warpgroups)
        return (*dict.fromkeys(waits), *fences, barrier)
