"""What the threads of a cluster know of the `tcgen05` instructions that others have issued."""

from __future__ import annotations

import numpy as np

from ..cluster import Cluster
from ..rules.order import Order

_KEY = "tensor order"


class TensorOrder:
    """Threads have their numbers in the cluster.

    Attributes:
        after: as `Order.seen`, what each thread had seen at its last `fence::after_thread_sync`.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self.after = np.full_like(order.seen, -1)
        self._columns: dict[int, int] = {}

    def column(self, thread: int) -> int:
        """The column, in `Order`, of the commits of a thread that issues mma."""
        if thread not in self._columns:
            self._columns[thread] = self._order.column(("tcgen05", thread))
        return self._columns[thread]

    def commit(self, thread: int) -> tuple[np.ndarray, np.ndarray]:
        """`tcgen05.commit` of a thread: what its arrival passes on, as `Order.release`. It comes when
        all is done, so that is also what the thread knew before."""
        known = self._order.release(np.array([thread]))
        if thread not in self._columns:
            return known
        return self._order.complete(self._columns[thread], *known)

    def fence_after(self, threads: np.ndarray) -> None:
        """`tcgen05.fence::after_thread_sync` of some threads."""
        self.after[threads] = self._order.seen[threads]


def of_cluster(cluster: Cluster) -> TensorOrder:
    """What is known in a cluster."""
    if _KEY not in cluster.state:
        cluster.state[_KEY] = TensorOrder(cluster.order)
    return cluster.state[_KEY]
