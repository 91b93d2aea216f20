"""How a warpgroup moves a fragment between its registers and a tile: which thread accesses what.

`ldmatrix` and `stmatrix` (PTX ISA 9.7.14.5.15, 9.7.14.5.16) move matrices of 8 rows of 16 bytes: each
thread gives the address of a row, and holds 4 bytes of another. That is how the figures of A (for every
type) and of D (for 16-bit types) deal a matrix to the threads; whatever lies otherwise is accessed
element by element.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .banks import Access, warp_access
from .fragments import BLOCK_M, WARPGROUP, rows_of_warp
from .modes import LayoutError, Multiple
from .tile import TileLayout

_WARP = 32

#: Bytes of one register.
_REGISTER_BYTES = 4


@dataclass(frozen=True)
class FragmentAccess:
    """What one instruction of a warpgroup accesses in a tile, for the fragment's first block.

    Attributes:
        vector: elements that lie together at the address that a thread gives.
        matrices: whether it is `ldmatrix` or `stmatrix`, of four matrices.
        transposed: whether these are transposed on the way (`.trans`; 16-bit types).
        columns: columns between one thread and the next of those that share a row, where elements are
            accessed by the thread that holds them.
        warp_rows: rows from what one warp accesses to what the next does.
    """

    vector: int
    matrices: bool = False
    transposed: bool = False
    columns: int = 2
    warp_rows: int = rows_of_warp(BLOCK_M)

    def start(self, thread: Any) -> tuple[Any, Any]:
        """(row, column) of what the thread of a warpgroup accesses first.

        Takes a number, an array, or anything else that has Python's `+`, `*`, `//` and `%`, and gives
        two of the same.
        """
        warp, lane = thread // _WARP, thread % _WARP
        first = warp * self.warp_rows
        if not self.matrices:
            return first + lane // 4, lane % 4 * self.columns
        if self.transposed:
            return first + lane // 8 % 2 * 8, lane % 8 + lane // 16 * 8
        return first + lane % 16, lane // 16 * self.vector

    def conflicts(self, layout: TileLayout) -> Access:
        """The worst bank conflict of a warp's access to a tile that starts at its pattern.

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
    """How an accumulator's elements are accessed in a tile of that layout.

    Raises:
        LayoutError: if no instruction can.
    """
    _check(layout)
    unit = layout.element.unit
    if layout.element.bits == 16:
        for dim in (1, 0):
            if has_contiguous_runs(layout, dim, unit):
                return FragmentAccess(unit, matrices=True, transposed=dim == 0)
    return FragmentAccess(2 if has_contiguous_runs(layout, 1, 2) else 1)


def a_fragment_access(layout: TileLayout) -> FragmentAccess:
    """How the elements of an A in registers are accessed in a tile of that layout.

    Raises:
        LayoutError: if no instruction can.
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
            f"registers hold {packed} elements of {element} along k, which must lie together; "
            f"expected contiguous rows at multiples of {packed} elements"
        )
    return FragmentAccess(1, columns=packed)


def has_contiguous_runs(layout: TileLayout, dim: int, count: int) -> bool:
    """Whether each `count` elements along a dimension, from a multiple of that on, are an aligned run."""
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
