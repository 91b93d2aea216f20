"""Releases and acquires by atomics in global memory: the order between threads of different clusters (PTX
ISA 8.8 to 8.10).

Clusters run one after the other. What a thread knows of another cluster is the last epoch of each thread
there whose accesses happen before its own: a row of that cluster's `VectorClocks.seen`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .vector_clocks import VectorClocks

#: What happened before a release: for each cluster, by its number, the rows of `seen` and `proxied`.
Known = dict[int, np.ndarray]


class Releases:
    """What atomics have released, and what the threads of the running cluster have acquired.

    An atomic without an ordering continues the release that it overwrites (the chain of PTX ISA 8.4,
    observation order), and releases and acquires itself with a fence before it and after it.
    """

    def __init__(self) -> None:
        self._cluster = -1
        self._clocks: VectorClocks | None = None
        # What is released at an address.
        self._at: dict[int, Known] = {}
        # The least of these addresses, and the end of the last.
        self._span = np.iinfo(np.int64).max, 0
        # Acquires: the thread, its epoch, and what it knows from then on.
        self._acquired: list[tuple[int, int, Known]] = []
        # What each thread has released by a fence, and what it has read by atomics before a fence.
        self._fenced: dict[int, Known] = {}
        self._read: dict[int, Known] = {}

    def begin(self, clocks: VectorClocks) -> None:
        """Begin the next cluster."""
        self._cluster += 1
        self._clocks = clocks
        self._acquired, self._fenced, self._read = [], {}, {}

    def atomic(self, thread: int, address: int, acquires: bool, releases: bool) -> None:
        """Note an atomic of a thread that reads and writes an address.

        Args:
            thread: its number in the cluster.
            address: of the element.
            acquires, releases: the ordering; neither for a relaxed atomic.
        """
        found = self._at.get(address, {})
        if acquires:
            self._acquire(thread, found)
        elif found:
            self._read[thread] = _joined(self._read.get(thread, {}), found)
        released = self._release(thread) if releases else self._fenced.get(thread, {})
        if found or released:
            self._at[address] = _joined(found, released)
            low, high = self._span
            self._span = min(low, address), max(high, address + 1)

    def fence(self, threads: np.ndarray) -> None:
        """Note a fence of threads that acquires and releases."""
        for thread in map(int, threads):
            if thread in self._read:
                self._acquire(thread, self._read.pop(thread))
            self._fenced[thread] = self._release(thread)

    def overwrite(self, addresses: np.ndarray, size: int) -> None:
        """Note ordinary writes of `size` bytes: what was released there is lost."""
        low, high = self._span
        if not self._at or (addresses >= high).all() or (addresses + size <= low).all():
            return
        for address in [a for a in self._at if ((addresses <= a) & (a < addresses + size)).any()]:
            del self._at[address]

    def known(
        self, threads: np.ndarray, cluster: np.ndarray, thread: np.ndarray, epoch: np.ndarray
    ) -> np.ndarray:
        """Return bool[threads, writes]: which writes of other clusters happen before the next accesses
        of threads.

        Args:
            threads: the threads that access memory.
            cluster, thread, epoch: of each write.
        """
        assert self._clocks is not None
        found = np.zeros((len(threads), len(thread)), bool)
        for by, since, known in self._acquired:
            holds = self._clocks.seen[threads, by] >= since
            if holds.any():
                found |= holds[:, None] & _covered(known, cluster, thread, epoch)
        return found

    def _acquire(self, thread: int, found: Known) -> None:
        assert self._clocks is not None
        others = {cluster: known for cluster, known in found.items() if cluster != self._cluster}
        if others:
            self._acquired.append((thread, int(self._clocks.epoch[thread]), others))
        if self._cluster in found:
            self._clocks.acquire(np.array([thread]), *found[self._cluster])

    def _release(self, thread: int) -> Known:
        assert self._clocks is not None
        held = [
            known for by, since, known in self._acquired if self._clocks.seen[thread, by] >= since
        ]
        own = np.stack(self._clocks.release(np.array([thread])))
        return _joined(*held, {self._cluster: own})


def _joined(*each: Known) -> Known:
    """Join what is known."""
    found: Known = {}
    for known in each:
        for cluster, clocks in known.items():
            mine = found.setdefault(cluster, clocks)
            if mine is not clocks:
                found[cluster] = np.maximum(mine, clocks)
    return found


def _covered(
    known: Known, cluster: np.ndarray, thread: np.ndarray, epoch: np.ndarray
) -> np.ndarray:
    """Return which writes, given by cluster, thread and epoch, are known."""
    covered = np.zeros(len(thread), bool)
    for number in np.unique(cluster):
        if int(number) in known:
            of = cluster == number
            seen, _ = known[int(number)]
            covered[of] = epoch[of] <= seen[thread[of]]
    return covered
