"""`bar.sync` and `bar.arrive`: the sixteen barriers of a CTA (PTX ISA 9.7.13.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..cta import ConvergentThreads, Cta
from ..errors import Stop, ViolationKind
from ..lanes import WARP

_KEY = "barriers"

#: Number of barriers of a CTA.
COUNT = 16


@dataclass
class _Barrier:
    """The state of a barrier.

    Attributes:
        arrived: bool[threads], the threads that have arrived.
        expected: number of expected threads; None for all threads that have not returned.
        generation: how often it has completed.
        waiting: the convergent threads that wait at it.
        passed: the clocks released by threads that arrived without waiting; see `VectorClocks.release`.
        any: whether a predicate was true for any thread; None if the barrier does not reduce one.
    """

    arrived: np.ndarray
    expected: int | None = None
    generation: int = 0
    waiting: list[ConvergentThreads] = field(default_factory=list)
    passed: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    any: bool | None = None


class Barriers:
    """The barriers of a CTA."""

    def __init__(self, cta: Cta) -> None:
        self._cta = cta
        self._barriers: dict[int, _Barrier] = {}
        cta.at_return.append(self._threads_returned)

    def arrive(
        self,
        convergent: ConvergentThreads,
        number: int,
        count: int | None,
        wait: bool,
        predicate: bool | None = None,
    ) -> None:
        """Make threads arrive at a barrier, and wait if `wait`.

        Args:
            convergent: the threads.
            number: the barrier's number.
            count: number of participating threads; None for all threads of the CTA.
            wait: whether they wait for the others.
            predicate: whether one is true for any of these threads. The instruction's result is then
                whether it is for any thread of the barrier. None without a reduction.
        """
        report = self._cta.reporter(convergent)
        if not 0 <= number < COUNT:
            report(ViolationKind.BARRIER, f"uses barrier {number}; a CTA has {COUNT}")
            raise Stop
        if count is not None and (count % WARP or not 0 < count <= self._cta.threads):
            report(
                ViolationKind.BARRIER,
                f"is a barrier of {count} threads; expected a multiple of {WARP} up to the CTA's "
                f"{self._cta.threads}",
            )
            raise Stop
        if not convergent.lanes.whole_warps:
            report(
                ViolationKind.DIVERGENT,
                f"is reached by {convergent.lanes}, a part of a warp; all threads of a warp must execute "
                "a barrier together",
            )
            raise Stop
        barrier = self._barriers.setdefault(number, _Barrier(np.zeros(self._cta.threads, bool)))
        if barrier.arrived.any() and barrier.expected != count:
            report(
                ViolationKind.BARRIER,
                f"arrives at barrier {number} for {count} threads, but others did for "
                f"{barrier.expected}",
            )
        if (barrier.arrived & convergent.lanes.mask).any():
            report(
                ViolationKind.BARRIER,
                f"arrives again at barrier {number} before the others came: {convergent.lanes}",
            )
            raise Stop
        if barrier.arrived.any() and (predicate is None) != (barrier.any is None):
            report(
                ViolationKind.BARRIER,
                f"arrives at barrier {number}, at which some threads reduce a predicate and "
                "others do not",
            )
            raise Stop
        if predicate is not None:
            barrier.any = bool(barrier.any) or predicate
        barrier.expected = count
        barrier.arrived |= convergent.lanes.mask
        if wait:
            generation = barrier.generation
            barrier.waiting.append(convergent)
            convergent.wait(
                lambda: barrier.generation > generation,
                f"barrier {number}, at which {int(barrier.arrived.sum())} threads have arrived",
            )
        else:
            barrier.passed.append(self._cta.clocks.release(convergent.threads))
        self._pass_if_complete(barrier)

    def _threads_returned(self) -> None:
        """Complete barriers that only waited for threads that have now returned."""
        for barrier in self._barriers.values():
            if barrier.arrived.any():
                self._pass_if_complete(barrier)

    def _pass_if_complete(self, barrier: _Barrier) -> None:
        expected = barrier.expected
        if expected is None:
            expected = int(self._cta.alive.sum())
        if barrier.arrived.sum() < expected:
            return
        if barrier.waiting:
            clocks = self._cta.clocks
            waited = np.flatnonzero(np.any([s.lanes.mask for s in barrier.waiting], axis=0))
            waited += self._cta.first_thread
            for seen, proxied in barrier.passed:
                clocks.acquire(waited, seen, proxied)
            clocks.synchronise(waited)
        if barrier.any is not None:
            for convergent in barrier.waiting:
                convergent.write(convergent.current.results[0], np.array([barrier.any]))
        barrier.any = None
        barrier.arrived[:] = False
        barrier.generation += 1
        self._cta.merge(barrier.waiting)
        barrier.waiting, barrier.passed = [], []


def barriers_of(cta: Cta) -> Barriers:
    """Return the barriers of a CTA."""
    if _KEY not in cta.state:
        cta.state[_KEY] = Barriers(cta)
    return cta.state[_KEY]
