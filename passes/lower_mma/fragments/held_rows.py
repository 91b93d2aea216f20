"""Which rows of a fragment a memref holds, and where, if it holds them in two dimensions."""

from collections.abc import Iterator
from contextlib import contextmanager

from ....dialect.bindings import ir
from ....dialect.irtypes import Value
from ....ir import emit
from ....ir.i32 import I32
from ....ir.shared_memory import stride_value


def extent(memref: Value, dim: int) -> Value | None:
    """Return a dynamic extent of a memref (i32), None for a static one; one that is larger than
    2^31 - 1 is that."""
    if not memref.type.is_dynamic_dim(dim):
        return None
    index = ir.IndexType.get()
    found = emit.value("memref.dim", (memref, emit.constant(dim, index)), index)
    most = emit.value("arith.minsi", (found, emit.constant(2**31 - 1, index)), index)
    return emit.value("arith.index_cast", (most,), emit.i32())


@contextmanager
def where_before(end: Value, first: Value, distance: int) -> Iterator[None]:
    """Execute the ops of the `with` block where `first` plus a distance is less than `end` (i32)."""
    with emit.guarded(emit.compare("slt", emit.binary("addi", first, distance), end)):
        yield


class StackedRows:
    """The places of a thread's rows in a memref of matrices, whose rows follow each other; or of its
    elements of a slice, in a matrix.

    Args:
        memref: the memref.
        count: the rows of the fragment.
        first: the thread's first row (i32).
    """

    def __init__(self, memref: Value, count: int, first: Value) -> None:
        self._of_matrix = count // memref.type.shape[0]
        self._strides = [stride_value(memref, dim, emit.i64()) for dim in (0, 1)]
        self._first = I32(first)

    def offset(self, distance: int) -> Value:
        """Return how many elements (i64) after the memref's first a row begins.

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
    def where_before(self, end: Value, distance: int) -> Iterator[None]:
        """Execute the ops of the `with` block where the row of a matrix is less than `end` (i32)."""
        row = (self._first + distance) % self._of_matrix
        with emit.guarded(emit.compare("slt", row.value, end)):
            yield
