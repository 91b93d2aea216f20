"""Per-thread addresses in a tile, swizzle included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bindings.irtypes import Value
from ..layout.elements import UNIT_BYTES
from . import emit
from .i32 import I32
from .shared_memory import allocation_pointer, gep
from .subtiles import Subtile
from .tile_offset import TileOffset


class TileAddress(TileOffset):
    """Pointers to elements of a subtile.

    Args:
        subtile: the subtile.
        cta: the rank of the CTA of the cluster whose tile it is (i32); None for the thread's own.
    """

    def __init__(self, subtile: Subtile, cta: Value | None = None) -> None:
        super().__init__(subtile)
        self._base = allocation_pointer(subtile.allocation)
        if cta is not None:
            self._base = emit.value("nvvm.mapa", (self._base, cta), emit.pointer(7))
        self._start_bytes = self._subtile_start()
        bits = self.layout.element.bits
        #: Whether the subtile begins at a swizzle pattern. If so, its start does not change the phase:
        #: only the thread's offset in the subtile is swizzled, which is then the same for all stages.
        self.starts_pattern = (
            subtile.slice.multiple * bits // 8 % self.layout.swizzle.pattern_bytes == 0
        )

    def within(self, row: I32, column: I32) -> I32:
        """Return the bytes from the start of the subtile to an element, before the swizzle."""
        total = self.linear(row, column)
        assert isinstance(total, I32)
        bits = self.layout.element.bits
        return total * (bits // 8) if bits >= 8 else total // (8 // bits)

    def pointer(self, within: I32) -> Value:
        """Emit the pointer to byte `within` of the subtile, counted before the swizzle."""
        if self.starts_pattern:
            return self.at_swizzled(self.swizzled(within))
        start = self._start_bytes
        total = within + (I32(start) if not isinstance(start, int) else start)
        return gep(self._base, self.swizzled(total).value)

    def at_swizzled(self, swizzled: I32) -> Value:
        """Emit the pointer to a swizzled offset in a subtile that begins at a swizzle pattern."""
        return gep(gep(self._base, self._start_bytes), swizzled.value)

    def swizzled(self, offset: I32) -> I32:
        """`Swizzle.apply` in IR, of an offset in bytes."""
        found = self.swizzled_in(offset, 8)
        assert isinstance(found, I32)
        return found

    def _subtile_start(self) -> Value | int:
        """The bytes from the allocation to the subtile, before the swizzle (i32); a number if
        constant."""
        unit = self.layout.element.unit
        start: int = self.subtile.slice.offset // unit * UNIT_BYTES
        if not self.subtile.terms:
            return start
        total: Value = None
        for term, value in self.subtile.terms:
            scaled = emit.term_value(term, value, emit.i32(), unit)
            total = scaled if total is None else emit.binary("addi", total, scaled)
        return emit.binary("addi", emit.binary("muli", total, UNIT_BYTES), start)


class SteppedAddress:
    """Pointers of threads that all advance through a tile by the same rows and columns.

    An advance that adds the same number of bytes in every thread, or flips the same bits, costs one
    instruction. For others, the address is computed from the start.
    """

    def __init__(self, address: TileAddress, starts: Any, start: tuple[I32, I32]) -> None:
        """
        Args:
            address: the address of the tile.
            starts: (row, column) of the first element of each thread, int64[threads] each.
            start: (row, column) of the first element of the executing thread.
        """
        self._address = address
        self._starts, self._start = starts, start
        self._anchors: list[tuple[np.ndarray, I32]] = []

    def pointer(self, rows: int, columns: int) -> Value:
        """Emit the thread's pointer, `rows` and `columns` after its first element."""
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
