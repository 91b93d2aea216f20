"""Per-thread offsets of elements in a tile, in elements, swizzle included."""

from __future__ import annotations

from ..layout import Swizzle, TileLayout
from ..layout.swizzle import PHASE_BIT
from . import emit
from .i32 import I32
from .subtiles import Subtile

#: A number if it is known, else an i32 value.
Number = I32 | int


class TileOffset:
    """Offsets of elements of a subtile."""

    def __init__(self, subtile: Subtile) -> None:
        self.subtile = subtile
        self.layout: TileLayout = subtile.slice.layout

    def at(self, row: Number, column: Number) -> Number:
        """Return the elements from the start of the allocation to an element.

        What the start adds in whole swizzle patterns changes no phase; it is added last.
        """
        bits = self.layout.element.bits
        pattern = self.layout.swizzle.pattern_bytes * 8 // bits
        whole, rest = divmod(self.subtile.slice.offset, pattern)
        outer: Number = whole * pattern
        inner: Number = rest
        for term, position in self.subtile.terms:
            value = I32(emit.term_value(term, position, emit.i32(), 1))
            if term.multiple % pattern == 0:
                outer = value + outer
            else:
                inner = value + inner
        return self.swizzled_in(self.linear(row, column) + inner, bits) + outer

    def linear(self, row: Number, column: Number) -> Number:
        """Return the elements from the start of the subtile to an element, before the swizzle."""
        return self._along(row, 0) + self._along(column, 1)

    def swizzled_in(self, offset: Number, bits: int) -> Number:
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
        return I32(emit.position_value(position.values, position.constant, emit.i32()))

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
