"""Stores of the rows that an array has, on the emulator against NumPy; and what is refused."""

import ml_dtypes
import numpy as np
import pytest
from kernel_failures import failure

import mlir_smem.language as sl

BF16 = np.dtype(ml_dtypes.bfloat16)
RNG = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
@pytest.mark.parametrize("order", ["row-major", "column-major"])
@pytest.mark.parametrize("height", [1, 8, 63, 64, 65, 100, 128, 131])
def test_rows_past_the_end_are_not_stored(dtype, order, height):
    strides = {"row-major": "(?,1)", "column-major": "(1,?)"}[order]

    @sl.kernel(f"(64,32), (M,32):{strides}")
    def repeat(X, Y):
        row = sl.block_id(0) * 64
        sl.store(sl.load(X), Y[sl.ds(row, 64), :], rows=Y.shape[0] - row)

    x = RNG.standard_normal((64, 32)).astype(np.float32)
    memory = np.full((192, 32), 7, dtype, order="C" if order == "row-major" else "F")
    # A third block has no row.
    repeat[(3,)](x, memory[:height], on="cpu")
    expected = np.tile(x, (3, 1)).astype(dtype)
    assert (memory[:height] == expected[:height]).all()
    assert (memory[height:] == 7).all()


def test_many_rows_of_a_wide_fragment():
    """128 rows of two instructions."""

    @sl.kernel("(128,16), (128,16), ()")
    def some(X, Y, rows):
        sl.store(sl.load(X), Y[:, :], rows=rows.to(sl.index))

    x = RNG.standard_normal((128, 16)).astype(np.float32)
    for rows in (-(2**31), -1, 0, 77, 128, 2**31 - 1):
        y = np.zeros_like(x)
        some[(1,)](x, y, rows, on="cpu")
        there = min(max(rows, 0), 128)
        assert (y[:there] == x[:there]).all() and not y[there:].any()


def test_such_kernels_are_proven():
    @sl.kernel("(64,32), (M,32)")
    def copy(X, Y):
        sl.store(sl.load(X), Y[0:64, :], rows=Y.shape[0])

    assert not copy.check(sl.f32, sl.f32)


def test_a_number_of_rows_that_is_known():
    @sl.kernel("(64,32), (64,32)")
    def few(X, Y):
        sl.store(sl.load(X), Y[:, :], rows=5)

    x, y = np.ones((64, 32), np.float32), np.zeros((64, 32), np.float32)
    few[(1,)](x, y, on="cpu")
    assert y[:5].all() and not y[5:].any()


def test_rows_of_a_tile():
    def kernel(A, B):
        t = sl.alloc((64, 64), sl.bf16)
        sl.store(sl.load(A[0:64, 0:64]), t, rows=3)

    assert failure(kernel)[0] == (
        "sl.store with rows takes a window of an array, not a tile 64x64 of bf16"
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_some_elements_of_a_slice(axis):
    @sl.kernel("(64,32), (S), ()")
    def largest(X, Y, count):
        size = 32 if axis == 0 else 64
        sl.store(sl.load(X).max(axis=axis), Y[0:size], rows=count.to(sl.index))

    x = RNG.standard_normal((64, 32)).astype(np.float32)
    for count in (-5, 0, 1, 9, 31, 32, 63, 64, 100):
        y = np.full(64, 7, np.float32)
        largest[(1,)](x, y, count, on="cpu")
        there = min(max(count, 0), 64 if axis else 32)
        assert (y[:there] == x.max(axis)[:there]).all() and (y[there:] == 7).all()


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
@pytest.mark.parametrize(("heads", "queries"), [(2, 32), (8, 8), (4, 32), (64, 1)])
def test_rows_of_several_matrices(dtype, heads, queries):
    """Each head's queries are rows of one fragment; some of them are not stored."""
    rows = heads * queries

    @sl.kernel(f"({rows},32), (H,M,32):(?,?,1), (H,M):(?,?)")
    def by_heads(X, Y, L):
        x = sl.load(X)
        block_heads, first = sl.ds(sl.block_id(0) * heads, heads), sl.block_id(1) * queries
        left = Y.shape[1] - first
        sl.store(x, Y[block_heads, sl.ds(first, queries), :], rows=left)
        sl.store(x.max(axis=1), L[block_heads, sl.ds(first, queries)], rows=left)

    x = RNG.standard_normal((rows, 32)).astype(np.float32)
    of_heads = x.reshape(heads, queries, 32)
    # Heads are neighbours of a query, and one that is not stored is between two queries.
    for there in {queries, max(queries - 3, 1), queries + 1}:
        memory = np.full((there, 2 * heads + 1, 32), 7, dtype)
        y, lse = memory[:, :-1].swapaxes(0, 1), np.full((2 * heads, there + 1), 7, np.float32)
        by_heads[2, -(-there // queries)](x, y, lse[:, :there], on="cpu")
        expected = np.tile(of_heads, (2, 2, 1))[:, :there]
        assert (y == expected.astype(dtype)).all() and (memory[:, -1] == 7).all()
        assert (lse[:, :there] == expected.max(-1)).all() and (lse[:, there:] == 7).all()


def test_windows_that_are_no_stack_of_rows():
    def kernel(A, B):
        sl.store(sl.load(A[0:64, 0:64]), B[0:2, 0:16, 0:64])

    assert failure(kernel, "(M,64), (H,M,64)")[0] == (
        "a fragment 64x64 of f32 is stored to a window 2x16x64 of the array B (H, M, 64) of f32; "
        "expected a window or tile 64x64"
    )
