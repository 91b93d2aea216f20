"""Vector clocks of the threads of a cluster: the happens-before order (PTX ISA 8, causality order)."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..errors import EmulationError

#: An epoch that is later than all others.
NEVER = np.iinfo(np.int32).max


class VectorClocks:
    """The vector clocks of the threads of a cluster.

    The epoch of a thread counts its releases and fences. An access of thread `t` in epoch `e` happens
    before the next access of thread `u` if `e <= seen[u, t]`. It happens before operations of the async
    proxy (wgmma, bulk copies) that `u` issues if `e <= proxied[u, t]`: a proxy fence is then between
    both.

    An mbarrier at which bulk copies complete has a column of its own. Its epochs are its phases: a bulk
    copy writes as this mbarrier, in the epoch of the phase. A thread that observes the completion of
    the phase acquires it.

    A thread that issues `tcgen05.mma` or `tcgen05.cp` has a second column for them. Its epochs are the
    commits. A thread that observes the completion of a phase at which a commit arrived acquires it.

    Attributes:
        threads: number of threads.
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
        """Join the clocks of threads, as a barrier does."""
        if len(threads) == self.threads:
            # No clock of a thread is later than the thread's own epoch.
            self.seen[:, : self.threads] = self.epoch[: self.threads]
            self.seen[:, self.threads :] = self.seen[:, self.threads :].max(axis=0)
            self.proxied[:] = self.proxied.max(axis=0)
        else:
            rows = _adjacent(threads)
            self.seen[rows] = self.seen[rows].max(axis=0)
            self.proxied[rows] = self.proxied[rows].max(axis=0)
        self._advance(threads)

    def fence(self, threads: np.ndarray) -> None:
        """A proxy fence of threads: the accesses that they have seen also happen before operations of
        the async proxy, their own and those of threads that synchronise with them."""
        rows = _adjacent(threads)
        self.proxied[rows] = self.seen[rows]
        self._advance(threads)

    def release(self, threads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the clocks that an arrival of threads releases: their rows of `seen` and of `proxied`,
        joined."""
        rows = _adjacent(threads)
        released = self.seen[rows].max(axis=0), self.proxied[rows].max(axis=0)
        self._advance(threads)
        return released

    def acquire(self, threads: np.ndarray, seen: np.ndarray, proxied: np.ndarray) -> None:
        """Join released clocks into those of threads."""
        rows = _adjacent(threads)
        for clocks, released in ((self.seen, seen), (self.proxied, proxied)):
            if isinstance(rows, slice):
                np.maximum(clocks[rows], released, out=clocks[rows])
            else:
                clocks[rows] = np.maximum(clocks[rows], released)

    def seen_by_all(self, threads: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the last epochs that all of these threads have seen: in general, and by the async
        proxy."""
        return self.seen[threads].min(axis=0), self.proxied[threads].min(axis=0)

    # -- asynchronous operations -------------------------------------------------------------------

    def column(self, key: Hashable) -> int:
        """Return the column of an mbarrier, or of a thread's `tcgen05` instructions, by its key.

        Raises:
            EmulationError: if no column is left.
        """
        column = self._columns.setdefault(key, self.threads + len(self._columns))
        if column >= len(self.epoch):
            raise EmulationError(
                f"there are more than {len(self.epoch) - self.threads} mbarriers at which bulk copies "
                "complete and threads that issue tcgen05.mma; the emulator knows no more"
            )
        return column

    def complete(
        self, column: int, seen: np.ndarray, proxied: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Complete the phase of an mbarrier, or commit a thread's `tcgen05` instructions. Return the
        clocks that this releases: the given ones, and the column. The async proxy makes these accesses,
        so that no proxy fence is needed after them."""
        released = seen.copy(), proxied.copy()
        for clock in released:
            clock[column] = self.epoch[column]
        self.epoch[column] += 1
        return released


def _adjacent(threads: np.ndarray) -> slice | np.ndarray:
    """Return threads in ascending order as a slice if they are adjacent: their rows are then no copy."""
    first, last = int(threads[0]), int(threads[-1])
    return slice(first, last + 1) if last - first + 1 == len(threads) else threads
