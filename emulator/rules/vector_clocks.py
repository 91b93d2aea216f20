"""What happens before what: vector clocks of a cluster's threads (PTX ISA 8, causality order)."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..errors import EmulationError

#: An epoch that has not come.
NEVER = np.iinfo(np.int32).max


class VectorClocks:
    """For each thread of a cluster, how much of the past of the others it has synchronised with.

    A thread's epoch counts its releases and fences. Thread `u` sees what thread `t` did in epoch `e`
    if `e <= seen[u, t]`; operations of the async proxy (wgmma, bulk copies) that `u` issues see it if
    `e <= proxied[u, t]`, for which a proxy fence lies somewhere on the way from `t` to `u`.

    An mbarrier at which bulk copies complete has a column like a thread. Its epochs are its phases:
    what such a copy writes is written by the mbarrier, and seen by those who see the phase complete.
    So has a thread that issues `tcgen05.mma`, for these. Its epochs are its commits: they are seen by
    those who see a phase complete in which they arrived.

    Attributes:
        threads: how many there are.
        epoch: int32[threads + columns].
        seen: int32[threads, threads + columns].
        proxied: int32[threads, threads + columns].
    """

    def __init__(self, threads: int, columns: int = 0) -> None:
        self.threads = threads
        self.epoch = np.zeros(threads + columns, np.int32)
        self.seen = np.full((threads, threads + columns), -1, np.int32)
        self.proxied = np.full((threads, threads + columns), -1, np.int32)
        np.fill_diagonal(self.seen, 0)
        self._columns: dict[Hashable, int] = {}

    def _advance(self, threads: np.ndarray) -> None:
        self.epoch[threads] += 1
        self.seen[threads, threads] = self.epoch[threads]

    def synchronise(self, threads: np.ndarray) -> None:
        """A barrier: each of these threads sees what all of them saw."""
        if len(threads) == self.threads:
            # Nobody knows more of a thread than the thread itself.
            self.seen[:, : self.threads] = self.epoch[: self.threads]
            self.seen[:, self.threads :] = self.seen[:, self.threads :].max(axis=0)
            self.proxied[:] = self.proxied.max(axis=0)
        else:
            self.seen[threads] = self.seen[threads].max(axis=0)
            self.proxied[threads] = self.proxied[threads].max(axis=0)
        self._advance(threads)

    def fence(self, threads: np.ndarray) -> None:
        """A proxy fence: what these threads have seen is visible to what they make the async proxy
        do, and to whom they synchronise with."""
        self.proxied[threads] = self.seen[threads]
        self._advance(threads)

    def release(self, threads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What these threads pass on by an arrival: rows of `seen` and of `proxied`, joined."""
        passed = self.seen[threads].max(axis=0), self.proxied[threads].max(axis=0)
        self._advance(threads)
        return passed

    def acquire(self, threads: np.ndarray, seen: np.ndarray, proxied: np.ndarray) -> None:
        """These threads see what was passed on."""
        self.seen[threads] = np.maximum(self.seen[threads], seen)
        self.proxied[threads] = np.maximum(self.proxied[threads], proxied)

    def seen_by_all(self, threads: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The last epochs that all of these threads see: in general, and by the async proxy."""
        return self.seen[threads].min(axis=0), self.proxied[threads].min(axis=0)

    # -- what is asynchronous ----------------------------------------------------------------------

    def column(self, agent: Hashable) -> int:
        """The column of an mbarrier, or of a thread's `tcgen05.mma`.

        Raises:
            EmulationError: if there are more of them than columns.
        """
        found = self._columns.setdefault(agent, self.threads + len(self._columns))
        if found >= len(self.epoch):
            raise EmulationError(
                f"there are more than {len(self.epoch) - self.threads} mbarriers at which bulk copies "
                "complete and threads that issue tcgen05.mma; the emulator knows no more"
            )
        return found

    def complete(
        self, column: int, seen: np.ndarray, proxied: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """An mbarrier's phase, or a thread's `tcgen05.mma`, are complete: what is passed on, with what
        they wrote and read. They do so by the async proxy, so no fence is needed."""
        passed = seen.copy(), proxied.copy()
        for clock in passed:
            clock[column] = self.epoch[column]
        self.epoch[column] += 1
        return passed
