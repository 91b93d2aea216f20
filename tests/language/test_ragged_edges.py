"""Loads and stores at the edges of arrays whose extents are no multiples of a window's."""

import numpy as np
import pytest
from kernel_failures import failure
from ml_dtypes import bfloat16
from ragged_kernel import edges

import mlir_smem.language as sl


@pytest.mark.parametrize("dtype", [np.float32, bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("m, n", [(1, 2), (65, 34), (128, 64), (70, 62)])
def test_windows_over_an_edge(m, n, dtype):
    """The emulator stops at an access outside of an array."""
    random = np.random.default_rng(m * n)
    a = random.integers(-9, 10, (m, n)).astype(dtype)
    r, s = (random.integers(-9, 10, k).astype(np.float32) for k in (m, n))
    c, lowest = np.zeros((m, n), np.float32), np.zeros(m, np.float32)
    edges(a, c, r, s, lowest, on="cpu")
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(c, wide + r[:, None] + s)
    np.testing.assert_array_equal(lowest, wide.max(axis=1))


def test_an_odd_number_of_columns_of_a_wider_array():
    """The last column of a pair is neither read nor stored."""

    @sl.kernel("(64,16), (64,16), ()", sync="manual")
    def kernel(A, C, n):
        n = n.to(sl.index)
        sl.store(sl.load(A[:, :], columns=n) + 1.0, C[:, :], columns=n)

    a, c = np.full((64, 16), 5, np.float32), np.zeros((64, 16), np.float32)
    for n in (0, 5, 16, 40):
        c[:] = 0
        kernel[1](a, c, n, on="cpu")
        expected = np.zeros_like(c)
        expected[:, :n] = 6
        np.testing.assert_array_equal(c, expected)


def test_a_transposed_window_over_an_edge():
    @sl.kernel("(M,64), (64,M):f32", sync="manual")
    def kernel(A, C):
        row = sl.grid(sl.cdiv(A.shape[0], 32)) * 32
        x = sl.load(A[sl.ds(row, 32), :].T, other=0)
        sl.store(x, C[:, sl.ds(row, 32)], columns=A.shape[0] - row)

    a = np.arange(38 * 64, dtype=np.float32).reshape(38, 64)
    c = np.zeros((64, 38), np.float32)
    kernel(a, c, on="cpu")
    np.testing.assert_array_equal(c, a.T)


def loads_a_tile(A, B):
    sl.load(sl.alloc((64, 64), sl.bf16), other=0)


def loads_an_operand(A, B):
    sl.load(sl.alloc((64, 64), sl.bf16), a=True, rows=3)


def loads_columns_of_a_slice(A, B):
    sl.load(A[0:64, 0], axis=1, columns=3)


def stores_to_a_tile(A, B):
    sl.store(sl.load(A[0:64, :]), sl.alloc((64, 64), sl.bf16), columns=3)


@pytest.mark.parametrize(
    "function, message",
    [
        (
            loads_a_tile,
            "sl.load with other takes a window of an array, not a tile 64x64 of bf16",
        ),
        (
            loads_an_operand,
            "an A is loaded with bounds; expected a tile, which sl.copy has filled",
        ),
        (
            loads_columns_of_a_slice,
            "sl.load of a slice has columns; expected rows, the number of its elements",
        ),
        (
            stores_to_a_tile,
            "sl.store with columns takes a window of an array, not a tile 64x64 of bf16",
        ),
    ],
)
def test_what_has_no_bounds(function, message):
    assert failure(function)[0] == message
