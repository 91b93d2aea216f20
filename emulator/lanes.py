"""Sets of threads of a CTA."""

from __future__ import annotations

from functools import cached_property

import numpy as np

WARP = 32
WARPGROUP = 128


class Lanes:
    """A set of threads of a CTA, by their linear index.

    Attributes:
        mask: bool[threads], which threads are in the set.
        threads: int[count], their indices.
        index: selects their rows of an array with a row for each thread: a slice if they are adjacent.
        full: whether every thread of the CTA is in the set.
    """

    def __init__(self, mask: np.ndarray) -> None:
        self.mask = mask
        self.threads = np.flatnonzero(mask)
        self.count = len(self.threads)
        self.full = self.count == len(mask)
        adjacent = self.count and self.threads[-1] - self.threads[0] + 1 == self.count
        self.index: slice | np.ndarray = (
            slice(int(self.threads[0]), int(self.threads[-1]) + 1) if adjacent else self.threads
        )

    @cached_property
    def key(self) -> bytes:
        """The same for two sets of the same threads, and for no others."""
        return self.mask.tobytes()

    def overlaps(self, other: Lanes) -> bool:
        """Return whether a thread is in both sets."""
        return bool((self.mask & other.mask).any())

    def rows_within(self, other: Lanes) -> slice | np.ndarray | None:
        """Return the rows of these threads in an array with a row for each thread of another set; None
        unless that set has all of them."""
        if not other.mask[self.index].all():
            return None
        if isinstance(self.index, slice) and isinstance(other.index, slice):
            first = other.index.start
            return slice(self.index.start - first, self.index.stop - first)
        return np.searchsorted(other.threads, self.threads)

    def where(self, condition: np.ndarray) -> np.ndarray:
        """Return the mask over the CTA of those of these threads for which a condition holds."""
        mask = np.zeros(len(self.mask), bool)
        mask[self.index] = condition
        return mask

    @cached_property
    def warps(self) -> np.ndarray:
        """Warps with threads in the set."""
        return np.unique(self.threads // WARP)

    @cached_property
    def whole_warps(self) -> bool:
        """Whether the set consists of whole warps."""
        return len(partial_warps(self.mask)) == 0

    @cached_property
    def warpgroups(self) -> np.ndarray:
        """Warpgroups with threads in the set."""
        return np.unique(self.threads // WARPGROUP)

    @property
    def whole_warpgroups(self) -> bool:
        """Whether the set consists of whole warpgroups of 128 threads."""
        return self.count == len(self.warpgroups) * WARPGROUP

    @property
    def in_whole_warpgroups(self) -> np.ndarray:
        """The mask of those warpgroups whose threads are all in the set."""
        warpgroup = np.arange(len(self.mask)) // WARPGROUP
        return self.mask & (np.bincount(warpgroup, self.mask) == WARPGROUP)[warpgroup]

    def __str__(self) -> str:
        first, last = int(self.threads[0]), int(self.threads[-1])
        if self.count == 1:
            return f"thread {first}"
        if last - first + 1 == self.count:
            return f"threads {first} to {last}"
        return f"{self.count} threads from {first} to {last}"


def partial_warps(mask: np.ndarray) -> np.ndarray:
    """Return the warps of which some threads, but not all, are in the mask."""
    warps = np.arange(len(mask)) // WARP
    inside = np.bincount(warps, mask)
    return np.flatnonzero((inside > 0) & (inside < np.bincount(warps)))


def mask_of_warps(warps: np.ndarray, threads: int) -> np.ndarray:
    """Return the mask of all threads of the given warps, in a CTA of `threads` threads."""
    return np.isin(np.arange(threads) // WARP, warps)
