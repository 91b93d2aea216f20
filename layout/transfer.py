"""How the threads of a block share a copy between global memory and a tile: 16 bytes each at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .banks import Access, warp_access
from .elements import UNIT_BYTES, Element
from .modes import LayoutError, Multiple, said
from .tile import TileLayout

WARP = 32

#: What a tile is called whose dimension 0 or 1 is contiguous.
CONTIGUITY = ("column-major", "row-major")


@dataclass(frozen=True)
class Transfer:
    """Vectors of 16 bytes along the contiguous dimension, dealt to threads in memory order.

    Round `i` gives thread `t` vector `i * threads + t`; vector `v` is the `v % per_line`-th of line
    `v // per_line`, so that neighbouring threads read neighbouring global addresses.

    Attributes:
        element: the element type.
        shape: (rows, columns) of the tile.
        contiguous: the dimension along which a vector runs.
        threads: threads that take part.
    """

    element: Element
    shape: tuple[int, ...]
    contiguous: int
    threads: int

    def __post_init__(self) -> None:
        if self.shape[self.contiguous] % self.vector:
            raise LayoutError(
                f"a line of {self.shape[self.contiguous]} elements of {self.element} is not a "
                f"multiple of {self.vector}, the elements of a 16-byte access"
            )

    @property
    def vector(self) -> int:
        """Elements of one access."""
        return self.element.unit

    @property
    def per_line(self) -> int:
        """Accesses that one line (along the contiguous dimension) takes."""
        return self.shape[self.contiguous] // self.vector

    @property
    def total(self) -> int:
        """Accesses that the whole tile takes."""
        return self.per_line * self.shape[1 - self.contiguous]

    @property
    def rounds(self) -> int:
        """Accesses of each thread; in the last round, threads may be left without one."""
        return -(-self.total // self.threads)

    def coordinates(self, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """(row, column) of the first element of each thread's access, for the threads that have one."""
        vectors = np.arange(round_ * self.threads, min((round_ + 1) * self.threads, self.total))
        line, along = vectors // self.per_line, vectors % self.per_line * self.vector
        return (along, line) if self.contiguous == 0 else (line, along)

    def fits(self, layout: TileLayout) -> str | None:
        """Why the tile cannot be accessed 16 bytes at a time; None if it can."""
        if len(layout.shape) != 2:
            return f"a tile of rank {len(layout.shape)} is copied one stage at a time"
        if layout.contiguous_dim != self.contiguous:
            has = layout.contiguous_dim
            return (
                f"the data in global memory is {CONTIGUITY[self.contiguous]}, but the tile is "
                + (
                    "contiguous along no dimension"
                    if has is None
                    else f"{CONTIGUITY[has]}; smem.copy with the unit attribute relayout turns it around"
                )
            )
        origin = layout.origins[self.contiguous]
        begin = origin.of if isinstance(origin, Multiple) else origin
        if begin % self.vector:
            return (
                f"the part cuts an atom {said(origin)} elements into it; 16-byte accesses need a "
                f"multiple of {self.vector} there"
            )
        run = layout.coalesced().modes[self.contiguous][0].extent
        others = [
            m.stride
            for modes in layout.coalesced().modes
            for m in modes
            if m.extent > 1 and m.stride != 1
        ]
        if run % self.vector or any(s % self.vector for s in others):
            return (
                f"16-byte accesses need {self.vector} elements in a row and strides that are "
                f"multiples of it; the tile has runs of {run} and strides {others}"
            )
        return None

    def conflicts(self, layout: TileLayout) -> Access:
        """The worst bank conflict of a warp's access to the tile in the first round.

        A run-time origin is taken as 0.
        """
        addresses = layout.with_origin().offsets_at(*self.coordinates(0))
        accesses = [
            warp_access(addresses[w : w + WARP], UNIT_BYTES) for w in range(0, len(addresses), WARP)
        ]
        return max(accesses, key=lambda a: a.conflicts)
