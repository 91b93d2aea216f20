"""The accesses by which a warpgroup moves a fragment between its registers and a tile.

`ldmatrix` and `stmatrix` (PTX ISA 9.7.14.5.15, 9.7.14.5.16) move matrices of 8 rows of 16 bytes: each
thread gives the address of one row, and holds 4 bytes of another. The fragments of A (every type) and of
D (16-bit types) distribute a matrix over the threads in that way. Any other layout is accessed element
by element.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .banks import Access, warp_access
from .fragments import FRAGMENT_M, WARPGROUP, rows_of_warp
from .modes import LayoutError, Multiple
from .tile import TileLayout

_WARP = 32

#: Bytes of one register.
_REGISTER_BYTES = 4


@dataclass(frozen=True)
class FragmentAccess:
    """The access of one instruction of a warpgroup to a tile, for the fragment's first 64 rows.

    Attributes:
        vector: contiguous elements at the address that a thread gives.
        matrices: whether it is `ldmatrix` or `stmatrix`, of four matrices.
        transposed: whether the matrices are transposed (`.trans`; 16-bit types).
        columns: without `matrices`, columns from one thread to the next of the same row.
        warp_rows: rows from the access of one warp to that of the next.
    """

    vector: int
    matrices: bool = False
    transposed: bool = False
    columns: int = 2
    warp_rows: int = rows_of_warp(FRAGMENT_M)

    def start(self, thread: Any) -> tuple[Any, Any]:
        """Return (row, column) of the first element that a thread of the warpgroup accesses.

        Args:
            thread: a number, an array, or anything else with Python's `+`, `*`, `//` and `%`; the results
                have the same type.
        """
        warp, lane = thread // _WARP, thread % _WARP
        first = warp * self.warp_rows
        if not self.matrices:
            return first + lane // 4, lane % 4 * self.columns
        if self.transposed:
            return first + lane // 8 % 2 * 8, lane % 8 + lane // 16 * 8
        return first + lane % 16, lane // 16 * self.vector

    def conflicts(self, layout: TileLayout) -> Access:
        """Return the worst bank conflict of a warp's access to a tile that starts with its pattern.

        A run-time origin is taken as 0.
        """
        addresses = layout.with_origin().offsets_at(*self.start(np.arange(WARPGROUP)))
        size = self.vector * layout.element.bits // 8
        accesses = [warp_access(addresses[w : w + _WARP], size) for w in range(0, WARPGROUP, _WARP)]
        return max(accesses, key=lambda access: access.conflicts)

    def __str__(self) -> str:
        if not self.matrices:
            return f"{self.vector} element{'s' * (self.vector > 1)} at a time"
        return "8x8 matrices" + (", transposed" if self.transposed else "")


def accumulator_access(layout: TileLayout) -> FragmentAccess:
    """Return the access to an accumulator's elements in a tile of that layout.

    Raises:
        LayoutError: if no instruction can access them.
    """
    _check(layout)
    unit = layout.element.unit
    if layout.element.bits == 16:
        for dim in (1, 0):
            if has_contiguous_runs(layout, dim, unit):
                return FragmentAccess(unit, matrices=True, transposed=dim == 0)
    return element_access(layout)


def element_access(layout: TileLayout) -> FragmentAccess:
    """Return the access to an accumulator's elements by ordinary loads: `ldmatrix` reads the CTA's own
    shared memory alone.

    Raises:
        LayoutError: if no instruction can access them.
    """
    _check(layout)
    return FragmentAccess(2 if has_contiguous_runs(layout, 1, 2) else 1)


def byte_access(layout: TileLayout) -> FragmentAccess:
    """Return the access to an accumulator's elements of 4 bits in a tile of bytes: a pair of columns of
    the accumulator is a byte.

    Raises:
        LayoutError: if no instruction can access them.
    """
    _check(layout)
    return FragmentAccess(1, columns=1)


def a_fragment_access(layout: TileLayout) -> FragmentAccess:
    """Return the access to the elements of an A in registers in a tile of that layout.

    Raises:
        LayoutError: if no instruction can access them.
    """
    _check(layout)
    element = layout.element
    if has_contiguous_runs(layout, 1, element.unit):
        return FragmentAccess(element.unit, matrices=True)
    if element.bits == 16 and has_contiguous_runs(layout, 0, element.unit):
        return FragmentAccess(element.unit, matrices=True, transposed=True)
    packed = _REGISTER_BYTES * 8 // element.bits
    if has_contiguous_runs(layout, 1, packed):
        return FragmentAccess(packed, columns=packed)
    if element.bits < 8:
        raise LayoutError(
            f"registers hold {packed} elements of {element} along k, which must be adjacent in memory; "
            f"expected contiguous rows at multiples of {packed} elements"
        )
    return FragmentAccess(1, columns=packed)


def has_contiguous_runs(layout: TileLayout, dim: int, count: int) -> bool:
    """Whether `count` elements along a dimension, from each multiple of `count` on, are contiguous and
    aligned."""
    coalesced = layout.coalesced()
    if count == 1:
        return True
    if coalesced.contiguous_dim != dim or coalesced.modes[dim][0].extent % count:
        return False
    origin = coalesced.origins[dim]
    if (origin.of if isinstance(origin, Multiple) else origin) % count:
        return False
    return all(
        mode.stride % count == 0
        for modes in coalesced.modes
        for mode in modes
        if mode.extent > 1 and mode.stride != 1
    )


def _check(layout: TileLayout) -> None:
    if len(layout.shape) != 2:
        raise LayoutError(f"a tile of rank {len(layout.shape)} is accessed one stage at a time")
