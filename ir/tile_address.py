"""Addresses in a tile that each thread computes for itself, swizzle included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..layout import Swizzle, TileLayout
from ..layout.elements import UNIT_BYTES
from ..layout.swizzle import PHASE_BIT
from . import emit
from .i32 import I32
from .shared_memory import allocation_pointer, gep
from .subtiles import Subtile


class TileAddress:
    """Pointers to elements of a part of a tile."""

    def __init__(self, subtile: Subtile) -> None:
        self.subtile = subtile
        self.layout: TileLayout = subtile.slice.layout
        self._base = allocation_pointer(subtile.allocation)
        self._start = self._subtile_start()
        bits = self.layout.element.bits
        #: Whether the part begins with a pattern of the swizzle. Whole patterns do not change the phase:
        #: the thread's own offset is then swizzled alone, so that it does not depend on the stage.
        self.starts_pattern = (
            subtile.slice.multiple * bits // 8 % self.layout.swizzle.pattern_bytes == 0
        )

    def within(self, row: I32, column: I32) -> I32:
        """Bytes from the part's start to an element, before the swizzle."""
        total = self._along(row, 0) + self._along(column, 1)
        bits = self.layout.element.bits
        return total * (bits // 8) if bits >= 8 else total // (8 // bits)

    def pointer(self, within: I32) -> Any:
        """The pointer to what lies `within` bytes from the part's start, before the swizzle."""
        if self.starts_pattern:
            return self.at_swizzled(self.swizzled(within))
        start = self._start
        total = within + (I32(start) if not isinstance(start, int) else start)
        return gep(self._base, self.swizzled(total).value)

    def at_swizzled(self, swizzled: I32) -> Any:
        """The pointer to a swizzled offset from the start of a part that begins with a pattern."""
        return gep(gep(self._base, self._start), swizzled.value)

    def swizzled(self, offset: I32) -> I32:
        """`Swizzle.apply` in IR: the 16-byte unit's index XOR the line's."""
        swizzle = self.layout.swizzle
        if swizzle is Swizzle.NONE:
            return offset
        unit = swizzle.unit_bytes
        mask = swizzle.width - unit
        return offset ^ (offset >> (PHASE_BIT - unit.bit_length() + 1) & mask)

    def _subtile_start(self) -> Any:
        """Bytes from the root to the part, before the swizzle (i32); a number if it is constant."""
        unit = self.layout.element.unit
        start: Any = self.subtile.slice.offset // unit * UNIT_BYTES
        if not self.subtile.terms:
            return start
        total: Any = None
        for term, value in self.subtile.terms:
            scaled = emit.term_value(term, value, emit.i32(), unit)
            total = scaled if total is None else emit.binary("addi", total, scaled)
        return emit.binary("addi", emit.binary("muli", total, UNIT_BYTES), start)

    def _origin(self, dim: int) -> I32 | int:
        """Where the part begins within the modes of a dimension."""
        origin = self.layout.origins[dim]
        if isinstance(origin, int):
            return origin
        position = self.subtile.origin[dim]
        return I32(emit.position_value(position.values, position.constant, emit.i32()))

    def _along(self, index: I32, dim: int) -> I32:
        """The element offset of an index along one dimension of the part."""
        total: I32 | None = None
        index = index + self._origin(dim)
        modes = self.layout.modes[dim]
        for position, mode in enumerate(modes):
            last = position == len(modes) - 1
            digit = index if last else index % mode.extent
            scaled = digit * mode.stride
            total = scaled if total is None else total + scaled
            if not last:
                index = index // mode.extent
        assert total is not None
        return total


class SteppedAddress:
    """Pointers of threads that all step through a tile by the same rows and columns.

    Where a step is the same number of bytes for every thread, or flips the same bits, it costs one
    instruction; elsewhere the address is computed anew.
    """

    def __init__(self, address: TileAddress, starts: Any, start: tuple[I32, I32]) -> None:
        """
        Args:
            address: of the tile.
            starts: (row, column) of the first element of each thread, int64[threads] each.
            start: the same, of the thread that executes it.
        """
        self._address = address
        self._starts, self._start = starts, start
        self._anchors: list[tuple[np.ndarray, I32]] = []

    def pointer(self, rows: int, columns: int) -> Any:
        """The thread's pointer, `rows` and `columns` further than its first."""
        address = self._address
        if not address.starts_pattern or not address.layout.has_static_origin:
            return address.pointer(self._within(rows, columns))
        return address.at_swizzled(self._swizzled(rows, columns))

    def _within(self, rows: int, columns: int) -> I32:
        row, column = self._start
        return self._address.within(row + rows, column + columns)

    def _swizzled(self, rows: int, columns: int) -> I32:
        layout = self._address.layout
        here = layout.offsets_at(self._starts[0] + rows, self._starts[1] + columns)
        for there, value in reversed(self._anchors):
            for difference, step in ((here - there, value.__add__), (here ^ there, value.__xor__)):
                if (difference == difference[0]).all() and difference[0] >= 0:
                    return step(int(difference[0]))
        swizzled = self._address.swizzled(self._within(rows, columns))
        self._anchors.append((here, swizzled))
        return swizzled
