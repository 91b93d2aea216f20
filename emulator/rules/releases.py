"""Releases and acquires by atomics in global memory: the order between threads of different clusters (PTX
ISA 8.8 to 8.10).

Clusters run one after the other. A thread knows of another cluster the last epoch of each thread there
whose accesses happen before its own: a row of that cluster's `VectorClocks.seen`.
"""

from __future__ import annotations

import numpy as np

from .vector_clocks import VectorClocks

#: For each cluster, by its number, a row of `seen` and of `proxied`: the accesses that happen before a
#: release.
ClocksByCluster = dict[int, np.ndarray]


class Releases:
    """The clocks that atomics have released, and those that threads of the running cluster have acquired.

    An atomic without an ordering continues the release that it overwrites (the chain of PTX ISA 8.4,
    observation order), and releases and acquires itself with a fence before it and after it.
    """

    def __init__(self) -> None:
        self._cluster = -1
        self._clocks: VectorClocks | None = None
        # The clocks that are released at an address.
        self._released: dict[int, ClocksByCluster] = {}
        # The least of these addresses, and the end of the last.
        self._span = np.iinfo(np.int64).max, 0
        # Acquires: the thread, its epoch, and the clocks.
        self._acquired: list[tuple[int, int, ClocksByCluster]] = []
        # The clocks that each thread has released by a fence, and those that its atomics have read before
        # a fence.
        self._fenced: dict[int, ClocksByCluster] = {}
        self._read: dict[int, ClocksByCluster] = {}

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
        previous = self._released.get(address, {})
        if acquires:
            self._acquire(thread, previous)
        elif previous:
            self._read[thread] = _join(self._read.get(thread, {}), previous)
        released = self._release(thread) if releases else self._fenced.get(thread, {})
        if previous or released:
            self._released[address] = _join(previous, released)
            low, high = self._span
            self._span = min(low, address), max(high, address + 1)

    def fence(self, threads: np.ndarray) -> None:
        """Note a fence of threads that acquires and releases."""
        for thread in map(int, threads):
            if thread in self._read:
                self._acquire(thread, self._read.pop(thread))
            self._fenced[thread] = self._release(thread)

    def overwrite(self, addresses: np.ndarray, size: int) -> None:
        """Note ordinary writes of `size` bytes: clocks that were released there are lost."""
        low, high = self._span
        if not self._released or (addresses >= high).all() or (addresses + size <= low).all():
            return
        for address in [
            a for a in self._released if ((addresses <= a) & (a < addresses + size)).any()
        ]:
            del self._released[address]

    def happens_before(
        self, threads: np.ndarray, cluster: np.ndarray, thread: np.ndarray, epoch: np.ndarray
    ) -> np.ndarray:
        """Return bool[threads, writes]: which writes of other clusters happen before the next accesses
        of threads.

        Args:
            threads: the threads that access memory.
            cluster, thread, epoch: of each write.
        """
        assert self._clocks is not None
        ordered = np.zeros((len(threads), len(thread)), bool)
        for acquirer, since, clocks in self._acquired:
            holds = self._clocks.seen[threads, acquirer] >= since
            if holds.any():
                ordered |= holds[:, None] & _is_known(clocks, cluster, thread, epoch)
        return ordered

    def _acquire(self, thread: int, released: ClocksByCluster) -> None:
        assert self._clocks is not None
        others = {
            cluster: clocks for cluster, clocks in released.items() if cluster != self._cluster
        }
        if others:
            self._acquired.append((thread, int(self._clocks.epoch[thread]), others))
        if self._cluster in released:
            self._clocks.acquire(np.array([thread]), *released[self._cluster])

    def _release(self, thread: int) -> ClocksByCluster:
        assert self._clocks is not None
        acquired = [
            clocks
            for acquirer, since, clocks in self._acquired
            if self._clocks.seen[thread, acquirer] >= since
        ]
        released = np.stack(self._clocks.release(np.array([thread])))
        return _join(*acquired, {self._cluster: released})


def _join(*parts: ClocksByCluster) -> ClocksByCluster:
    """Return the maximum of the clocks of each cluster."""
    joined: ClocksByCluster = {}
    for part in parts:
        for cluster, clocks in part.items():
            present = joined.setdefault(cluster, clocks)
            if present is not clocks:
                joined[cluster] = np.maximum(present, clocks)
    return joined


def _is_known(
    clocks: ClocksByCluster, cluster: np.ndarray, thread: np.ndarray, epoch: np.ndarray
) -> np.ndarray:
    """Return bool[writes]: which writes, by cluster, thread and epoch, the clocks include."""
    is_known = np.zeros(len(thread), bool)
    for number in np.unique(cluster):
        if int(number) in clocks:
            in_cluster = cluster == number
            seen, _ = clocks[int(number)]
            is_known[in_cluster] = epoch[in_cluster] <= seen[thread[in_cluster]]
    return is_known
