"""Vector clocks of the `tcgen05` instructions of a cluster (PTX ISA 9.7.16.6)."""

from __future__ import annotations

import numpy as np

from ..cta import Cluster
from ..rules.vector_clocks import VectorClocks

_KEY = "tcgen05 clocks"


class Tcgen05Clocks:
    """Vector clocks of commits and of `tcgen05.fence::after_thread_sync`; threads are numbered in the
    cluster.

    Attributes:
        after: like `VectorClocks.seen`, as each thread had it at its last `fence::after_thread_sync`.
    """

    def __init__(self, clocks: VectorClocks) -> None:
        self._clocks = clocks
        self.after = np.full_like(clocks.seen, -1)
        self._columns: dict[int, int] = {}

    def column(self, thread: int) -> int:
        """Return the column in `VectorClocks` of the commits of a thread that issues mma or cp."""
        if thread not in self._columns:
            self._columns[thread] = self._clocks.column(("tcgen05", thread))
        return self._columns[thread]

    def commit(self, thread: int) -> tuple[np.ndarray, np.ndarray]:
        """`tcgen05.commit` of a thread: return the clocks that its arrival releases. The arrival comes
        after all earlier instructions of the thread, so they include the clocks of the thread."""
        released = self._clocks.release(np.array([thread]))
        if thread not in self._columns:
            return released
        return self._clocks.complete(self._columns[thread], *released)

    def fence_after(self, threads: np.ndarray) -> None:
        """`tcgen05.fence::after_thread_sync` of some threads."""
        self.after[threads] = self._clocks.seen[threads]


def tcgen05_clocks_of(cluster: Cluster) -> Tcgen05Clocks:
    """Return the clocks of a cluster."""
    if _KEY not in cluster.state:
        cluster.state[_KEY] = Tcgen05Clocks(cluster.clocks)
    return cluster.state[_KEY]
