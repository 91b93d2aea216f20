"""How the threads of a block copy data to a tile that is contiguous along its other dimension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .banks import Access, warp_access
from .elements import Element
from .modes import LayoutError
from .swizzle import Swizzle
from .tile import TileLayout
from .transfer import WARP, Transfer, source_problem

#: Bytes of a register.
REGISTER_BYTES = 4

#: Bytes of one access to global memory, widest first; a line of 8 bits is a byte.
_READ_BYTES = (16, 8, 4)
_READ_BYTES_OF_BITS = (4, 2, 1)

#: Bytes that global memory delivers at once; less is fetched in vain.
_SECTOR_BYTES = 32

#: Lines after which every swizzle's phase, and the bank of a core matrix's row, repeat.
_PHASES = 8


@dataclass(frozen=True)
class Transposition:
    """Blocks that each thread reads, transposes in its registers and writes, dealt to the threads.

    A *line* of the tile runs along its contiguous dimension; what is read, global memory or another
    tile, is contiguous across the lines. A block is `read` lines of `stored` elements. Its thread
    reads `read` elements `stored` times, turns squares of as many elements as a register holds, and
    writes `stored` elements `read` times. Block `v` is the `v % lanes`-th of `lanes` neighbours along
    the lines; then come those of the next lines.

    Threads may begin with another line of their block, so that lanes that write the same bytes of
    lines a whole pattern apart meet different banks: the `i`-th write of thread `t` is to line
    `i ^ skew_of(t)` of the block. Where a line of the tile that is read is narrower than all banks, they
    may begin to read with another line of that, too: `first_read`.

    Attributes:
        element: the element type.
        shape: (rows, columns) of the tile.
        contiguous: the dimension along which the tile is contiguous.
        threads: threads that take part.
        read: elements of one access to what is read.
        lanes: blocks along a line that neighbouring threads have.
        skew: how many different lines threads begin to write with.
        source: the layout of the tile that is read, indexed as the one that is written; None for
            global memory.
        source_skew: how many different lines of that threads begin to read with.
    """

    element: Element
    shape: tuple[int, ...]
    contiguous: int
    threads: int
    read: int
    lanes: int
    skew: int
    source: TileLayout | None = None
    source_skew: int = 1

    @property
    def stored(self) -> int:
        """Elements of one access to the tile."""
        return _stored(self.element)

    @property
    def per_register(self) -> int:
        """Elements that a register holds: the squares that are turned are as wide."""
        return REGISTER_BYTES * 8 // self.element.bits

    @property
    def blocks(self) -> tuple[int, int]:
        """Blocks along a line, and across the lines."""
        return (
            self.shape[self.contiguous] // self.stored,
            self.shape[1 - self.contiguous] // self.read,
        )

    @property
    def total(self) -> int:
        """Blocks of the whole tile."""
        along, across = self.blocks
        return along * across

    @property
    def rounds(self) -> int:
        """Blocks of each thread; in the last round, threads may be left without one."""
        return -(-self.total // self.threads)

    @property
    def skew_period(self) -> int:
        """Threads that begin with the same line: those whose blocks lie on different lines anyway."""
        return self.lanes * max(1, _PHASES // self.read)

    def stores(self, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """(row, column) of the first element of each write to the tile: int64[read, threads].

        Threads that have no block in the round are left out.
        """
        block, along, line = self._places(round_)
        first = block % self.threads // self.skew_period % self.skew
        line = line + (np.arange(self.read)[:, None] ^ first)
        return self._index(np.broadcast_to(along, line.shape), line)

    def loads(self, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """(row, column) of the first element of each read: int64[stored, threads], as `stores`."""
        block, along, line = self._places(round_)
        first = self.first_read(block % self.threads)
        along = along + (np.arange(self.stored)[:, None] ^ first)
        return self._index(along, np.broadcast_to(line, along.shape))

    def first_read(self, thread: Any) -> Any:
        """The line of its block that a thread reads first: the same for all that have a part of that line
        of an atom. Its `i`-th read is of line `i ^ first_read(thread)`.

        Takes a number, an array, or anything else that has Python's `//` and `%`.
        """
        atom = self.source.swizzle.atom_elements(self.element) if self.source else self.read
        return thread // (self.lanes * max(1, atom // self.read)) % self.source_skew

    def _places(self, round_: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The block of each thread that has one in a round, and where it begins: elements along its
        lines, and its first line."""
        block = np.arange(round_ * self.threads, min((round_ + 1) * self.threads, self.total))
        across, outer = np.divmod(block // self.lanes, self.blocks[1])[::-1]
        along = (outer * self.lanes + block % self.lanes) * self.stored
        return block, along, across * self.read

    def _index(self, along: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (along, line) if self.contiguous == 0 else (line, along)

    def accesses(self, layout: TileLayout) -> Iterator[Access]:
        """How each access of each warp to shared memory is served: the writes to the tile, and the
        reads if what is read is a tile; a run-time origin is taken as 0."""
        ends = [(layout, self.stores, self.stored)]
        ends += [(self.source, self.loads, self.read)] if self.source else []
        for tile, places, count in ends:
            placed, size = tile.with_origin(), count * self.element.bits // 8
            for round_ in range(self.rounds):
                for addresses in placed.offsets_at(*places(round_)):
                    for warp in range(0, len(addresses), WARP):
                        yield warp_access(addresses[warp : warp + WARP], size)

    def wavefronts(self, layout: TileLayout) -> Access:
        """The passes over the banks that all accesses to shared memory take, of all warps."""
        accesses = list(self.accesses(layout))
        return Access(sum(a.wavefronts for a in accesses), sum(a.ideal for a in accesses))

    def conflicts(self, layout: TileLayout) -> Access:
        """The worst bank conflict of a warp's access to shared memory."""
        return max(self.accesses(layout), key=lambda access: access.conflicts)

    @property
    def _cost(self) -> tuple[float, ...]:
        """What arrangements of equal conflicts are compared by."""
        neighbours = min(max(1, WARP // self.lanes), self.blocks[1])
        run_bytes = self.read * self.element.bits // 8 * neighbours
        fetched = max(1.0, _SECTOR_BYTES / run_bytes) if self.source is None else 1.0
        idle = max(1.0, self.threads / self.total)
        return (fetched, idle, self.skew * self.source_skew, -self.read, -self.lanes)


def _stored(element: Element) -> int:
    """Elements of one access to the tile: 16 bytes, or as many bits as a square has lines."""
    return max(min(element.unit, 32), REGISTER_BYTES * 8 // element.bits)


def _reads(element: Element) -> list[int]:
    """Elements that one access to global memory may have, most first."""
    sizes = _READ_BYTES if element.bits >= 8 else _READ_BYTES_OF_BITS
    return [size * 8 // element.bits for size in sizes]


def transposition_problem(layout: TileLayout) -> str | None:
    """Why a tile cannot be filled by blocks that are transposed; None if it can."""
    contiguous, least = layout.contiguous_dim, _reads(layout.element)[-1]
    if contiguous is None:
        return "the tile is contiguous along no dimension"
    try:
        # Each line of a block is an access as those of a copy that transposes nothing.
        problem = Transfer(layout.element, layout.shape, contiguous, WARP).problem(layout)
    except LayoutError as error:
        return str(error)
    across = layout.shape[1 - contiguous]
    if problem is None and across % least:
        return (
            f"{layout.element} is transposed in blocks of {least} or more elements of global "
            f"memory; the tile has {across} {('rows', 'columns')[1 - contiguous]}"
        )
    return problem


@lru_cache(maxsize=1024)
def transposition(
    layout: TileLayout, threads: int, source: TileLayout | None = None
) -> Transposition:
    """The arrangement for a tile: with the fewest bank conflicts, then with reads of whole sectors of
    global memory, then with work for every thread, then the one with the fewest instructions.

    Args:
        layout: of the tile.
        threads: that take part.
        source: the layout of the tile that is read, indexed as the other; None for global memory.

    Raises:
        LayoutError: if the tile cannot be filled so.
    """
    problem = source_problem(source) or transposition_problem(layout)
    if problem:
        raise LayoutError(problem)
    contiguous = layout.contiguous_dim
    assert contiguous is not None
    arrangements = sorted(
        (
            Transposition(
                layout.element, layout.shape, contiguous, threads, read, lanes, skew, source, begin
            )
            for read in _reads(layout.element)
            if layout.shape[1 - contiguous] % read == 0
            for lanes in (1, 2, 4, 8, 16, 32)
            if layout.shape[contiguous] // _stored(layout.element) % lanes == 0
            for skew in (1, 2, 4, 8)
            if skew <= read
            for begin in ((1, 2, 4, 8) if source and source.swizzle is not Swizzle.B128 else (1,))
            if begin <= _stored(layout.element)
        ),
        key=lambda arrangement: arrangement._cost,
    )
    for arrangement in arrangements:
        if not any(access.conflicts for access in arrangement.accesses(layout)):
            return arrangement
    return min(arrangements, key=lambda arrangement: arrangement.wavefronts(layout).wavefronts)


@dataclass(frozen=True)
class Relayout:
    """A copy that may change which dimension is contiguous: which one is, the tile's layout says.

    Attributes:
        element: the element type.
        shape: (rows, columns) of the tile.
        contiguous: the tile's dimension along which what is read is contiguous.
        threads: threads that take part.
        source: the layout of the tile that is read, indexed as the one that is written; None for
            global memory.
    """

    element: Element
    shape: tuple[int, ...]
    contiguous: int
    threads: int
    source: TileLayout | None = None

    def transposes(self, layout: TileLayout) -> bool:
        """Whether the data is to be transposed."""
        return len(layout.shape) == 2 and layout.contiguous_dim == 1 - self.contiguous

    def plan(self, layout: TileLayout) -> Transfer | Transposition:
        """How the tile is filled.

        Raises:
            LayoutError: if it cannot be.
        """
        problem = self.problem(layout)
        if problem:
            raise LayoutError(problem)
        return (
            transposition(layout, self.threads, self.source)
            if self.transposes(layout)
            else self._transfer().plan(layout)
        )

    def problem(self, layout: TileLayout) -> str | None:
        """Why the tile cannot be filled; None if it can."""
        if self.transposes(layout):
            return source_problem(self.source) or transposition_problem(layout)
        try:
            return self._transfer().problem(layout)
        except LayoutError as error:
            return str(error)

    def conflicts(self, layout: TileLayout) -> Access:
        """The worst bank conflict of a warp's access to a tile that can be filled."""
        return self.plan(layout).conflicts(layout)

    def _transfer(self) -> Transfer:
        return Transfer(self.element, self.shape, self.contiguous, self.threads, source=self.source)
