"""What the threads of a cluster know of the `tcgen05` instructions that others have issued."""

from __future__ import annotations

import numpy as np

from ..cluster import Cluster
from ..rules.vector_clocks import VectorClocks

_KEY = "tcgen05 clocks"


class Tcgen05Clocks:
    """Threads have their numbers in the cluster.

    Attributes:
        after: as `VectorClocks.seen`, what each thread had seen at its last `fence::after_thread_sync`.
    """

    def __init__(self, order: VectorClocks) -> None:
        self._clocks = order
        self.after = np.full_like(order.seen, -1)
        self._columns: dict[int, int] = {}

    def column(self, thread: int) -> int:
        """The column, in `VectorClocks`, of the commits of a thread that issues mma."""
        if thread not in self._columns:
            self._columns[thread] = self._clocks.column(("tcgen05", thread))
        return self._columns[thread]

    def commit(self, thread: int) -> tuple[np.ndarray, np.ndarray]:
        """`tcgen05.commit` of a thread: what its arrival passes on, as `VectorClocks.release`. It comes when
        all is done, so that is also what the thread knew before."""
        known = self._clocks.release(np.array([thread]))
        if thread not in self._columns:
            return known
        return self._clocks.complete(self._columns[thread], *known)

    def fence_after(self, threads: np.ndarray) -> None:
        """`tcgen05.fence::after_thread_sync` of some threads."""
        self.after[threads] = self._clocks.seen[threads]


def of_cluster(cluster: Cluster) -> Tcgen05Clocks:
    """What is known in a cluster."""
    if _KEY not in cluster.state:
        cluster.state[_KEY] = Tcgen05Clocks(cluster.clocks)
    return cluster.state[_KEY]
