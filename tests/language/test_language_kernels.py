"""Traced kernels on the emulator, against NumPy."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu

F = sl.f32
RNG = np.random.default_rng(7)


def run(kernel, inputs, outputs, grid=None, dtypes=None, **constants):
    """Run a kernel on the emulator; `outputs` are arrays that it writes, by name."""
    arguments = dtypes or [{**inputs, **outputs}[name] for name in kernel.parameters]
    compiled = kernel.compile(*arguments, emit="nvvm", **constants)
    arrays = run_on_cpu(compiled, None, {**inputs, **outputs}, list(outputs), grid=grid)
    return [arrays[name] for name in outputs]


def matrix(rows=64, columns=64):
    return RNG.standard_normal((rows, columns)).astype(np.float32)


def on_fragment(function, *inputs, rows=64, columns=64, **constants):
    """Return function(fragments...) of 64 rows, by a kernel of one warpgroup."""
    names = [f"({rows},{columns})"] * (len(inputs) + 1)
    if len(inputs) == 1:

        @sl.kernel(", ".join(names), sync="manual")
        def kernel(A, D):
            sl.store(function(sl.load(A)), D)

        arguments = {"A": inputs[0]}
    else:

        @sl.kernel(", ".join(names), sync="manual")
        def kernel(A, B, D):
            sl.store(function(sl.load(A), sl.load(B)), D)

        arguments = {"A": inputs[0], "B": inputs[1]}
    (d,) = run(kernel, arguments, {"D": np.zeros((rows, columns), np.float32)}, grid=(1,))
    return d


def test_operators_of_fragments():
    a, b = matrix(), matrix()
    d = on_fragment(lambda x, y: (x + y) * 2.0 - x / (abs(y) + 1) + -x, a, b)
    expected = (a + b) * np.float32(2) - a / (abs(b) + 1) + -a
    np.testing.assert_allclose(d, expected, rtol=1e-6, atol=1e-6)


def test_reflected_operators():
    a = matrix()
    d = on_fragment(lambda x: 1.0 - x + 2.0 * (1.0 / (2.0 + x * x)), a)
    np.testing.assert_allclose(d, 1 - a + 2 * (1 / (2 + a * a)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "exp2",
        "tanh",
        "sqrt",
        "rsqrt",
        "log",
        "log2",
        "abs",
        "erf",
        "floor",
        "ceil",
        "sin",
        "cos",
    ],
)
def test_functions(name):
    a = np.abs(matrix()) + np.float32(0.1)
    functions = {
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "erf": np.vectorize(__import__("math").erf, otypes=[np.float32]),
    }
    d = on_fragment(getattr(sl, name), a)
    expected = functions.get(name) or getattr(np, name)
    np.testing.assert_allclose(d, expected(a), rtol=2e-6, atol=1e-6)


def test_an_approximate_quotient():
    a, b = matrix(), np.abs(matrix()) + np.float32(0.1)

    @sl.kernel("(64,64), (64,64), (64,64)", sync="manual")
    def kernel(A, B, D):
        sl.store(sl.fdiv(sl.load(A), sl.load(B)), D)

    (d,) = run(kernel, {"A": a, "B": b}, {"D": np.zeros_like(a)}, grid=(1,))
    np.testing.assert_allclose(d, a / b, rtol=2.0**-22)
    assert "div.approx.f32" in kernel.compile(a, b, a).ptx


def test_maximum_minimum_and_where():
    a, b = matrix(), matrix()

    def function(x, y):
        return sl.where((x > y) & (x > 0.0), sl.maximum(x, y), sl.minimum(x, y) * 3.0)

    d = on_fragment(function, a, b)
    expected = np.where((a > b) & (a > 0), np.maximum(a, b), np.minimum(a, b) * 3)
    np.testing.assert_array_equal(d, expected)


def test_positions():
    a = matrix()
    d = on_fragment(lambda x: sl.where(sl.iota(1) <= sl.iota(0), x, 0.0), a)
    np.testing.assert_array_equal(d, np.tril(a))


def test_a_row_position_alone():
    a = matrix()
    d = on_fragment(lambda x: x * sl.iota(0).to(sl.f32), a)
    np.testing.assert_array_equal(d, a * np.arange(64, dtype=np.float32)[:, None])


def test_conversions_in_one_expression():
    a = matrix() * 10

    def function(x):
        whole = x.to(sl.i32)
        return (whole * 2 + 1).to(sl.f32) + x.to(sl.f16).to(sl.f32)

    d = on_fragment(function, a)
    expected = (np.trunc(a).astype(np.int32) * 2 + 1) + a.astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(d, expected.astype(np.float32))


def test_fragments_of_two_types_meet_by_a_conversion():
    @sl.kernel("(64,64), (64,64), (64,64)", sync="manual")
    def kernel(A, B, D):
        a, b = sl.load(A), sl.load(B)
        sl.store(a * (b + 1).to(sl.f32), D)

    a, b = matrix(), RNG.integers(-9, 9, (64, 64)).astype(np.int32)
    (d,) = run(kernel, {"A": a, "B": b}, {"D": np.zeros_like(a)}, grid=(1,))
    np.testing.assert_array_equal(d, a * (b + 1).astype(np.float32))


def test_columns():
    @sl.kernel("(64,64), (64,32)", sync="manual")
    def kernel(A, D):
        sl.store(sl.load(A)[:, 16:48] * 2.0, D)

    a = matrix()
    (d,) = run(kernel, {"A": a}, {"D": np.zeros((64, 32), np.float32)}, grid=(1,))
    np.testing.assert_array_equal(d, 2 * a[:, 16:48])


def test_a_loop_carries_what_changes():
    @sl.kernel("(M,64), (64,64)", sync="manual")
    def kernel(A, D):
        total, largest, other = sl.zeros((64, 64), sl.f32), sl.full((64, 64), -9.0, sl.f32), 0
        same = total
        for block in sl.range(A.shape[0] // 64):
            x = sl.load(A[block * 64 : block * 64 + 64, :])
            total = total + x
            largest = sl.maximum(largest, x)
            other = other + 2
        extra = sl.load(A[sl.ds(other * 32 - 64, 64), :])
        sl.store(total + largest + same + extra, D)

    a = matrix(256)
    (d,) = run(kernel, {"A": a}, {"D": np.zeros((64, 64), np.float32)}, grid=(1,))
    blocks = a.reshape(4, 64, 64)
    total = np.zeros((64, 64), np.float32)
    for block in blocks:
        total = total + block
    expected = total + np.maximum(blocks.max(0), -9) + a[192:256]
    np.testing.assert_array_equal(d, expected)


def test_two_names_for_one_value():
    """A loop that changes one of two names leaves the other as it is, in its body, too."""

    @sl.kernel("(64,64), (64,64)", sync="manual")
    def kernel(A, D):
        x = sl.load(A)
        y = x
        for _ in sl.range(3):
            x = x + y
        sl.store(x, D)

    a = matrix()
    (d,) = run(kernel, {"A": a}, {"D": np.zeros((64, 64), np.float32)}, grid=(1,))
    np.testing.assert_array_equal(d, a + a + a + a)


def test_a_container_keeps_the_value_from_before_the_loop():
    @sl.kernel("(64,64), (64,64)", sync="manual")
    def kernel(A, D):
        x = sl.load(A)
        container = [x]
        for _ in sl.range(3):
            x = x + container[0]
        sl.store(x, D)

    a = matrix()
    (d,) = run(kernel, {"A": a}, {"D": np.zeros((64, 64), np.float32)}, grid=(1,))
    np.testing.assert_array_equal(d, a + a + a + a)


def test_an_expression_from_before_a_loop_keeps_its_operands():
    @sl.kernel("(64,64), (64,64)", sync="manual")
    def kernel(A, D):
        x = sl.load(A)
        twice = x * 2.0
        for _ in sl.range(3):
            x = x + 1.0
        sl.store(x + twice, D)

    a = matrix()
    (d,) = run(kernel, {"A": a}, {"D": np.zeros((64, 64), np.float32)}, grid=(1,))
    np.testing.assert_array_equal(d, a + np.float32(1) + 1 + 1 + a * 2)


def test_nested_loops_and_a_nested_function():
    @sl.kernel("(64,64), (64,64)", sync="manual")
    def kernel(A, D):
        x = sl.load(A)

        def add(number):
            nonlocal x
            x = x + number

        for _ in sl.range(2):
            for _ in sl.range(3):
                add(1.0)
            add(10.0)
        sl.store(x, D)

    a = np.trunc(matrix() * 4)
    (d,) = run(kernel, {"A": a}, {"D": np.zeros((64, 64), np.float32)}, grid=(1,))
    np.testing.assert_array_equal(d, a + 26)


def test_python_range_repeats_the_body():
    @sl.kernel("(64,64), (64,64)", sync="manual")
    def kernel(A, D):
        x = sl.load(A)
        for i in range(3):
            x = x + float(i)
        for _ in sl.range(2):
            for i in range(5):
                x = x + float(i)
        sl.store(x, D)

    a = np.trunc(matrix() * 4)
    (d,) = run(kernel, {"A": a}, {"D": np.zeros((64, 64), np.float32)}, grid=(1,))
    np.testing.assert_array_equal(d, a + 23)


def test_branches():
    @sl.kernel("(M,64), (M,64)", sync="manual")
    def kernel(A, D):
        block = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], 64), 64))
        row, x, k = block * 64, sl.load(A[sl.ds(block * 64, 64), :]), 0
        with sl.when(block % 2 == 0):
            x = x + 1.0
            new = x * 2.0
        with sl.otherwise():
            x, k = x - 1.0, k + 5
            new = x * 3.0
        with sl.when(block > 1):
            x = x * 10.0
        with sl.when((k == 5) | (block == 2)):
            new = new + 100.0
        sl.store(x + new, D[row : row + 64, :])

    a = np.trunc(matrix(256) * 8)
    (d,) = run(kernel, {"A": a}, {"D": np.zeros_like(a)})
    for block in range(4):
        x, k = a[64 * block : 64 * block + 64], 0
        if block % 2 == 0:
            x = x + 1
            new = x * 2
        else:
            x, k = x - 1, 5
            new = x * 3
        if block > 1:
            x = x * 10
        if k == 5 or block == 2:
            new = new + 100
        np.testing.assert_array_equal(d[64 * block : 64 * block + 64], x + new)


@pytest.mark.parametrize("start", [-7, -4, -1, 0, 5])
def test_indices_divide_as_pythons_integers(start):
    @sl.kernel("(64,64)", sync="manual")
    def numbers(D, *, start):
        i = sl.block_id(0) - 20 + (start + 20)
        values = [i // 3, i % 3, 7 - i, i * i, sl.maximum(i, 2), sl.minimum(i, 2)]
        x = sl.zeros((64, 64), sl.i32)
        for column, value in enumerate(values):
            x = sl.where(sl.iota(1) == column, (sl.iota(0) * 0 + value).to(sl.i32) + x * 0, x)
        with sl.when(i < 0):
            x = x + sl.where(sl.iota(1) == 6, x * 0 + 1, 0)
        sl.store(x, D)

    (d,) = run(numbers, {}, {"D": np.zeros((64, 64), np.int32)}, grid=(1,), start=start)
    i = start
    expected = [i // 3, i % 3, 7 - i, i * i, max(i, 2), min(i, 2), int(i < 0)]
    assert d[0, :7].tolist() == expected


def test_scalars_and_elements():
    @sl.kernel("(64,64), (4,), (64,64)", sync="manual")
    def kernel(A, scale, D):
        factor = scale[1] * 2.0 + scale[2]
        sl.store(sl.load(A) * factor, D)

    a, scale = matrix(), np.array([1, 2, 3, 4], np.float32)
    (d,) = run(kernel, {"A": a, "scale": scale}, {"D": np.zeros_like(a)}, grid=(1,))
    np.testing.assert_array_equal(d, a * np.float32(7))


def test_strides_of_a_signature():
    @sl.kernel("(M,64):(?,1), (M,64):(?,1)", sync="manual")
    def kernel(A, D):
        sl.store(sl.load(A[0:64, :]), D[0:64, :])

    text = kernel.mlir(F, F)
    assert "memref<?x64xf32, strided<[?, 1]>>" in text
    wide = matrix(64, 128)
    (d,) = run(kernel, {"A": wide[:, :64]}, {"D": np.zeros((64, 64), np.float32)}, (1,), [F, F])
    np.testing.assert_array_equal(d, wide[:, :64])


def test_windows_of_three_dimensions():
    @sl.kernel("(B,64,64), (B,64,64)", sync="manual")
    def kernel(A, D):
        batch = sl.grid(A.shape[0])
        sl.store(sl.load(A[batch, :, :]) + 1.0, D[batch])

    a = RNG.standard_normal((3, 64, 64)).astype(np.float32)
    (d,) = run(kernel, {"A": a}, {"D": np.zeros_like(a)})
    np.testing.assert_array_equal(d, a + 1)


def test_the_matmul_of_the_examples():
    from mlir_smem.examples.matmul import matmul

    a, b = (RNG.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((128, 128), (128, 256)))
    (c,) = run(matmul, {"A": a, "B": b}, {"C": np.zeros((128, 256), ml_dtypes.bfloat16)})
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(c.astype(np.float32), expected, rtol=1e-2, atol=0.1)


def test_a_softmax_of_rows():
    @sl.kernel("(64,64), (64,64)", sync="manual")
    def kernel(A, D):
        x = sl.load(A)
        largest = x.max(axis=1)
        weights = sl.exp2(x - largest[:, None])
        sl.store(weights / weights.sum(axis=1), D)

    a = matrix()
    (d,) = run(kernel, {"A": a}, {"D": np.zeros_like(a)}, grid=(1,))
    weights = np.exp2(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(d, weights / weights.sum(1, keepdims=True), rtol=1e-5)


def test_slices_are_carried_loaded_and_stored():
    @sl.kernel("(M,64), (64,), (64,64), (64,)", sync="manual")
    def kernel(A, bias, D, L):
        m, total = sl.full((64,), float("-inf"), sl.f32, axis=1), sl.zeros((64, 64), sl.f32)
        for block in sl.range(A.shape[0] // 64):
            x = sl.load(A[sl.ds(block * 64, 64), :]) + sl.load(bias, axis=0)
            new = sl.maximum(m, x.max(axis=1))
            total = total * sl.exp2(m - new) + sl.exp2(x - new)
            m = new
        sl.store(total, D)
        sl.store(m * 2.0, L)

    a, bias = matrix(192), matrix(1)[0]
    arguments = {"A": a, "bias": bias}
    outputs = {"D": np.zeros((64, 64), np.float32), "L": np.zeros(64, np.float32)}
    total, largest = run(kernel, arguments, outputs, grid=(1,))
    x = a.reshape(3, 64, 64) + bias
    m = x.max((0, 2))
    np.testing.assert_array_equal(largest, 2 * m)
    np.testing.assert_allclose(total, np.exp2(x - m[:, None]).sum(0), rtol=1e-5)


def test_positions_in_a_slice():
    @sl.kernel("(64,64), (64,)", sync="manual")
    def kernel(A, L):
        sums = sl.load(A).sum(axis=1)
        sl.store(sl.where(sl.iota(0) < 8, sums, 0.0), L)

    a = np.trunc(matrix() * 4)
    (sums,) = run(kernel, {"A": a}, {"L": np.zeros(64, np.float32)}, grid=(1,))
    np.testing.assert_array_equal(sums, np.where(np.arange(64) < 8, a.sum(1), 0))
