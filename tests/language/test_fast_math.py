"""Contraction, approximations, and division by numbers."""

import re

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.language.errors import TraceError

RNG = np.random.default_rng(5)

APPROXIMATE = ("cos", "exp", "exp2", "log", "log2", "sin", "sqrt", "tanh")


def matrix(low=-4.0, high=4.0):
    return RNG.uniform(low, high, (64, 64)).astype(np.float32)


def fma(a, b, c):
    """Return a * b + c rounded once: a long double has the product, and 40 bits more than the result."""
    return (a.astype(np.longdouble) * b + c).astype(np.float32)


def sums(x, y, z):
    """Return what an fma computes, in NumPy and in the language."""
    return [x * y + z, z + x * x, x * y - z, z - x * y, x * y + z * x, (x + y) * z]


@sl.kernel("(64,64), (64,64), (64,64), (6,64,64)")
def contract(X, Y, Z, R):
    for k, result in enumerate(sums(*map(sl.load, (X, Y, Z)))):
        sl.store(result, R[k, :, :])


@sl.kernel("(64,64), (64,64), (64,64), (6,64,64)", contract=False)
def rounded_twice(X, Y, Z, R):
    for k, result in enumerate(sums(*map(sl.load, (X, Y, Z)))):
        sl.store(result, R[k, :, :])


def test_a_product_and_a_sum_round_once():
    x, y, z = matrix(), matrix(), matrix()
    results = np.zeros((6, 64, 64), np.float32)
    contract[1](x, y, z, results, on="cpu")
    expected = [fma(x, y, z), fma(x, x, z), fma(x, y, -z), fma(-x, y, z)]
    # Of two products, the left one is not rounded. A sum is.
    expected += [fma(x, y, z * x), (x + y) * z]
    np.testing.assert_array_equal(results, expected)
    assert (np.array(expected[:5]) != sums(x, y, z)[:5]).any(axis=(1, 2)).all()


def test_without_contraction_each_operation_rounds():
    x, y, z = matrix(), matrix(), matrix()
    results = np.zeros((6, 64, 64), np.float32)
    rounded_twice[1](x, y, z, results, on="cpu")
    np.testing.assert_array_equal(results, sums(x, y, z))


@pytest.mark.parametrize("kernel, count", [(contract, 5), (rounded_twice, 0)])
def test_the_code_contracts_what_the_emulator_does(kernel, count):
    """`.rn` forbids ptxas to contract."""
    types = (sl.f32,) * 4
    emulated = kernel.compile(*types, emit="nvvm").nvvm
    opcodes = re.findall(r"\b(fma|add|sub|mul)(\.\S*f32)\b", kernel.ptx(*types))
    assert {suffix for _, suffix in opcodes} == {".rn.f32"}
    assert "<contract" not in emulated
    assert emulated.count("math.fma") == 32 * count == [op for op, _ in opcodes].count("fma")


def test_numbers_and_narrow_elements():
    @sl.kernel("(), (), (), (1)")
    def number(a, b, c, R):
        R[0] = a * b + c

    for dtype, element in ((np.float16, sl.f16), (ml_dtypes.bfloat16, sl.bf16)):
        a, b, c = (dtype(x) for x in (1.1, 1.3, -1.4))
        result = np.zeros(1, dtype)
        number[1](a, b, c, result, on="cpu")
        exact = np.float64(a) * np.float64(b) + np.float64(c)
        assert result[0] == exact.astype(dtype) != dtype(a * b) + c
        assert re.search(rf"fma\.rn\.{element}", number.ptx(*(element,) * 4))
    # The emulator has no fma of f64.
    assert "math.fma" not in number.compile(*(sl.f64,) * 4, emit="nvvm").nvvm


@sl.kernel("(64,64), (64,64)", fast=True)
def fast(X, Y):
    x = sl.load(X)
    for name in APPROXIMATE:
        x = x + getattr(sl, name)(x)
    sl.store(1.0 / x, Y)


@sl.kernel("(64,64), (64,64)")
def approximate(X, Y):
    x = sl.load(X)
    for name in APPROXIMATE:
        x = x + getattr(sl, name)(x, approx=True)
    sl.store(sl.fdiv(1.0, x), Y)


