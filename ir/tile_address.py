"""Per-thread offsets and addresses of elements of a tile, swizzle included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bindings.irtypes import Value
from ..layout import Swizzle, TileLayout
from ..layout.elements import UNIT_BYTES
from ..layout.swizzle import PHASE_BIT
from . import emit
from .i32 import I32
from .shared_memory import allocation_pointer, gep
from .subtiles import Subtile

#: A number if it is known, else an i32 value.
Number = I32 | int


class TileOffset:
    """Offsets of elements of a subtile, in elements."""

    def __init__(self, subtile: Subtile) -> None:
        self.subtile = subtile
        self.layout: TileLayout = subtile.slice.layout

    def element_offset(self, row: Number, column: Number) -> Number:
        """Return the elements from the start of the allocation to an element.

        What the start adds in whole swizzle patterns changes no phase; it is added last.
        """
        bits = self.layout.element.bits
        pattern = self.layout.swizzle.pattern_bytes * 8 // bits
        patterns, remainder = divmod(self.subtile.slice.offset, pattern)
        outer: Number = patterns * pattern
        inner: Number = remainder
        for term, position in self.subtile.terms:
            value = I32(emit.term_value(term, position, emit.i32(), 1))
            if term.multiple % pattern == 0:
                outer = value + outer
            else:
                inner = value + inner
        return self.swizzle(self.linear(row, column) + inner, bits) + outer

    def linear(self, row: Number, column: Number) -> Number:
        """Return the elements from the start of the subtile to an element, before the swizzle."""
        return self._along(row, 0) + self._along(column, 1)

    def swizzle(self, offset: Number, bits: int) -> Number:
        """`Swizzle.apply` in IR: the index of a 16-byte unit XOR that of the line.

        Args:
            offset: an offset before the swizzle, in units of `bits` bits.
            bits: 8 for bytes, or the bits of an element.
        """
        swizzle = self.layout.swizzle
        if swizzle is Swizzle.NONE:
            return offset
        unit = swizzle.unit_bytes
        mask = (swizzle.width - unit) * 8 // bits
        return offset ^ (offset >> (PHASE_BIT - unit.bit_length() + 1) & mask)

    def _origin(self, dim: int) -> Number:
        """The start of the subtile within the modes of a dimension."""
        origin = self.layout.origins[dim]
        if isinstance(origin, int):
            return origin
        position = self.subtile.origin[dim]
        return I32(emit.index_sum(position.values, position.constant, emit.i32()))

    def _along(self, index: Number, dim: int) -> Number:
        """The element offset of an index along one dimension of the subtile."""
        total: Number | None = None
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
            return self.swizzled_pointer(self.swizzle_bytes(within))
        start = self._start_bytes
        total = within + (I32(start) if not isinstance(start, int) else start)
        return gep(self._base, self.swizzle_bytes(total).value)

    def swizzled_pointer(self, swizzled: I32 | None = None) -> Value:
        """Emit the pointer to a swizzled offset, or to the start, of a subtile that begins at a swizzle
        pattern."""
        return gep(gep(self._base, self._start_bytes), 0 if swizzled is None else swizzled.value)

    def swizzle_bytes(self, offset: I32) -> I32:
        """`Swizzle.apply` in IR, of an offset in bytes."""
        swizzled_offset = self.swizzle(offset, 8)
        assert isinstance(swizzled_offset, I32)
        return swizzled_offset

    def _subtile_start(self) -> Value | int:
        """The bytes from the allocation to the subtile, before the swizzle (i32); a number if
        constant."""
        unit = self.layout.element.unit
        start: int = self.subtile.slice.offset // unit * UNIT_BYTES
        if not self.subtile.terms:
            return start
        total: Any = None
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
        return address.swizzled_pointer(self._swizzled_offset(rows, columns))

    def _within(self, rows: int, columns: int) -> I32:
        row, column = self._start
        return self._address.within(row + rows, column + columns)

    def _swizzled_offset(self, rows: int, columns: int) -> I32:
        layout = self._address.layout
        offsets = layout.offsets_at(self._starts[0] + rows, self._starts[1] + columns)
        for anchor, value in reversed(self._anchors):
            for difference, step in (
                (offsets - anchor, value.__add__),
                (offsets ^ anchor, value.__xor__),
            ):
                if (difference == difference[0]).all() and difference[0] >= 0:
                    return step(int(difference[0]))
        swizzled = self._address.swizzle_bytes(self._within(rows, columns))
        self._anchors.append((offsets, swizzled))
        return swizzled
