"""Pointers to a thread's elements of a fragment: in a tile, or in global memory within its bounds."""

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
from ....ir.windows import extent_value, has_even_rows
from ....layout import TileLayout
from ....layout.fragment_access import FragmentAccess
from ....layout.fragments import WARPGROUP
from ..registers import SliceRegisters

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
        bits: of its elements; a pair of 4 bits is an element of the matrix.
        matrix_rows: of each of several matrices, if it does not follow from the memref's type.
    """

    def __init__(
        self,
        memref: Value,
        thread: Value,
        warp_rows: int,
        count: int,
        bits: int,
        matrix_rows: int | None,
    ) -> None:
        self._element = memref.type.element_type
        i64 = emit.i64()
        column_dim = memref.type.rank - 1
        self._strides = [stride_value(memref, dim, i64) for dim in (column_dim - 1, column_dim)]
        if bits == 4:
            self.access = FragmentAccess(1, columns=1, warp_rows=warp_rows)
        else:
            vector = 2 if self._strides[1] == 1 and has_even_rows(memref) else 1
            self.access = FragmentAccess(vector, warp_rows=warp_rows)
        start = self.access.start(I32(thread) % WARPGROUP)
        self._bounds = _RowBounds(memref, column_dim, count, start[0].value, matrix_rows)
        self._first_column = start[1]
        self._column_end = extent_value(memref, column_dim)
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

    @property
    def has_all_columns(self) -> bool:
        """Whether the matrix is known to have all columns of the fragment."""
        return self._column_end is None

    def has_column(self, columns: int) -> Value:
        """Return whether the matrix, of a dynamic number of columns, has one, by its distance (i1)."""
        assert self._column_end is not None
        return emit.compare("slt", (self._first_column + columns).value, self._column_end)

    def contains(self, rows: int, columns: int) -> Value:
        """Return whether the matrix, of a dynamic extent, has an element, by its distance (i1)."""
        if self.has_all_columns:
            return self._bounds.contains(rows)
        if self.has_all_rows:
            return self.has_column(columns)
        return emit.binary("andi", self._bounds.contains(rows), self.has_column(columns))

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


class _RowBounds:
    """The bounds of a memref in global memory for a thread's rows of a fragment, or elements of a slice.

    If the rows are in two dimensions, they are those of one matrix after those of another.

    Args:
        memref: the memref.
        dims: the number of its first dimensions that have the rows: 1 or 2.
        count: the rows of the fragment.
        first: the thread's first row (i32).
        matrix_rows: of each matrix, if it does not follow from the type.

    Attributes:
        are_stacked: whether there are two dimensions.
    """

    def __init__(
        self, memref: Value, dims: int, count: int, first: Value, matrix_rows: int | None
    ) -> None:
        self._first = I32(first)
        self._end = extent_value(memref, dims - 1)
        self._matrices: Value | None = None
        self.are_stacked = dims > 1
        if self.are_stacked:
            self._matrices = extent_value(memref, 0)
            matrices, rows, *_ = memref.type.shape
            rows_of_type = rows if self._end is None else count // matrices
            self._rows_of_matrix = matrix_rows or rows_of_type
            self._strides = [stride_value(memref, dim, emit.i64()) for dim in (0, 1)]

    @property
    def covers_all(self) -> bool:
        """Whether the memref is known to have all rows."""
        return self._end is None and self._matrices is None

    def offset(self, distance: int) -> Value:
        """Return the offset of a row of several matrices in the memref, in elements (i64).

        Args:
            distance: that of the row from the thread's first row.
        """
        row = self._first + distance
        index = row // self._rows_of_matrix, row % self._rows_of_matrix
        terms = [
            emit.binary("muli", emit.value("arith.extui", (number.value,), emit.i64()), stride)
            for number, stride in zip(index, self._strides, strict=True)
        ]
        return emit.binary("addi", *terms)

    @contextmanager
    def where_in_bounds(self, distance: int) -> Iterator[None]:
        """Execute the ops of the `with` block where a row, by its distance, is within the memref."""
        if self.covers_all:
            yield
            return
        with emit.scf_if(self.contains(distance)):
            yield

    def contains(self, distance: int) -> Value:
        """Return whether a row, by its distance, is within the memref, of a dynamic extent (i1)."""
        row = self._first + distance
        conditions = []
        if self._matrices is not None:
            matrix = row // self._rows_of_matrix
            conditions.append(emit.compare("slt", matrix.value, self._matrices))
        if self._end is not None:
            row = row % self._rows_of_matrix if self.are_stacked else row
            conditions.append(emit.compare("slt", row.value, self._end))
        return emit.conjunction(conditions)


class SlicePointers:
    """Pointers to a thread's elements of a vector in global memory, or of a matrix whose rows hold them
    one after the other."""

    def __init__(
        self, memory: Value, registers: SliceRegisters, thread: Value, matrix_rows: int | None
    ) -> None:
        i64 = emit.i64()
        self._type = memory_type(memory.type.element_type)
        start = registers.start(thread).value
        self._bounds = _RowBounds(memory, memory.type.rank, registers.extent, start, matrix_rows)
        self.where_in_bounds = self._bounds.where_in_bounds
        self.contains = self._bounds.contains
        self.covers_all = self._bounds.covers_all
        self._first = memref_pointer(memory, 1)
        if not self._bounds.are_stacked:
            self._stride = stride_value(memory, 0, i64)
            first = emit.value("arith.extui", (start,), i64)
            self._first = gep(self._first, emit.binary("muli", first, self._stride), self._type)
        size = memory.type.element_type.width // 8
        self.alignment = ir.IntegerAttr.get(i64, size)

    def pointer(self, index: int) -> Value:
        """Return the pointer `index` elements after the thread's first."""
        if self._bounds.are_stacked:
            return gep(self._first, self._bounds.offset(index), self._type)
        if isinstance(self._stride, int):
            return gep(self._first, index * self._stride, self._type)
        if not index:
            return self._first
        return gep(self._first, emit.binary("muli", self._stride, index), self._type)
