"""nvvm: the barrier of a cluster (PTX ISA, barrier.cluster), and addresses in the shared memory of its
CTAs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cta import Cluster, ConvergentThreads
from ..errors import Stop, ViolationKind
from ..kernel import Op
from ..memory import RANK_SHIFT, SHARED
from ..registry import executes
from ..warps import whole_warps

_KEY = "barrier"


class _ClusterBarrier:
    """The barrier of a cluster: it completes when all threads that have not returned have arrived."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        threads = cluster.clocks.threads
        # How often each thread has arrived, how often it has passed, and how many phases are complete.
        self._arrivals = np.zeros(threads, np.int32)
        self._waits = np.zeros(threads, np.int32)
        self._phase = 0
        nothing = np.full(len(cluster.clocks.epoch), -1, np.int32)
        self._seen = self._proxied = nothing
        self._passed = nothing, nothing
        for cta in cluster.ctas:
            cta.at_return.append(self._pass_if_complete)

    def arrive(self, convergent: ConvergentThreads, releases: bool) -> None:
        """Make threads arrive.

        Args:
            convergent: the threads.
            releases: whether the arrival has release semantics.
        """
        threads = convergent.threads
        if (self._arrivals[threads] > self._waits[threads]).any():
            self._report_misuse(convergent, "again before it has waited (nvvm.cluster.wait)")
        self._arrivals[threads] += 1
        if releases:
            seen, proxied = self._cluster.clocks.release(threads)
            self._seen = np.maximum(self._seen, seen)
            self._proxied = np.maximum(self._proxied, proxied)
        self._pass_if_complete()

    def wait(self, convergent: ConvergentThreads) -> None:
        """Make threads wait for the arrivals of all threads."""
        threads = convergent.threads
        if (self._arrivals[threads] == self._waits[threads]).any():
            self._report_misuse(convergent, "never before it waits")
        phase = int(self._arrivals[threads].max())
        if self._phase < phase:
            missing = int((self._alive() & (self._arrivals < phase)).sum())
            convergent.wait(
                lambda: self._phase >= phase,
                f"the cluster's barrier, at which {missing} threads have not arrived",
                again=True,
            )
            return
        self._waits[threads] += 1
        self._cluster.clocks.acquire(threads, *self._passed)

    def _pass_if_complete(self) -> None:
        """Begin the next phase if all threads that have not returned have arrived."""
        alive = self._alive()
        if alive.any() and (self._arrivals[alive] > self._phase).all():
            self._phase += 1
            self._passed = self._seen, self._proxied

    def _alive(self) -> np.ndarray:
        return np.concatenate([cta.alive for cta in self._cluster.ctas])

    def _report_misuse(self, convergent: ConvergentThreads, when: str) -> None:
        message = f"a thread of {convergent.lanes} arrives at the cluster's barrier {when}"
        convergent.cta.report_at(convergent, ViolationKind.BARRIER, message)
        raise Stop


def _barrier_of(cluster: Cluster) -> _ClusterBarrier:
    if _KEY not in cluster.state:
        cluster.state[_KEY] = _ClusterBarrier(cluster)
    return cluster.state[_KEY]


@executes("nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed")
def _arrive(op: Op) -> Any:
    releases, aligned = not op.name.endswith("relaxed"), op.has("aligned")

    def step(convergent: ConvergentThreads) -> None:
        if aligned:
            whole_warps(convergent)
        _barrier_of(convergent.cta.cluster).arrive(convergent, releases)

    return step


@executes("nvvm.cluster.wait", waits=True)
def _wait(op: Op) -> Any:
    aligned = op.has("aligned")

    def step(convergent: ConvergentThreads) -> None:
        if aligned:
            whole_warps(convergent)
        _barrier_of(convergent.cta.cluster).wait(convergent)

    return step


@executes("nvvm.mapa")
def _map_address(op: Op) -> Any:
    if op.space != SHARED:
        raise op.refuse("maps an address that is not in shared memory")

    def step(convergent: ConvergentThreads, pointer: Any, rank: Any) -> np.ndarray:
        address, ranks = (
            convergent.check_value(pointer),
            convergent.check_value(rank).astype(np.int64),
        )
        ctas = len(convergent.cta.cluster.ctas)
        if (ranks >= ctas).any():
            convergent.cta.report_at(
                convergent,
                ViolationKind.OUT_OF_BOUNDS,
                f"names CTA {ranks.max()} of a cluster of {ctas}",
            )
            raise Stop
        return address + (ranks << RANK_SHIFT)

    return step
