"""Which rows of a fragment a memref holds, and where, if it holds them in two dimensions."""

from collections.abc import Iterator
from contextlib import contextmanager

from ....bindings.irtypes import Value
from ....bindings.mlir import ir
from ....ir import emit
from ....ir.i32 import I32
from ....ir.shared_memory import stride_value


def _extent(memref: Value, dim: int) -> Value | None:
    """Return a dynamic extent of a memref (i32), None for a static one; one that is larger than
    2^31 - 1 is that."""
    if not memref.type.is_dynamic_dim(dim):
        return None
    index = ir.IndexType.get()
    found = emit.value("memref.dim", (memref, emit.constant(dim, index)), index)
    most = emit.value("arith.minsi", (found, emit.constant(2**31 - 1, index)), index)
    return emit.value("arith.index_cast", (most,), emit.i32())


class HeldRows:
    """A thread's rows of a fragment, or its elements of a slice, in global memory: which of them a memref
    holds, and where, if it holds them in two dimensions, those of one matrix after those of another.

    Args:
        memref: the memref.
        dims: how many of its first dimensions hold the rows: 1 or 2.
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
            self._of_matrix = count // memref.type.shape[0]
            self._strides = [stride_value(memref, dim, emit.i64()) for dim in (0, 1)]

    @property
    def are_all(self) -> bool:
        """Whether the memref is known to hold all rows."""
        return self._end is None

    def offset(self, distance: int) -> Value:
        """Return how many elements (i64) after the memref's first a row of several matrices begins.

        Args:
            distance: that of the row from the thread's first one.
        """
        row = self._first + distance
        places = row // self._of_matrix, row % self._of_matrix
        terms = [
            emit.binary("muli", emit.value("arith.extui", (place.value,), emit.i64()), stride)
            for place, stride in zip(places, self._strides, strict=True)
        ]
        return emit.binary("addi", *terms)

    @contextmanager
    def where_held(self, distance: int) -> Iterator[None]:
        """Execute the ops of the `with` block where the memref holds a row, by its distance."""
        if self._end is None:
            yield
            return
        row = self._first + distance
        if self.are_stacked:
            row = row % self._of_matrix
        with emit.scf_if(emit.compare("slt", row.value, self._end)):
            yield
