"""Copies by a CTA's threads to a tile that is contiguous along another dimension than the source."""

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

#: Bytes of one access to global memory, widest first; for elements of less than 8 bits, the second.
_READ_BYTES = (16, 8, 4)
_READ_BYTES_OF_BITS = (4, 2, 1)

#: Bytes of a sector of global memory: a read of fewer bytes fetches all of them.
_SECTOR_BYTES = 32

#: Lines after which the phase of every swizzle, and the bank of a core matrix's row, repeat.
_PHASES = 8


@dataclass(frozen=True)
class Transposition:
    """A copy in blocks that threads read, transpose in registers and write.

    A *line* of the tile runs along its contiguous dimension; the source, global memory or another tile,
    is contiguous across the lines. A block is `read` lines of `stored` elements. A thread reads `read`
    elements `stored` times, transposes square blocks of `per_register` elements a side in its registers,
    and writes `stored` elements `read` times. Block `v` is number `v % lanes` of `lanes` neighbours along
    the lines; the blocks of the next lines follow.

    Threads may begin to write at different lines of their blocks, so that lanes that write the same bytes
    of lines a whole pattern apart use different banks: the `i`-th write of thread `t` is to line
    `i ^ (t // skew_period % skew)` of the block. If a line of a source tile is narrower than all banks,
    threads may also begin to read at different lines of the source: `first_read`.

    Attributes:
        element: the element type.
        shape: (rows, columns) of the tile.
        contiguous: the dimension along which the tile is contiguous.
        threads: the number of threads.
        read: elements of one read.
        lanes: neighbouring blocks along a line that neighbouring threads copy.
        skew: the number of different lines at which threads begin to write.
        source: the layout of the tile that is read, indexed as the one that is written; None for
            global memory.
        source_skew: the number of different lines of the source at which threads begin to read.
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
        """Elements of one write to the tile."""
        return _stored_elements(self.element)

    @property
    def per_register(self) -> int:
        """Elements that a register holds, and extent of the square blocks that are transposed."""
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
        """Blocks of each thread; in the last round, some threads may have none."""
        return -(-self.total // self.threads)

    @property
    def skew_period(self) -> int:
        """Neighbouring threads that begin to write at the same line of their blocks: their blocks have
        different banks anyway."""
        return self.lanes * max(1, _PHASES // self.read)

    def stores(self, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (row, column) of the first element of each write to the tile: int64[read, threads].

        Threads without a block in the round are omitted.
        """
        block, along, line = self._places(round_)
        first = block % self.threads // self.skew_period % self.skew
        line = line + (np.arange(self.read)[:, None] ^ first)
        return self._index(np.broadcast_to(along, line.shape), line)

    def loads(self, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (row, column) of the first element of each read: int64[stored, threads].

        Threads without a block in the round are omitted.
        """
        block, along, line = self._places(round_)
        first = self.first_read(block % self.threads)
        along = along + (np.arange(self.stored)[:, None] ^ first)
        return self._index(along, np.broadcast_to(line, along.shape))

    def first_read(self, thread: Any) -> Any:
        """Return the line of the source at which a thread begins to read its block; the `i`-th read is of
        line `i ^ first_read(thread)`. It is the same for all threads that read one line of an atom.

        Args:
            thread: a number, an array, or anything else with Python's `//` and `%`.
        """
        atom = self.source.swizzle.atom_elements(self.element) if self.source else self.read
        return thread // (self.lanes * max(1, atom // self.read)) % self.source_skew

    def _places(self, round_: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, for each thread with a block in a round: the block's number, its first element along
        its lines, and its first line."""
        block = np.arange(round_ * self.threads, min((round_ + 1) * self.threads, self.total))
        across, outer = np.divmod(block // self.lanes, self.blocks[1])[::-1]
        along = (outer * self.lanes + block % self.lanes) * self.stored
        return block, along, across * self.read

    def _index(self, along: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (along, line) if self.contiguous == 0 else (line, along)

    def accesses(self, layout: TileLayout) -> Iterator[Access]:
        """Yield the cost of each access of each warp to shared memory: the writes to the tile, and the
        reads of a source tile. A run-time origin is taken as 0."""
        ends = [(layout, self.stores, self.stored)]
        ends += [(self.source, self.loads, self.read)] if self.source else []
        for tile, places, count in ends:
            placed, size = tile.with_origin(), count * self.element.bits // 8
            for round_ in range(self.rounds):
                for addresses in placed.offsets_at(*places(round_)):
                    for warp in range(0, len(addresses), WARP):
                        yield warp_access(addresses[warp : warp + WARP], size)

    def wavefronts(self, layout: TileLayout) -> Access:
        """Return the passes over the banks of all accesses of all warps to shared memory."""
        accesses = list(self.accesses(layout))
        return Access(sum(a.wavefronts for a in accesses), sum(a.ideal for a in accesses))

    def conflicts(self, layout: TileLayout) -> Access:
        """Return the worst bank conflict of a warp's access to shared memory."""
        return max(self.accesses(layout), key=lambda access: access.conflicts)

    @property
    def _cost(self) -> tuple[float, ...]:
        """The cost by which arrangements without bank conflicts are compared."""
        neighbours = min(max(1, WARP // self.lanes), self.blocks[1])
        run_bytes = self.read * self.element.bits // 8 * neighbours
        fetched = max(1.0, _SECTOR_BYTES / run_bytes) if self.source is None else 1.0
        idle = max(1.0, self.threads / self.total)
        return (fetched, idle, self.skew * self.source_skew, -self.read, -self.lanes)


def _stored_elements(element: Element) -> int:
    """Return the elements of one write to the tile: 16 bytes, or 32 elements of b1."""
    return max(min(element.unit, 32), REGISTER_BYTES * 8 // element.bits)


def _read_elements(element: Element) -> list[int]:
    """Return the numbers of elements that one access to global memory may have, the largest first."""
    sizes = _READ_BYTES if element.bits >= 8 else _READ_BYTES_OF_BITS
    return [size * 8 // element.bits for size in sizes]


def transposition_problem(layout: TileLayout) -> str | None:
    """Return why a tile cannot be filled by a transposition, or None."""
    contiguous, smallest_read = layout.contiguous_dim, _read_elements(layout.element)[-1]
    if contiguous is None:
        return "the tile is contiguous along no dimension"
    try:
        # A write of a line of a block has the constraints of an access of a `Transfer`.
        problem = Transfer(layout.element, layout.shape, contiguous, WARP).problem(layout)
    except LayoutError as error:
        return str(error)
    across = layout.shape[1 - contiguous]
    if problem is None and across % smallest_read:
        return (
            f"{layout.element} is transposed in blocks of {smallest_read} or more elements of global "
            f"memory; the tile has {across} {('rows', 'columns')[1 - contiguous]}"
        )
    return problem


@lru_cache(maxsize=1024)
def transposition(
    layout: TileLayout, threads: int, source: TileLayout | None = None
) -> Transposition:
    """Return the best arrangement for a tile: the fewest bank conflicts, then reads of whole sectors of
    global memory, then work for every thread, then the fewest instructions.

    Args:
        layout: the tile's layout.
        threads: the number of threads.
        source: the layout of the tile that is read, indexed as the other; None for global memory.

    Raises:
        LayoutError: if the tile cannot be filled by a transposition.

    Example:
        >>> tile = tile_of_atoms(element("e4m3"), (128, 128), 1, Swizzle.B128)
        >>> transposition(tile, threads=128).read
        8
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
            for read in _read_elements(layout.element)
            if layout.shape[1 - contiguous] % read == 0
            for lanes in (1, 2, 4, 8, 16, 32)
            if layout.shape[contiguous] // _stored_elements(layout.element) % lanes == 0
            for skew in (1, 2, 4, 8)
            if skew <= read
            for begin in ((1, 2, 4, 8) if source and source.swizzle is not Swizzle.B128 else (1,))
            if begin <= _stored_elements(layout.element)
        ),
        key=lambda arrangement: arrangement._cost,
    )
    for arrangement in arrangements:
        if not any(access.conflicts for access in arrangement.accesses(layout)):
            return arrangement
    return min(arrangements, key=lambda arrangement: arrangement.wavefronts(layout).wavefronts)


@dataclass(frozen=True)
class Relayout:
    """A copy that may change which dimension is contiguous, depending on the tile's layout.

    Attributes:
        element: the element type.
        shape: (rows, columns) of the tile.
        contiguous: the tile's dimension along which the source is contiguous.
        threads: the number of threads.
        source: the layout of the tile that is read, indexed as the one that is written; None for
            global memory.

    Example:
        >>> copy = Relayout(element("e4m3"), (128, 128), contiguous=0, threads=128)
        >>> copy.transposes(tile_of_atoms(element("e4m3"), (128, 128), 1, Swizzle.B128))
        True
    """

    element: Element
    shape: tuple[int, ...]
    contiguous: int
    threads: int
    source: TileLayout | None = None

    def transposes(self, layout: TileLayout) -> bool:
        """Whether the copy transposes the data."""
        return len(layout.shape) == 2 and layout.contiguous_dim == 1 - self.contiguous

    def plan(self, layout: TileLayout) -> Transfer | Transposition:
        """Return the arrangement that fills the tile.

        Raises:
            LayoutError: if the tile cannot be filled.
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
        """Return why the tile cannot be filled, or None."""
        if self.transposes(layout):
            return source_problem(self.source) or transposition_problem(layout)
        try:
            return self._transfer().problem(layout)
        except LayoutError as error:
            return str(error)

    def conflicts(self, layout: TileLayout) -> Access:
        """Return the worst bank conflict of a warp's access to a tile that can be filled."""
        return self.plan(layout).conflicts(layout)

    def _transfer(self) -> Transfer:
        return Transfer(self.element, self.shape, self.contiguous, self.threads, source=self.source)
