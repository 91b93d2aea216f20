"""Pointers to a thread's elements of a fragment, in a tile or in a matrix in global memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import numpy as np

from ....bindings.irtypes import Attribute, Op, Value
from ....bindings.mlir import ir
from ....ir import emit
from ....ir.i32 import I32
from ....ir.shared_memory import gep, memory_type, memref_pointer, stride_value
from ....ir.subtiles import check_units, subtile_from
from ....ir.tile_address import SteppedAddress, TileAddress
from ....layout import TileLayout
from ....layout.fragment_access import FragmentAccess
from ....layout.fragments import WARPGROUP
from .row_bounds import RowBounds

#: Columns of 16-bit elements of 64 rows that four matrices cover.
MATRIX_COLUMNS = 16


class ElementPointers(Protocol):
    """Pointers to a thread's elements, by their distance from its first element."""

    #: How the elements are accessed.
    access: FragmentAccess

    def pointer(self, rows: int, columns: int) -> Value:
        """Return the pointer that the thread passes to a load or store.

        Args:
            rows, columns: the distance of the element, or of the matrix of `ldmatrix` and `stmatrix`.
        """
        ...


class TilePointers:
    """Pointers to elements in a tile."""

    def __init__(
        self,
        op: Op,
        tile: Value,
        access: Callable[[TileLayout], FragmentAccess],
        thread: Value,
        warp_rows: int,
        cta: Value | None = None,
    ) -> None:
        """
        Args:
            op: the op that accesses the tile.
            tile: the tile.
            access: from the layout of the tile to the `FragmentAccess`.
            thread: the index of the thread in its CTA (i32).
            warp_rows: rows between the first rows of consecutive warps.
            cta: the rank of the CTA of the cluster whose tile it is (i32); None for the thread's own.
        """
        subtile = subtile_from(tile, op)
        self.access = replace(access(subtile.slice.layout), warp_rows=warp_rows)
        requirement = "addresses are computed from multiples of {} elements (16 bytes)"
        check_units(subtile, op, "accesses", requirement)
        starts = self.access.start(np.arange(WARPGROUP, dtype=np.int64))
        start = self.access.start(I32(thread) % WARPGROUP)
        self._address = SteppedAddress(TileAddress(subtile, cta), starts, start)

    def pointer(self, rows: int, columns: int) -> Value:
        return self._address.pointer(rows, columns)


class GlobalPointers:
    """Pointers to an accumulator's elements in global memory, or to pairs where columns are adjacent.

    Args:
        memref: a matrix, or matrices whose rows follow each other.
        thread: the index of the thread in its CTA (i32).
        warp_rows: rows between the first rows of consecutive warps.
        count: the rows of the accumulator.
    """

    def __init__(self, memref: Value, thread: Value, warp_rows: int, count: int) -> None:
        self._element = memref.type.element_type
        i64 = emit.i64()
        column_dim = memref.type.rank - 1
        self._strides = [stride_value(memref, dim, i64) for dim in (column_dim - 1, column_dim)]
        self.access = FragmentAccess(2 if self._strides[1] == 1 else 1, warp_rows=warp_rows)
        start = self.access.start(I32(thread) % WARPGROUP)
        self._bounds = RowBounds(memref, column_dim, count, start[0].value)
        row, column = [
            emit.binary("muli", emit.value("arith.extui", (index.value,), i64), stride)
            for index, stride in zip(start, self._strides, strict=True)
        ]
        base = memref_pointer(memref, 1)
        first = column if self._bounds.are_stacked else emit.binary("addi", row, column)
        self._start = self._offset(base, first)
        self._rows: dict[int, Value] = {}

    @property
    def has_all_rows(self) -> bool:
        """Whether the matrix is known to have all rows of the fragment."""
        return self._bounds.covers_all

    @contextmanager
    def where_has_row(self, rows: int) -> Iterator[None]:
        """Execute the ops of the `with` block where the matrix has a row, by its distance."""
        self.pointer(rows, 0)  # Emitted before the branch, because other blocks use it, too.
        with self._bounds.where_in_bounds(rows):
            yield

    def pointer(self, rows: int, columns: int) -> Value:
        if rows not in self._rows:
            if self._bounds.are_stacked:
                self._rows[rows] = self._offset(self._start, self._bounds.offset(rows))
            else:
                self._rows[rows] = self._advance(self._start, rows, self._strides[0])
        return self._advance(self._rows[rows], columns, self._strides[1])

    def _advance(self, pointer: Value, count: int, stride: int | Value) -> Value:
        """Return `pointer` plus a constant number of strides."""
        if isinstance(stride, int):
            return self._offset(pointer, count * stride)
        if count == 0:
            return pointer
        return self._offset(pointer, emit.binary("muli", stride, count))

    def _offset(self, pointer: Value, offset: Value | int) -> Value:
        return gep(pointer, offset, memory_type(self._element))


def matrix_attributes(transposed: bool) -> dict[str, Attribute]:
    """Return the attributes of matrices of 8 rows of 16 bytes; upstream calls transposed ones `col`."""
    return {
        "layout": ir.Attribute.parse(f"#nvvm.mma_layout<{'col' if transposed else 'row'}>"),
        "shape": ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
        "eltType": ir.Attribute.parse("#nvvm.ld_st_matrix_elt_type<b16>"),
    }
