"""Schedules: the orders in which the emulator runs the threads of a launch.

Threads that no synchronisation orders may run in any order on a GPU. The emulator runs one order at a
time, the one of the `schedule` that `emulate` is called with: a kernel that is right under one may be
wrong under another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import numpy as np

from .cta import Cluster, ConvergentThreads, Cta
from .errors import Stop
from .lanes import WARP, WARPGROUP

#: Threads run a power of two of instructions before others run, with an exponent below this, or as many
#: as they can.
_EXPONENTS = 12

#: Sets of convergent threads of a CTA up to which whole warps that run together are split further.
_MOST_SETS = 6


class Schedule:
    """The order of schedule 0: clusters in the order of their indices; within each, every set of
    convergent threads runs until it must wait, in the order of CTAs and threads."""

    def order(self, ctas: Iterable[tuple[int, int, int]]) -> Iterable[tuple[int, int, int]]:
        """Return the indices of a grid's CTAs in the order in which their clusters run."""
        return ctas

    def run(self, cluster: Cluster, arguments: list[Any]) -> None:
        """Execute the kernel until all threads of all CTAs of a cluster have returned.

        Raises:
            EmulationError: if an op is used in a way that the emulator does not support.
        """
        for cta in cluster.ctas:
            cta.start(arguments)
        self.begin(cluster.ctas)
        try:
            while any(cta.convergent_groups for cta in cluster.ctas):
                if not self.advance(cluster.ctas):
                    cluster.report_deadlock()
        except Stop:
            return

    def begin(self, ctas: Sequence[Cta]) -> None:
        """Begin a cluster, whose CTAs have been started."""

    def advance(self, ctas: Sequence[Cta]) -> bool:
        """Run threads of a cluster for some time. Return whether any made progress; if not, all wait.

        Args:
            ctas: the CTAs of the cluster.

        Raises:
            EmulationError: if an op is used in a way that the emulator does not support.
            Stop: if execution cannot continue after a violation.
        """
        progress = [cta.advance() for cta in ctas]
        return any(progress)


class SeededSchedule(Schedule):
    """A random order that a seed determines.

    Clusters begin in a random order. The sets of convergent threads of all CTAs of a cluster run in turn,
    in a random order, each for a random number of instructions. Whole warps that run together are split
    into sets of their own at random: threads that run together hide what differs between orders. Some
    warps are slow for a while: they run only when all others wait.
    """

    def __init__(self, seed: int) -> None:
        """Make the schedule of a seed other than 0."""
        self._random = Random(f"schedule {seed}")
        # The slow warps, by rank of the CTA and number of the warp, and how many rounds they stay slow.
        self._slow: set[tuple[int, int]] = set()
        self._rounds = 0

    def order(self, ctas: Iterable[tuple[int, int, int]]) -> Iterable[tuple[int, int, int]]:
        indices = [*ctas]
        self._random.shuffle(indices)
        return indices

    def begin(self, ctas: Sequence[Cta]) -> None:
        self._rounds = 0
        extent = self._random.choice((WARP, WARPGROUP))
        for cta in ctas:
            (everyone,) = cta.convergent_groups
            parts = np.arange(cta.threads) // extent
            masks = [parts == part for part in range(parts[-1] + 1)]
            everyone.diverge([(mask, _stay) for mask in masks])

    def advance(self, ctas: Sequence[Cta]) -> bool:
        if not self._rounds:
            self._choose_slow_warps(ctas)
        self._rounds -= 1
        sets = [convergent for cta in ctas for convergent in cta.convergent_groups]
        self._random.shuffle(sets)
        slow = [convergent for convergent in sets if self._is_slow(convergent)]
        others = [convergent for convergent in sets if not self._is_slow(convergent)]
        return self._run(others) or self._run(slow)

    def _choose_slow_warps(self, ctas: Sequence[Cta]) -> None:
        """Choose the slow warps of the next rounds."""
        random = self._random
        share = random.choice((0, 0.25, 0.5))
        warps = ((cta.rank, warp) for cta in ctas for warp in range(-(-cta.threads // WARP)))
        self._slow = {warp for warp in warps if random.random() < share}
        self._rounds = random.choice((4, 32, 256))

    def _is_slow(self, convergent: ConvergentThreads) -> bool:
        return (convergent.cta.rank, int(convergent.lanes.threads[0]) // WARP) in self._slow

    def _run(self, sets: Sequence[ConvergentThreads]) -> bool:
        """Run each of several sets of convergent threads once; return whether any could run."""
        progress = False
        for convergent in sets:
            # Others may have merged it into theirs.
            if convergent in convergent.cta.convergent_groups:
                exponent = self._random.randrange(_EXPONENTS + 3)
                limit = 1 << exponent if exponent < _EXPONENTS else -1
                progress |= convergent.cta.resume(convergent, limit)
                self._split(convergent)
        return progress

    def _split(self, convergent: ConvergentThreads) -> None:
        """Split threads that could run on; at random, and not those of a branch of a warp."""
        cta, lanes = convergent.cta, convergent.lanes
        if convergent.blocked is not None or not convergent.frames or convergent.parent:
            return
        if len(cta.convergent_groups) >= _MOST_SETS or not lanes.whole_warps:
            return
        warps = np.unique(lanes.threads // WARP)
        if len(warps) < 2 or self._random.random() < 0.5:
            return
        chosen = self._random.sample([*map(int, warps)], self._random.randrange(1, len(warps)))
        first = lanes.mask & np.isin(np.arange(cta.threads) // WARP, chosen)
        convergent.diverge([(first, _stay), (lanes.mask & ~first, _stay)])


def schedule_of(seed: int) -> Schedule:
    """Return the schedule of a number: 0 is the fixed order, and others are seeds of random ones.

    Raises:
        ValueError: if it is negative.
    """
    if seed < 0:
        raise ValueError(f"a schedule of {seed} is not possible; expected 0 or more")
    return SeededSchedule(seed) if seed else Schedule()


def _stay(convergent: ConvergentThreads) -> None:
    """Leave threads where they are."""
