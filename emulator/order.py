"""What happens before what: vector clocks of a block's threads (PTX ISA 8, causality order)."""

from __future__ import annotations

import numpy as np

from .lanes import Lanes

#: An epoch that has not come.
NEVER = np.iinfo(np.int32).max


class Order:
    """For each thread, how much of the other threads' past it has synchronised with.

    A thread's epoch counts its releases and fences. Thread `u` sees what thread `t` did in epoch `e`
    if `e <= seen[u, t]`; operations of the async proxy (wgmma, bulk copies) that `u` issues see it if
    `e <= proxied[u, t]`, for which a proxy fence lies somewhere on the way from `t` to `u`.

    Attributes:
        epoch: int32[threads].
        seen: int32[threads, threads].
        proxied: int32[threads, threads].
    """

    def __init__(self, threads: int) -> None:
        self.epoch = np.zeros(threads, np.int32)
        self.seen = np.full((threads, threads), -1, np.int32)
        self.proxied = np.full((threads, threads), -1, np.int32)
        np.fill_diagonal(self.seen, 0)

    def _advance(self, threads: np.ndarray) -> None:
        self.epoch[threads] += 1
        self.seen[threads, threads] = self.epoch[threads]

    def synchronise(self, threads: np.ndarray) -> None:
        """A barrier: each of these threads sees what all of them saw."""
        if len(threads) == len(self.epoch):
            # Nobody knows more of a thread than the thread itself.
            self.seen[:] = self.epoch
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

    def horizon(self, lanes: Lanes) -> tuple[np.ndarray, np.ndarray]:
        """The last epoch of each thread that all of `lanes` see: in general, and by the async proxy."""
        return self.seen[lanes.index].min(axis=0), self.proxied[lanes.index].min(axis=0)
