"""What NumPy does with numbers of several types, slices along both axes, and reductions of everything."""

import numpy as np
import pytest
from kernel_failures import F
from numpy_kernels import matrix, numbers, outer, totals

import mlir_smem.language as sl

RNG = np.random.default_rng(5)
GRID = (1,)


def expected_numbers(M, N, a, p):
    return [
        *(1.0 / M, M / 64, M / N, M * 0.5, 0.5 - M, M, np.sqrt(M), 1 / np.sqrt(N)),
        *(max(M, 0.5), M / 4.0, M**0.5, 2.0 ** min(M, 3), M),
        *(a * M, M - a, p[1] + M, (M - p[1]) / 2, 1),
        *(M ^ 3, ~M + (p[2] >> 1), -7 % p[2] + M % 48, ~p[2]),
        *(2.0 if M > 64 else 3, M, 3.5),
        *(0, 0.5, M * 2, 3),
        *(M, M, 3.5),
        2.0,
        1.0,
        *(3 * M, M / 4, M == 64),
    ]


@pytest.mark.parametrize("rows", [64, 192])
def test_indices_and_numbers_meet_floats(rows):
    a, p = matrix(rows), np.array([1, -5, 3], np.int32)
    d, c = np.zeros((1, 40), np.float32), np.zeros((64, 64), np.float32)
    numbers[GRID](a, p, d, c, on="cpu")
    expected = np.array(expected_numbers(rows, 40, a[0, 0], [1, -5, 3]), np.float32)
    np.testing.assert_allclose(d[0, : len(expected)], expected, rtol=1e-6)
    np.testing.assert_allclose(c, (a[:64] / np.float32(rows) + rows) / np.float32(40), rtol=1e-6)


def test_numbers_of_indices_have_code():
    assert "cvt.rn.f32.s64" in numbers.ptx(F, sl.i32, F, F)


@pytest.mark.parametrize("large", [2**24 + 1, 2**31 + 7, 3 * 2**40])
def test_an_index_is_rounded_to_nearest(large):
    @sl.kernel("():index, (1,2)")
    def kernel(n, D):
        D[0, 0] = n * 1.0
        D[0, 1] = sl.where(n == float(large), n.to(sl.f32), 0.0)

    d = np.zeros((1, 2), np.float32)
    kernel[GRID](np.int64(large), d, on="cpu")
    assert d.tolist() == [[np.float32(large)] * 2]


def outer_reference(r, v, w, x):
    r, v, w = r[:, None], v[None, :], w[:, None]
    y = np.where(2 * r < v + 0.5, w * w, -v * r) + np.where(w > 0, x, v) * np.where(r > 0, 2, x)
    return r - v, y + w - v


def test_rows_meet_columns_as_in_numpy():
    inputs = [RNG.standard_normal(64).astype(np.float32) for _ in range(3)] + [matrix()]
    c, d = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
    outer[GRID](*inputs, c, d, on="cpu")
    first, second = outer_reference(*inputs)
    assert (c == first).all()
    np.testing.assert_allclose(d, second, rtol=1e-5, atol=1e-6)


def test_rows_and_columns_of_two_extents():
    @sl.kernel("(64), (24), (64,24)")
    def kernel(R, V, C):
        sl.store(sl.load(R, axis=1)[:, None] * sl.load(V, axis=0)[None, :], C)

    r, v, c = (
        np.arange(64, dtype=np.float32),
        np.arange(24, dtype=np.float32),
        np.zeros((64, 24), "f4"),
    )
    kernel[GRID](r, v, c, on="cpu")
    assert (c == r[:, None] * v[None, :]).all()


MIXED = "; index both with None, or neither: m[:, None] for rows, n[None, :] for columns"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (
            lambda m, n: m + n[None, :],
            "a slice of 64 rows of f32 meets a slice[None, :] of 64 columns",
        ),
        (
            lambda m, n: n * m[:, None],
            "a slice of 64 columns of f32 meets a slice[:, None] of 64 rows",
        ),
        (
            lambda m, n: m[:, None] < m,
            "a slice[:, None] of 64 rows of f32 meets a slice of 64 rows",
        ),
        (
            lambda m, n: sl.where(m > 0.0, n[None, :], 0),
            "a slice of 64 rows of b1 meets a slice[None",
        ),
    ],
)
def test_a_slice_without_an_index_meets_one_with(function, expected):
    def kernel(A, B):
        x = sl.load(A[0:64, :])
        function(x.max(axis=1), x.max(axis=0))

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64), (M,64)")(kernel).trace(F, F)
    assert caught.value.message.startswith(expected) and caught.value.message.endswith(MIXED)


def totals_reference(a, b):
    floats = [a.max(), a.min(), a.sum(), b.prod(), b.max(), a.sum(), a.sum(), 2 * b.min()]
    return floats, [(a * 8).astype(np.int32).sum(), (b * 8).astype(np.int32).max()], b / b.sum()


def test_reductions_of_all_elements():
    a, b = matrix(128), matrix(64, 16) + 1
    floats, integers, quotient = totals_reference(a, b)
    d, e = np.zeros((1, 16), np.float32), np.zeros((1, 4), np.int32)
    totals[GRID](a, b, d, e, on="cpu")
    np.testing.assert_allclose(d[0, :8], floats, rtol=1e-4)
    assert e[0, :2].tolist() == integers
    np.testing.assert_allclose(b, quotient, rtol=1e-4)


def test_reductions_of_all_elements_are_in_order():
    assert totals.check(F, F, F, sl.i32) == ()


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_rows_of_a_fragment(arch):
    @sl.kernel("(256,16), (192,16), (256,16), (192,16)")
    def kernel(A, B, C, D):
        x, y = sl.load(A), sl.load(B)
        sl.store(x[128:256], C[0:128, :])
        sl.store(x[-256:128, 8:16], C[128:256, 0:8])
        sl.store(y[128:, :] * 2.0, D[0:64, :])
        sl.store((y + 1.0)[0:64, :], D[64:128, :])

    a, c, d = matrix(256, 16), np.zeros((256, 16), np.float32), np.zeros((192, 16), np.float32)
    kernel[GRID](a, a[:192], c, d, on="cpu", arch=arch)
    assert (c[:128] == a[128:]).all() and (c[128:, :8] == a[:128, 8:]).all()
    assert (d[:64] == 2 * a[128:192]).all() and (d[64:128] == a[:64] + 1).all()


def test_a_choice_of_a_fragment_or_a_number():
    @sl.kernel("(64,64), (64,64), (64)")
    def kernel(A, C, E):
        x, block = sl.load(A), sl.block_id(0)
        y = 1.5 if block > 3 else x
        z = x * 2.0 if block > 3 else 0
        m = x.max(axis=1) if block < 3 else -1
        sl.store(y + z + sl.where(sl.iota(0) == sl.iota(1), 2.0, 1), C)
        sl.store(sl.where(sl.iota(0) < 3, m, 4), E)

    a, c, e = matrix(), np.zeros((64, 64), np.float32), np.zeros(64, np.float32)
    kernel[GRID](a, c, e, on="cpu")
    np.testing.assert_array_equal(c, a + (np.eye(64, dtype=np.float32) + 1))
    np.testing.assert_array_equal(e, np.where(np.arange(64) < 3, a.max(1), 4))
