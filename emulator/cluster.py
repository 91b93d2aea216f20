"""A cluster: its CTAs, which run together, and its barrier (PTX ISA, barrier.cluster)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bindings.diagnostics import format_location
from .cta import Cta
from .errors import Stop, Violation, ViolationKind
from .program import Program
from .rules.vector_clocks import VectorClocks

if TYPE_CHECKING:
    from .convergent import ConvergentThreads
    from .launch import Launch

#: Columns of the vector clocks for each CTA: mbarriers at which bulk copies complete, and threads that
#: issue tcgen05.mma.
_COLUMNS = 64


class Cluster:
    """A cluster while it runs; a launch without clusters has clusters of one CTA.

    Attributes:
        ctas: its CTAs, by rank.
        clocks: the vector clocks; thread t of rank r has the number r * threads + t.
        barrier: the barrier of all its threads.
        state: state that a module keeps for the cluster, by the module's key.
    """

    def __init__(self, program: Program, launch: Launch, index: tuple[int, int, int]) -> None:
        """Make the cluster whose first CTA has the given index."""
        nx, ny, _ = launch.cluster
        size = prod(launch.cluster)
        columns = _COLUMNS * size if program.tensor_maps or program.tracks else 0
        self.clocks = VectorClocks(size * launch.threads, columns)
        self.ctas: list[Cta] = []
        for rank in range(size):
            x, y, z = rank % nx, rank // nx % ny, rank // (nx * ny)
            at = index[0] + x, index[1] + y, index[2] + z
            self.ctas.append(Cta(program, launch, self, rank, at))
        self.barrier = ClusterBarrier(self)
        self._schedule = launch.schedule
        self.state: dict[str, Any] = {}

    @property
    def found(self) -> list[Violation]:
        """The violations of all CTAs."""
        return [violation for cta in self.ctas for violation in cta.found.values()]

    def run(self, arguments: list[Any]) -> None:
        """Execute the kernel until all threads of all CTAs have returned.

        Raises:
            EmulationError: if an op is used in a way that the emulator does not support.
        """
        for cta in self.ctas:
            cta.start(arguments)
        self._schedule.begin(self.ctas)
        try:
            while any(cta.convergent_groups for cta in self.ctas):
                if not self._schedule.advance(self.ctas):
                    self._deadlock()
        except Stop:
            return

    def discard(self) -> None:
        """Free the memory of the cluster and of its CTAs. They refer to each other: their arrays, often
        megabytes, would else stay until Python collects cycles."""
        for part in (*self.ctas, self):
            vars(part).clear()

    def _deadlock(self) -> None:
        stuck = [s for cta in self.ctas for s in cta.convergent_groups if not s.children]
        words = "; ".join(
            f"{each.lanes}{each.cta.label} at {format_location(each.current.location)} for {_words(each)}"
            for each in stuck
        )
        everyone = all(cta.alive.all() for cta in self.ctas)
        over = "" if everyone else "; the other threads have returned"
        first = stuck[0]
        message = f"all threads wait for ever: {words}{over}"
        first.cta.report_at(first, ViolationKind.DEADLOCK, message)
        raise Stop


class ClusterBarrier:
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
        self.pass_if_complete()

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

    def pass_if_complete(self) -> None:
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


def _words(convergent: ConvergentThreads) -> str:
    """Return what threads wait for."""
    waiting = convergent.waiting
    return waiting if isinstance(waiting, str) else waiting()
