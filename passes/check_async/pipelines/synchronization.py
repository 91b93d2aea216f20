"""What orders the accesses of a partition's threads: waits, groups, fences and barriers."""

from __future__ import annotations

from ....bindings.irtypes import Op
from ....dialect.effects import Completion, Scope
from ....dialect.ops import SemaphoreArriveOp
from ...order.effects import pending_of
from .findings import Findings
from .partition import ActiveThreads
from .state import PartitionState, Reader

#: The scopes of barriers that are followed.
_BARRIERS = (Scope.WARPGROUP, Scope.CTA, Scope.CLUSTER)

#: The reads that a wait for groups completes.
_READERS = {Completion.WGMMA_GROUP: Reader.MMA, Completion.BULK_GROUP: Reader.BULK}


class Synchronization:
    """The ops by which a partition orders its accesses.

    Args:
        threads: the threads that execute them.
        findings: receives errors and remarks.
    """

    def __init__(self, threads: ActiveThreads, findings: Findings) -> None:
        self._threads = threads
        self._findings = findings

    @staticmethod
    def follows(op: Op) -> bool:
        """Whether all waits, commits and barriers of an op can be followed."""
        effects = op.effects
        return (
            effects.awaits in (None, *_READERS)
            and effects.commits in (None, Completion.BULK_GROUP)
            and effects.barrier in (None, *_BARRIERS)
        )

    def await_groups(self, op: Op, state: PartitionState) -> None:
        """Follow the wait for groups of an op, if it has one."""
        reader = _READERS.get(op.effects.awaits)
        if reader is Reader.MMA or (
            reader is Reader.BULK and self._is_by_storing_threads(op, state)
        ):
            state.wait(reader, pending_of(op))

    def order_accesses(self, op: Op, state: PartitionState) -> None:
        """Follow the commit of a group, the fence, and the barrier of an op, in this order."""
        effects = op.effects
        if effects.commits is not None and self._is_by_storing_threads(op, state):
            state.start_group(Reader.BULK)
        if effects.fences and self._threads.scope:
            # The fence of one elected thread is not followed.
            state.known = False
        elif effects.fences:
            state.fence()
        if effects.barrier is Scope.WARPGROUP and getattr(op, "warpgroups", 1) > 1:
            self._barrier_of_groups(op, state)
        elif effects.barrier is Scope.WARPGROUP:
            self._warpgroup_barrier(op, state)
        elif effects.barrier is not None:
            self.cta_barrier(op, state)

    def _is_by_storing_threads(self, op: Op, state: PartitionState) -> bool:
        """Whether the threads that wait for bulk stores, or commit them, are those that issued them."""
        scope = self._threads.scope
        if self._threads.partition.warpgroups == 1 or not scope:
            return True
        stores = [read for read in state.reads if read.reader is Reader.BULK]
        if all(read.scope == scope for read in stores):
            return True
        reason = "it may be executed by other threads than the bulk stores"
        self._findings.remark(op, reason, state)
        return False

    def _warpgroup_barrier(self, op: Op, state: PartitionState) -> None:
        partition = self._threads.partition
        if self._threads.scope:
            reason = "one thread executes it, but whole warpgroups must"
            self._findings.remark(op, reason, state)
        elif partition.symbol is None and partition.warpgroups != 1:
            if isinstance(op, SemaphoreArriveOp):
                # It orders accesses of global memory. For tiles, no order is assumed.
                return
            reason = "it synchronizes the threads of one warpgroup, but those of all may write"
            self._findings.remark(op, reason, state)
        else:
            state.barrier()

    def _barrier_of_groups(self, op: Op, state: PartitionState) -> None:
        """Follow a barrier of groups of several warpgroups."""
        partition = self._threads.partition
        if self._threads.scope or self._threads.is_divergent:
            reason = f"not all threads of {op.warpgroups} warpgroups execute it"
            self._findings.remark(op, reason, state)
        elif op.warpgroups == partition.warpgroups:
            state.barrier_of_all()
        elif partition.symbol is not None:
            state.barrier()

    def cta_barrier(self, op: Op, state: PartitionState) -> None:
        """Follow a barrier of the CTA, such as `gpu.barrier`."""
        if self._threads.scope or self._threads.is_divergent or not self._threads.partition.whole:
            reason = "not all threads of the CTA execute it"
            self._findings.remark(op, reason, state)
        else:
            state.barrier()
