"""The endpoints of a copy: addresses in the source that it reads and in the tile that it writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np

from ...bindings.irtypes import Op, Value
from ...dialect.memrefs import contiguous_dim
from ...dialect.ops.copy import packing_factor
from ...ir import emit
from ...ir.i32 import I32
from ...ir.shared_memory import gep, memory_type, memref_pointer, stride_value
from ...ir.subtiles import Subtile
from ...ir.tile_address import SteppedAddress, TileAddress
from ...layout import Multiple, TileLayout, Transfer, Transposition


@dataclass(frozen=True)
class RegisterBlock:
    """The block that a thread transposes in its registers.

    Attributes:
        plan: the plan of the copy.
        round: the round in which the block is copied.
        line, along: its first element (i32 values): a line of the source, and an element of that line.
        first: the line of the block that the thread reads first (i32); None for line 0.
    """

    plan: Transposition
    round: int
    line: Value
    along: Value
    first: Value | None


class VectorSource(Protocol):
    """The source of a copy by vectors. A line runs along its contiguous dimension."""

    def pointer(self, line: Value, along: Value) -> Value:
        """Return a pointer to an element (i32 values)."""
        ...

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        """Return the distance from a thread's vector of round `anchor` to that of round `round_`.

        It is in lines or in bytes, as the endpoint defines; None if it is not the same for all threads.
        """
        ...

    def advance(self, pointer: Value, step: int) -> Value:
        """Return a pointer advanced by such a distance."""
        ...


class BlockSource(VectorSource, Protocol):
    """The source of a copy by vectors or by transposed blocks."""

    def lines(self, block: RegisterBlock) -> Iterator[Value]:
        """Yield pointers to the lines of a thread's block."""
        ...


class GlobalSource:
    """A matrix in global memory; distances are in lines."""

    def __init__(self, copy: Op) -> None:
        source = copy.source
        self._base = memref_pointer(source, 1)
        self._pitch = stride_value(source, 1 - contiguous_dim(source.type), emit.i64())
        self._element = memory_type(source.type.element_type)
        self._packed = packing_factor(copy.tile.type)

    def pointer(self, line: Value, along: Value) -> Value:
        i64 = emit.i64()
        offset = emit.binary("muli", emit.value("arith.extui", (line,), i64), self._pitch)
        along = emit.binary("divui", along, self._packed)
        offset = emit.binary("addi", offset, emit.value("arith.extui", (along,), i64))
        return gep(self._base, offset, self._element)

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        vectors = (round_ - anchor) * transfer.threads
        is_whole = vectors % (transfer.per_line * transfer.lines) == 0
        return vectors // transfer.per_line if is_whole else None

    def advance(self, pointer: Value, step: int) -> Value:
        if step == 0:
            return pointer
        if isinstance(self._pitch, int):
            return gep(pointer, step * self._pitch, self._element)
        return gep(pointer, emit.binary("muli", self._pitch, step), self._element)

    def lines(self, block: RegisterBlock) -> Iterator[Value]:
        first = self.pointer(block.line, block.along)
        return (self.advance(first, i) for i in range(block.plan.stored))


class TileEndpoint:
    """A tile that a copy reads or writes; distances are in bytes."""

    def __init__(self, subtile: Subtile) -> None:
        self._layout: TileLayout = subtile.slice.layout
        contiguous = self._layout.contiguous_dim
        assert contiguous is not None
        self._contiguous = contiguous
        self._address = TileAddress(subtile)
        self._distances: _RoundDistances | None = None

    def pointer(self, line: Value, along: Value) -> Value:
        row, column = self._index(I32(line), I32(along))
        return self._address.pointer(self._address.within(row, column))

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        """Return the distance; None also if it changes the swizzle phase or depends on the origin."""
        if self._distances is None or self._distances.transfer is not transfer:
            self._distances = _round_distances(self._layout, transfer)
        return self._distances.step(anchor, round_)

    def advance(self, pointer: Value, step: int) -> Value:
        return gep(pointer, step)

    def lines(self, block: RegisterBlock) -> Iterator[Value]:
        if block.first is None:
            return self._lines_at_steps(block)
        lines = (emit.binary("xori", block.first, i) for i in range(block.plan.stored))
        return (self.pointer(emit.binary("addi", block.line, i), block.along) for i in lines)

    def _lines_at_steps(self, block: RegisterBlock) -> Iterator[Value]:
        """Yield pointers to lines at distances that are the same for all threads."""
        starts = tuple(coordinates[0] for coordinates in block.plan.loads(block.round))
        if self._contiguous == block.plan.contiguous:
            # The copy exchanges rows and columns; the plan uses the rows and columns of its target.
            starts = starts[::-1]
        start = self._index(I32(block.line), I32(block.along))
        address = SteppedAddress(self._address, starts, start)
        return (address.pointer(*self._index(i, 0)) for i in range(block.plan.stored))

    def _index(self, line: Any, along: Any) -> tuple[Any, Any]:
        return (along, line) if self._contiguous == 0 else (line, along)


class _RoundDistances:
    """The distances between the rounds of a transfer in a tile; equal copies share one object."""

    def __init__(self, layout: TileLayout, transfer: Transfer) -> None:
        self._layout, self.transfer = layout, transfer
        self._across = 1 - (layout.contiguous_dim or 0)
        self._vectors: dict[int, np.ndarray] = {}
        self._steps: dict[tuple[int, int], int | None] = {}

    def step(self, anchor: int, round_: int) -> int | None:
        """Return the same as `TileEndpoint.step`."""
        key = (anchor, round_)
        if key not in self._steps:
            self._steps[key] = self._compute(anchor, round_)
        return self._steps[key]

    def _compute(self, anchor: int, round_: int) -> int | None:
        transfer, layout = self.transfer, self._layout
        if (round_ - anchor) * transfer.threads % (transfer.per_line * transfer.lines):
            return None
        lines = (round_ - anchor) * transfer.threads // transfer.per_line
        if isinstance(layout.origins[self._across], Multiple):
            # Only the distance of whole atoms (of the outermost mode) is the same for every origin.
            atom = prod(mode.extent for mode in layout.modes[self._across][:-1])
            if lines % atom:
                return None
        # An origin along the lines is the same in both rounds, and cancels in the difference.
        offsets, anchor_offsets = self._vectors_of(round_), self._vectors_of(anchor)
        steps = offsets - anchor_offsets[: len(offsets)]
        size = int(steps[0]) * layout.element.bits // 8
        if (steps != steps[0]).any() or size % layout.swizzle.pattern_bytes:
            return None
        return size

    def _vectors_of(self, round_: int) -> np.ndarray:
        """Return the offset of each thread's vector, in elements before the swizzle."""
        if round_ not in self._vectors:
            index = self.transfer.coordinates(round_)
            if 1 - self._across != self.transfer.contiguous:
                index = index[::-1]
            self._vectors[round_] = self._layout.with_origin().linear_at(*index)
        return self._vectors[round_]


@lru_cache(maxsize=64)
def _round_distances(layout: TileLayout, transfer: Transfer) -> _RoundDistances:
    return _RoundDistances(layout, transfer)
