"""Where a thread's elements of a fragment lie in memory: in a tile, or in a matrix in global memory."""

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ....ir import emit
from ....ir.i32 import I32
from ....ir.shared_memory import gep, memory_type, memref_pointer, stride_value
from ....ir.subtiles import check_units, subtile_from
from ....ir.tile_address import SteppedAddress, TileAddress
from ....layout.fragment_access import FragmentAccess
from ....layout.fragments import WARPGROUP


class Places(Protocol):
    """Pointers to a thread's elements, by rows and columns further than its first."""

    #: How the elements are accessed.
    access: FragmentAccess

    def pointer(self, rows: int, columns: int) -> Any:
        """The pointer to one of them, or to what the thread points at for a matrix."""
        ...


class TilePlaces:
    """Places in a part of a tile."""

    def __init__(self, op: Any, tile: Any, access: Any, thread: Any, warp_rows: int) -> None:
        """
        Args:
            op: the op that accesses the tile.
            tile: the tile.
            access: from its layout to the `FragmentAccess`.
            thread: the thread's index in its block (i32).
            warp_rows: rows from what one warp holds to what the next does.
        """
        subtile = subtile_from(tile, op)
        self.access = replace(access(subtile.slice.layout), warp_rows=warp_rows)
        needs = "addresses are computed from multiples of {} elements (16 bytes)"
        check_units(subtile, op, "accesses", needs)
        starts = self.access.start(np.arange(WARPGROUP, dtype=np.int64))
        start = self.access.start(I32(thread) % WARPGROUP)
        self._address = SteppedAddress(TileAddress(subtile), starts, start)

    def pointer(self, rows: int, columns: int) -> Any:
        return self._address.pointer(rows, columns)


class MatrixPlaces:
    """Places of an accumulator's elements in global memory; pairs where columns are adjacent."""

    def __init__(self, memref: Any, thread: Any, warp_rows: int) -> None:
        self._element = memref.type.element_type
        i64 = emit.i64()
        self._strides = [stride_value(memref, dim, i64) for dim in (0, 1)]
        self.access = FragmentAccess(2 if self._strides[1] == 1 else 1, warp_rows=warp_rows)
        start = self.access.start(I32(thread) % WARPGROUP)
        offsets = [
            emit.binary("muli", emit.value("arith.extui", (index.value,), i64), stride)
            for index, stride in zip(start, self._strides, strict=True)
        ]
        base = memref_pointer(memref, 1)
        self._start = self._further(base, emit.binary("addi", *offsets))
        self._rows: dict[int, Any] = {}

    def pointer(self, rows: int, columns: int) -> Any:
        if rows not in self._rows:
            self._rows[rows] = self._advance(self._start, rows, self._strides[0])
        return self._advance(self._rows[rows], columns, self._strides[1])

    def _advance(self, pointer: Any, count: int, stride: Any) -> Any:
        """`pointer` plus a constant number of strides."""
        if isinstance(stride, int):
            return self._further(pointer, count * stride)
        if count == 0:
            return pointer
        return self._further(pointer, emit.binary("muli", stride, count))

    def _further(self, pointer: Any, offset: Any) -> Any:
        return gep(pointer, offset, memory_type(self._element))
