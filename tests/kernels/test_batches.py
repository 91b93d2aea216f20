"""Leading dimensions: they broadcast, and as few remain as the strides allow."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.kernels.gemm import ProblemError
from mlir_smem.kernels.gemm.call.batches import broadcast, fold_batch
from mlir_smem.runtime import Matrix


def matrix(array):
    """A NumPy array as a kernel addresses it; its address is that of the array's first element."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return Matrix(array.ctypes.data, array.shape, strides, array.itemsize)


def view(folded, array):
    """The NumPy view that a `Matrix` of an array's memory describes."""
    strides = [stride * folded.item_bytes for stride in folded.strides]
    return np.lib.stride_tricks.as_strided(array, folded.shape, strides)


def contiguous(*shape):
    return np.arange(prod(shape), dtype=np.float32).reshape(shape)


def fold(a, b):
    c = np.zeros((*broadcast(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), np.float32)
    return fold_batch(matrix(a), matrix(b), matrix(c)), c


@pytest.mark.parametrize(
    "a, b, dims, extents, rows",
    [
        ((5, 4, 3), (5, 3, 2), ("ab",), (5,), 4),
        ((6, 5, 4, 3), (6, 5, 3, 2), ("ab",), (30,), 4),
        # The rows of one matrix follow those of the other.
        ((6, 5, 4, 3), (3, 2), (), (), 120),
        ((6, 1, 4, 3), (5, 3, 2), ("a", "b"), (6, 5), 4),
        ((4, 3), (5, 3, 2), ("b",), (5,), 4),
        ((6, 5, 4, 3), (6, 1, 3, 2), ("ab",), (6,), 20),
        ((1, 1, 4, 3), (3, 2), (), (), 4),
    ],
)
def test_the_dimensions_that_remain(a, b, dims, extents, rows):
    batch, _ = fold(contiguous(*a), contiguous(*b))
    assert (batch.dims, batch.extents, batch.c.shape[-2]) == (dims, extents, rows)


def test_dimensions_that_are_not_even():
    a = contiguous(6, 8, 4, 3)[:, :4]
    batch, _ = fold(a, contiguous(6, 4, 3, 2))
    assert (batch.dims, batch.extents) == (("ab", "ab"), (6, 4))


def test_one_row_of_each_matrix():
    """The rows of a batch of single rows are as far apart as the matrices."""
    a = contiguous(5, 8, 3)[:, :1]
    batch, _ = fold(a, contiguous(3, 2))
    assert (batch.a.shape, batch.a.strides, batch.dims) == ((5, 3), (24, 1), ())


def test_broadcast_strides():
    """A dimension of stride 0 is one that the operand lacks."""
    a = np.broadcast_to(contiguous(4, 3), (5, 4, 3))
    batch, _ = fold(a, contiguous(5, 3, 2))
    assert (batch.dims, batch.a.shape) == (("b",), (4, 3))


@pytest.mark.parametrize(
    "a, b, message",
    [
        (
            np.broadcast_to(contiguous(4, 3), (5, 4, 3)),
            np.broadcast_to(contiguous(3, 2), (5, 3, 2)),
            "neither A nor B has the leading dimension of 5: their strides are 0",
        ),
        (
            contiguous(4, 4, 4, 4, 4, 3)[::2, ::2, ::2, ::2],
            contiguous(2, 2, 2, 2, 3, 2),
            "A, B and C have 4 leading dimensions that their strides keep apart; a kernel takes up to 3",
        ),
    ],
)
def test_what_a_kernel_does_not_take(a, b, message):
    with pytest.raises(ProblemError) as error:
        fold(a, b)
    assert str(error.value) == message


def test_dimensions_that_do_not_broadcast():
    with pytest.raises(ProblemError) as error:
        broadcast((6, 5), (4,))
    assert str(error.value) == (
        "A has the leading dimensions [6, 5] and B has [4], which do not broadcast: 5 and 4"
    )


@given(st.data())
def test_the_product_is_numpys(data):
    """The operands, multiplied matrix by matrix as a kernel does, are NumPy's product."""
    rank = data.draw(st.integers(0, 3))
    extents = data.draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    m, n, k = (data.draw(st.integers(1, 3)) for _ in "mnk")

    def operand(*shape):
        leading = [data.draw(st.sampled_from([1, extent])) for extent in extents]
        leading = leading[data.draw(st.integers(0, rank)) :] if rank else leading
        steps = [data.draw(st.sampled_from([1, 2])) for _ in (*leading, *shape)]
        whole = contiguous(*(e * s for e, s in zip((*leading, *shape), steps, strict=True)))
        return whole[tuple(slice(None, None, step) for step in steps)]

    a, b = operand(m, k), operand(k, n)
    batch, c = fold(a, b)
    first, second, result = view(batch.a, a), view(batch.b, b), view(batch.c, c)
    for index in np.ndindex(*batch.extents):
        of_a, of_b = (
            tuple(i for i, having in zip(index, batch.dims, strict=True) if name in having)
            for name in "ab"
        )
        result[index] = first[of_a] @ second[of_b]
    assert (c == a @ b).all()
