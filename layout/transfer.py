"""The distribution of a copy to a tile over the threads of a CTA, in accesses of 16 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .banks import Access, warp_access
from .elements import UNIT_BYTES, Element
from .modes import LayoutError, Multiple, start_text
from .tile import TileLayout

WARP = 32

#: The names of tiles whose dimension 0, or 1, is contiguous.
CONTIGUITY = ("column-major", "row-major")


@dataclass(frozen=True)
class Transfer:
    """A copy in vectors of 16 bytes along the contiguous dimension, distributed over threads.

    In round `i`, thread `t` copies vector `i * threads + t`. By default vectors are numbered in memory
    order: along a line, then from line to line. With `run`, they are numbered along `run` vectors of a
    line, then along the same vectors of `lines` lines, then along the next `run` vectors: a tile whose
    atoms are narrower than 128 bytes is then written without bank conflicts, and a warp still reads at
    least 64 bytes of each line.

    Attributes:
        element: the element type.
        shape: (rows, columns) of the tile.
        contiguous: the dimension of a vector.
        threads: the number of threads.
        run: vectors of a line that neighbouring threads copy; 0 for the whole line.
        lines: lines of which neighbouring threads copy `run` vectors each.
        source: the layout of the tile that is read, indexed as the one that is written; None for
            global memory.

    Example:
        >>> copy = Transfer(element("bf16"), (64, 64), contiguous=1, threads=128)
        >>> copy.rounds  # 16-byte accesses of each thread
        4
        >>> copy.conflicts(parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", element("bf16")))
        Access(wavefronts=4, ideal=4)
    """

    element: Element
    shape: tuple[int, ...]
    contiguous: int
    threads: int
    run: int = 0
    lines: int = 1
    source: TileLayout | None = None

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
        """Accesses of each thread; in the last round, some threads may have none."""
        return -(-self.total // self.threads)

    def coordinates(self, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (row, column) of the first element of each thread's access in a round.

        Threads without an access in the round are omitted.
        """
        vectors = np.arange(round_ * self.threads, min((round_ + 1) * self.threads, self.total))
        line, along = self.place(vectors)
        return (along, line) if self.contiguous == 0 else (line, along)

    def place(self, vector: Any) -> tuple[Any, Any]:
        """Return (line, first element along it) of a vector: a number, or anything with Python's `//`
        and `%`."""
        if not self.run:
            return vector // self.per_line, vector % self.per_line * self.vector
        run, within = vector // self.run, vector % self.run
        segment, line = run // self.lines, run % self.lines
        segments = self.per_line // self.run
        block, segment = segment // segments, segment % segments
        return block * self.lines + line, (segment * self.run + within) * self.vector

    def plan(self, layout: TileLayout) -> Transfer:
        """Return the order of the vectors with the fewest bank conflicts in a tile that can be accessed:
        memory order if it has none, else, of equal ones, that with the longest runs of a line."""
        return _plan(self, layout)

    def problem(self, layout: TileLayout) -> str | None:
        """Return why the tile cannot be accessed 16 bytes at a time, or None."""
        if len(layout.shape) != 2:
            return f"a tile of rank {len(layout.shape)} is copied one stage at a time"
        if layout.contiguous_dim != self.contiguous:
            has = layout.contiguous_dim
            data, tile = (
                ("the data in global memory", "the tile")
                if self.source is None
                else ("the tile that is read", "the one that is written")
            )
            return f"{data} is {CONTIGUITY[self.contiguous]}, but {tile} is " + (
                "contiguous along no dimension"
                if has is None
                else f"{CONTIGUITY[has]}; smem.copy with the unit attribute relayout transposes it"
            )
        return source_problem(self.source) or _vectors_problem(layout, self.contiguous)

    def conflicts(self, layout: TileLayout) -> Access:
        """Return the worst bank conflict of a warp's access to a tile in the first round.

        A run-time origin is taken as 0.
        """
        return max(self._accesses(layout), key=lambda access: access.conflicts)

    def _accesses(self, layout: TileLayout) -> Iterator[Access]:
        for tile in (layout, self.source):
            if tile is not None:
                addresses = tile.with_origin().offsets_at(*self.coordinates(0))
                for warp in range(0, len(addresses), WARP):
                    yield warp_access(addresses[warp : warp + WARP], UNIT_BYTES)


def source_problem(source: TileLayout | None) -> str | None:
    """Return why the tile that a copy reads cannot be read 16 bytes at a time along its contiguous
    dimension, or None; None also if the copy reads global memory."""
    contiguous = source.contiguous_dim if source else None
    if source is None or contiguous is None:
        return None
    try:
        problem = Transfer(source.element, source.shape, contiguous, WARP).problem(source)
    except LayoutError as error:
        problem = str(error)
    return problem and f"of the tile that is read: {problem}"


def _vectors_problem(layout: TileLayout, contiguous: int) -> str | None:
    """Return why 16 bytes along the contiguous dimension cannot be one access, or None."""
    unit = layout.element.unit
    origin = layout.origins[contiguous]
    begin = origin.of if isinstance(origin, Multiple) else origin
    if begin % unit:
        return (
            f"the subtile cuts an atom {start_text(origin)} elements into it; 16-byte accesses need a "
            f"multiple of {unit} there"
        )
    modes = layout.coalesced().modes
    run = modes[contiguous][0].extent
    strides = [m.stride for dim in modes for m in dim if m.extent > 1 and m.stride != 1]
    if run % unit or any(stride % unit for stride in strides):
        return (
            f"16-byte accesses need {unit} elements in a row and strides that are multiples of it; "
            f"the tile has runs of {run} and strides {strides}"
        )
    return None


@lru_cache(maxsize=1024)
def _plan(transfer: Transfer, layout: TileLayout) -> Transfer:
    if not transfer.conflicts(layout).conflicts:
        return transfer
    plans = [
        replace(transfer, run=run, lines=lines)
        for lines in (2, 4, 8)
        for run in (4, 2, 1)
        if transfer.per_line % run == 0 and transfer.shape[1 - transfer.contiguous] % lines == 0
    ]
    return min([transfer, *plans], key=lambda plan: plan.conflicts(layout).conflicts)
