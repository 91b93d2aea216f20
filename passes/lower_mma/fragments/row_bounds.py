"""The rows of a fragment that are within a memref, and their offsets if it has them in two dimensions."""

from collections.abc import Iterator
from contextlib import contextmanager

from ....bindings.irtypes import Value
from ....bindings.mlir import ir
from ....ir import emit
from ....ir.i32 import I32
from ....ir.shared_memory import stride_value


def _extent(memref: Value, dim: int) -> Value | None:
    """Return a dynamic extent of a memref (i32, at most 2^31 - 1); None for a static one."""
    if not memref.type.is_dynamic_dim(dim):
        return None
    index = ir.IndexType.get()
    extent = emit.value("memref.dim", (memref, emit.constant(dim, index)), index)
    limited = emit.value("arith.minsi", (extent, emit.constant(2**31 - 1, index)), index)
    return emit.value("arith.index_cast", (limited,), emit.i32())


class RowBounds:
    """The bounds of a memref in global memory for a thread's rows of a fragment, or elements of a slice.

    If the rows are in two dimensions, they are those of one matrix after those of another.

    Args:
        memref: the memref.
        dims: the number of its first dimensions that have the rows: 1 or 2.
        count: the rows of the fragment.
        first: the thread's first row (i32).

    Attributes:
        are_stacked: whether there are two dimensions.
    """

    def __init__(self, memref: Value, dims: int, count: int, first: Value) -> None:
        self._first = I32(first)
        self._end = _extent(memref, dims - 1)
        self.are_stacked = dims > 1
        if self.are_stacked:
            self._rows_of_matrix = count // memref.type.shape[0]
            self._strides = [stride_value(memref, dim, emit.i64()) for dim in (0, 1)]

    @property
    def covers_all(self) -> bool:
        """Whether the memref is known to have all rows."""
        return self._end is None

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
        if self._end is None:
            yield
            return
        row = self._first + distance
        if self.are_stacked:
            row = row % self._rows_of_matrix
        with emit.scf_if(emit.compare("slt", row.value, self._end)):
            yield
