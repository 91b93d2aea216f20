"""Kernels that do not state what their extents are multiples of: nothing outside of an array is accessed.

The emulator stops at an access outside of an array.
"""

from importlib import import_module

import numpy as np
import pytest
from masked_kernels import add_slices, gather, product, relayout
from ml_dtypes import bfloat16

import mlir_smem.language as sl
from mlir_smem.language.decorator import Kernel


@pytest.mark.parametrize(
    "copy_a, copy_b, arch",
    [
        (sl.copy, sl.copy_async, "sm_90a"),
        (sl.copy_async, sl.copy, "sm_100a"),
        (relayout, relayout, "sm_90a"),
    ],
    ids=["copy", "copy_async", "relayout"],
)
def test_a_product_of_any_extents(copy_a, copy_b, arch):
    matmul, random = product(copy_a, copy_b), np.random.default_rng(1)
    # The last two have lines of 16 bytes that end within the array's pitch.
    for m, n, k in ((64, 64, 32), (65, 72, 40), (1, 8, 8), (3, 61, 37), (70, 1, 33)):
        pitches = [-(-extent // 8) * 8 for extent in (k, n)]
        a = random.integers(-3, 4, (m, pitches[0])).astype(bfloat16)[:, :k]
        b = random.integers(-3, 4, (k, pitches[1])).astype(bfloat16)[:, :n]
        c = np.full((m, n), 99, np.float32)
        matmul(a, b, c, on="cpu", arch=arch)
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_a_transposing_copy_of_bytes():
    """8-bit elements are transposed in registers, in blocks of 16 x 16."""

    @sl.kernel("(M,K):(?,1), (K,64):(?,1), (M,64)")
    def matmul(A, B, C):
        M, K = A.shape
        row = sl.grid(sl.cdiv(M, 64)) * 64
        a, b = sl.alloc((64, 32), A.dtype), sl.alloc((32, 64), B.dtype)
        acc = sl.zeros((64, 64), sl.i32)
        for k in sl.range(0, K, 32):
            sl.copy(A[row : row + 64, sl.ds(k, 32)], a)
            sl.copy(B[sl.ds(k, 32), :], b, relayout=True)
            acc = sl.mma(a, b, acc)
        sl.store(acc, C[row : row + 64, :])

    random = np.random.default_rng(2)
    for m, k in ((64, 32), (5, 48), (66, 41)):
        a = random.integers(-9, 10, (m, -(-k // 16) * 16), dtype=np.int8)[:, :k]
        b = random.integers(-9, 10, (k, 64), dtype=np.int8)
        c = np.zeros((m, 64), np.int32)
        matmul(a, b, c, on="cpu")
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize(
    "dtype", [np.float32, bfloat16, np.float16], ids=lambda t: np.dtype(t).name
)
def test_fragments_and_slices_of_any_extents(dtype):
    """Odd numbers of columns have pairs that are not aligned."""
    random = np.random.default_rng(3)
    for m, n in ((64, 32), (1, 1), (65, 33), (130, 63)):
        x, r, c = (random.integers(-9, 10, shape).astype(dtype) for shape in ((m, n), m, n))
        y = np.zeros((m, n), dtype)
        add_slices(x, y, r, c, on="cpu")
        expected = x.astype(np.float32) + r.astype(np.float32)[:, None] + c.astype(np.float32)
        np.testing.assert_array_equal(y.astype(np.float32), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rows_and_windows_that_begin_at_odd_elements(dtype):
    @sl.kernel("(64,33), (64,N), ()")
    def move(X, Y, column):
        column = column.to(sl.index)
        sl.store(sl.load(X[:, 3:11]) + 1.0, Y[:, sl.ds(column, 8)])

    x = np.arange(64 * 33).reshape(64, 33).astype(dtype) % 512
    for column in (0, 1, 7, 25, 40):
        y = np.zeros((64, 32), dtype)
        move[1](x, y, column, on="cpu")
        expected = np.zeros((64, 48), dtype)
        expected[:, column : column + 8] = x[:, 3:11] + 1
        np.testing.assert_array_equal(y, expected[:, :32])


def test_nibbles_of_any_extents():
    @sl.kernel("(M,N), (M,N)")
    def negate(X, Y):
        row = sl.grid(sl.cdiv(X.shape[0], 64)) * 64
        window = (sl.ds(row, 64), sl.ds(0, 16))
        x = sl.load(X[window].bitcast(sl.u4)).to(sl.i8)
        sl.store((15 - x).to(sl.u4), Y[window].bitcast(sl.u4))

    for shape in ((64, 16), (3, 5), (70, 15)):
        x = np.random.default_rng(4).integers(0, 256, shape).astype(np.uint8)
        y = np.zeros_like(x)
        negate(x, y, on="cpu")
        np.testing.assert_array_equal(y, ~x)


@pytest.mark.parametrize("heads, queries", [(2, 32), (3, 32), (2, 37), (3, 37), (5, 5)])
def test_rows_in_two_dimensions(heads, queries):
    @sl.kernel("(H,Q,8), (H,Q,8)")
    def copy_heads(X, Y, *, whole=()):
        H, Q = X.shape[:2]
        x, y = sl.grid(sl.cdiv(H, 2), sl.cdiv(Q, 32))
        for extent in whole:
            sl.multiple_of(X.shape[extent], (2, 32)[extent])
        window = (sl.ds(x * 2, 2), sl.ds(y * 32, 32), slice(None))
        sl.store(sl.load(X[x * 2, sl.ds(y * 32, 64), :]) * 0.0 + sl.iota(0).to(sl.f32), Y[window])

    x, y = np.ones((heads, queries, 8), np.float32), np.zeros((heads, queries, 8), np.float32)
    whole = [dim for dim, extent in enumerate((heads, queries)) if extent % (2, 32)[dim] == 0]
    copy_heads(x, y, on="cpu", whole=tuple(whole))
    row = np.arange(heads)[:, None] % 2 * 32 + np.arange(queries) % 32
    np.testing.assert_array_equal(y, np.broadcast_to(row[:, :, None], y.shape))


def test_elements_are_0_outside_and_are_not_written():
    x, index = np.arange(1, 38, dtype=np.float32), np.array([33, -1, 36, 37, 2**40, 5])
    y, z = np.full(9, 99, np.float32), np.full(7, 99, np.float32)
    gather[1](x, index, y, z, on="cpu")
    # Elements behind the index are 0, too.
    np.testing.assert_array_equal(y, [37, 0, 0, 6, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(z, [34, 35, 36, 37, 0, 0, 0])


def test_a_window_before_an_array_has_no_elements():
    @sl.kernel("(M,8), (64,8)")
    def load(X, Y):
        sl.store(sl.load(X[sl.ds(X.shape[0] - 70, 64), :]), Y)

    for m, there in ((70, 64), (100, 64), (69, 0)):
        x, y = np.ones((m, 8), np.float32), np.full((64, 8), 99, np.float32)
        load[1](x, y, on="cpu")
        assert y.sum() == 8 * there


def masks(kernel, *types, **constants):
    remarks = kernel.explain(*types, **constants)
    return [remark.message for remark in remarks if "masked" in remark.message]


EXAMPLES = (
    *("attention", "attention_backward", "convolution", "gemm"),
    *("int4_matmul", "matmul", "plain_loops", "softmax", "ssd"),
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_example_has_a_mask(name):
    module = import_module(f"mlir_smem.examples.{name}")
    for kernel in vars(module).values():
        if isinstance(kernel, Kernel):
            assert _masks_of_example(kernel) == []


def _masks_of_example(kernel):
    types = [p.dtype or (sl.f32 if p.is_scalar else sl.bf16) for p in kernel.parameters.values()]
    return masks(kernel, *types)


def doubling_kernel(how):
    @sl.kernel("(M,32), (M,32)")
    def double(X, Y):
        M = X.shape[0]
        row = sl.block_id(0) * 64
        if how == "assumed":
            sl.assume(row + 64 <= M)
        rows = slice(row, row + 64)
        if how == "a condition":
            if row + 64 <= M:
                sl.store(sl.load(X[rows, :]) * 2.0, Y[rows, :])
        elif how == "a loop":
            for first in sl.range(0, M // 64 * 64, 64):
                sl.store(sl.load(X[sl.ds(first, 64), :]) * 2.0, Y[sl.ds(first, 64), :])
        else:
            sl.store(sl.load(X[rows, :]) * 2.0, Y[rows, :])

    return double


@pytest.mark.parametrize("how", ["assumed", "a condition", "a loop"])
def test_what_is_known_needs_no_mask(how):
    assert masks(doubling_kernel(how), sl.f32, sl.f32) == []


def test_a_mask_is_explained():
    text = "is masked: it is not known that the elements of {} are within M"
    assert masks(doubling_kernel("not"), sl.f32, sl.f32) == [text.format("X"), text.format("Y")]


@sl.kernel("(G,1,128):i32, (64,8)")
def sparse(W, Y):
    meta = sl.load_metadata(W[sl.ds(sl.block_id(0), 1), :, :], (64, 64), sl.bf16)
    a, b = sl.alloc((64, 32), sl.bf16), sl.alloc((64, 8), sl.bf16)
    sl.store(sl.zeros((64, 32), sl.f32), a)
    sl.store(sl.zeros((64, 8), sl.f32), b)
    sl.store(sl.mma_sp(a, b, meta, sl.zeros((64, 8), sl.f32)), Y)


def test_metadata_has_no_mask():
    with pytest.raises(sl.TraceError) as error:
        sparse.ptx(sl.i32, sl.f32)
    assert error.value.message == (
        "'smem.load' op may access elements outside of W, and has no mask; state what its extents are "
        "multiples of, or assume that the elements are within it"
    )


@sl.kernel("(M,d), (M,d)")
def of_constant_width(X, Y, *, d=64):
    row = sl.grid(sl.cdiv(X.shape[0], 64)) * 64
    sl.store(sl.load(X[row : row + 64, :]) * 2.0, Y[row : row + 64, :])


def test_a_constant_is_an_extent():
    x, y = np.ones((70, 32), np.float32), np.zeros((70, 32), np.float32)
    with pytest.raises(sl.CallError, match=r"^X is \[70, 32\]; expected \['M', 64\]"):
        of_constant_width(x, y, on="cpu")
    with pytest.raises(sl.TraceError, match=r"d, an extent of \(M, d\), is 0; expected a positive"):
        of_constant_width(x, y, on="cpu", d=0)
    of_constant_width(x, y, on="cpu", d=32)
    assert y.sum() == 2 * y.size
