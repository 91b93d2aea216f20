"""What orders accesses among the threads of an partition: waits, groups, fences and barriers."""

from __future__ import annotations

from typing import Any

from ....dialect.effects import Completion, Scope
from ..declared import pending_of
from .findings import Findings
from .state import Reader, State
from .threads import Threads

#: Barriers that are followed.
_BARRIERS = (Scope.WARPGROUP, Scope.BLOCK, Scope.CLUSTER)

#: Whose reads a wait for groups waits for.
_READERS = {Completion.WGMMA_GROUP: Reader.MMA, Completion.BULK_GROUP: Reader.BULK}


class Orders:
    """The ops by which an partition orders its accesses.

    Args:
        threads: who executes them.
        findings: takes what is not known.
    """

    def __init__(self, threads: Threads, findings: Findings) -> None:
        self._threads = threads
        self._findings = findings

    @staticmethod
    def follows(op: Any) -> bool:
        """Whether an op orders accesses in ways that are followed, if it orders any."""
        effects = op.effects
        return (
            effects.awaits in (None, *_READERS)
            and effects.commits in (None, Completion.BULK_GROUP)
            and effects.barrier in (None, *_BARRIERS)
        )

    def await_groups(self, op: Any, state: State) -> None:
        """Takes the wait of an op for groups, if it waits."""
        by = _READERS.get(op.effects.awaits)
        if by is Reader.MMA or (by is Reader.BULK and self._is_by_all_that_stored(op, state)):
            state.wait(by, pending_of(op))

    def order(self, op: Any, state: State) -> None:
        """Takes what an op does behind its accesses: closes a group, fences, and meets."""
        effects = op.effects
        if effects.commits is not None and self._is_by_all_that_stored(op, state):
            state.start_group(Reader.BULK)
        if effects.fences and self._threads.scope:
            # What one thread fences is not followed.
            state.known = False
        elif effects.fences:
            state.fence()
        if effects.barrier is Scope.WARPGROUP:
            self._meet_in_warpgroup(op, state)
        elif effects.barrier is not None:
            self.meet_in_block(op, state)

    def _is_by_all_that_stored(self, op: Any, state: State) -> bool:
        """Whether the threads that wait for bulk stores, or close their groups, are those that began
        them."""
        scope = self._threads.scope
        if self._threads.partition.warpgroups == 1 or not scope:
            return True
        stored = [read for read in state.reads if read.by is Reader.BULK]
        if all(read.scope == scope for read in stored):
            return True
        reason = "other threads than those that stored may execute it"
        self._findings.unknown(op, reason, state)
        return False

    def _meet_in_warpgroup(self, op: Any, state: State) -> None:
        partition = self._threads.partition
        if self._threads.scope:
            reason = "one thread executes it, where whole warpgroups must"
            self._findings.unknown(op, reason, state)
        elif partition.symbol is None and partition.warpgroups != 1:
            reason = "only threads of one warpgroup meet, but all may write"
            self._findings.unknown(op, reason, state)
        else:
            state.barrier()

    def meet_in_block(self, op: Any, state: State) -> None:
        """Takes a barrier of the block, such as `gpu.barrier`."""
        if self._threads.scope or not self._threads.partition.whole:
            reason = "not all threads of the block execute it"
            self._findings.unknown(op, reason, state)
        else:
            state.barrier()