def test_fast_is_approx_everywhere():
    assert fast.mlir(sl.f32, sl.f32).replace("@fast", "@approximate") == approximate.mlir(
        sl.f32, sl.f32
    )
    ptx = fast.ptx(sl.f32, sl.f32)
    for opcode in ("cos", "ex2", "lg2", "sin", "sqrt", "tanh", "rcp"):
        assert f"{opcode}.approx" in ptx
    assert "ex2.approx.f32" not in ptx


@pytest.mark.parametrize("name", APPROXIMATE)
def test_an_approximation_is_near(name):
    @sl.kernel("(64,64), (64,64), (64,64):f32")
    def both(X, Y, Z):
        x = sl.load(X).to(sl.f32)
        function = getattr(sl, name)
        sl.store(function(x), Y)
        sl.store(function(x, approx=True), Z)

    x = np.abs(matrix()) + 0.1
    exact, near = np.zeros_like(x), np.zeros_like(x)
    both[1](x, exact, near, on="cpu")
    np.testing.assert_allclose(near, exact, rtol=2e-6)


def test_what_has_no_approximation_is_refused():
    @sl.kernel("(), (1)")
    def of_number(a, R):
        R[0] = sl.exp2(a, approx=True)

    for dtype in (sl.f64, sl.i32):
        with pytest.raises(TraceError, match=f"elements of {dtype} have no exp2.approx"):
            of_number.mlir(dtype, dtype)


#: A divisor, and what the quotient is: of a kernel, of a fast one.
DIVISORS = [
    (8, "mulf", "mulf"),
    (-0.25, "mulf", "mulf"),
    (2.0**126, "mulf", "mulf"),
    (3.0, "divf", "mulf"),
    (2.0**127, "divf", "divf"),
    (2.0**-127, "divf", "divf"),
    (0.0, "divf", "divf"),
    (float("inf"), "divf", "divf"),
    (float("nan"), "divf", "divf"),
]


@pytest.mark.parametrize("divisor, usual, quick", DIVISORS)
def test_division_by_a_number(divisor, usual, quick):
    for is_fast, expected in ((False, usual), (True, quick)):

        @sl.kernel("(64,64), (64,64)", fast=is_fast)
        def divide(X, Y):
            sl.store(sl.load(X) / divisor, Y)

        assert re.findall(r"arith\.(mulf|divf)", divide.mlir(sl.f32, sl.f32)) == [expected]


def test_the_reciprocal_of_a_power_of_two_gives_the_same_bytes():
    powers = [2.0**k for k in (-126, -20, -1, 5, 126)]

    @sl.kernel("(64,64), (5,64,64)")
    def divide(X, Y):
        for k, power in enumerate(powers):
            sl.store(sl.load(X) / power, Y[k, :, :])

    patterns = RNG.integers(0, 2**32, (64, 64), np.uint32).view(np.float32)
    x = np.where(np.isnan(patterns), np.float32(0), patterns)
    y = np.zeros((5, 64, 64), np.float32)
    divide[1](x, y, on="cpu")
    with np.errstate(all="ignore"):
        expected = np.array([x / np.float32(power) for power in powers])
    assert y.tobytes() == expected.tobytes()


def test_half_precision_has_a_smaller_range():
    @sl.kernel("(), (2)")
    def divide(a, R):
        R[0] = a / 2**14
        R[1] = a / 2**15

    assert re.findall(r"arith\.(mulf|divf)", divide.mlir(sl.f16, sl.f16)) == ["mulf", "divf"]


def test_an_approximate_quotient_by_a_large_number_is_zero():
    @sl.kernel("(64,64), (64,64), (64,64)")
    def divide(X, Y, R):
        sl.store(sl.fdiv(sl.load(X), sl.load(Y)), R)

    x, y, r = np.full((64, 64), 2.0**120, np.float32), matrix(), matrix()
    y[0, :5] = [2.0**126, -(2.0**127), np.inf, 1.5 * 2.0**127, 2.0**100]
    x[0, 3] = np.inf
    divide[1](x, y, r, on="cpu")
    assert [*map(str, r[0, :5])] == ["0.015625", "-0.0", "0.0", "nan", "1.048576e+06"]
