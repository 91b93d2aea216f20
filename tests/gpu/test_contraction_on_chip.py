"""Contraction, masks, approximations on the chip: bytes of the emulator, errors of the docstrings."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu, run_on_gpu

RNG = np.random.default_rng(7)


def contraction(X, Y, Z, R):
    x, y, z = map(sl.load, (X, Y, Z))
    sums = [x * y + z, x * y - z, z - x * x, x * y + z * x, (x * y) * z + x, x / 8 + y]
    for k, result in enumerate(sums):
        sl.store(result, R[k, :, :])


def patterns(dtype):
    """Return bit patterns of all numbers, without NaN, whose bytes may differ."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    numbers = RNG.integers(0, 1 << 8 * bits.itemsize, (64, 64), bits).view(dtype)
    numbers = np.where(np.isnan(numbers), dtype(1), numbers)
    usual = RNG.standard_normal((64, 64)).astype(dtype)
    return np.where(RNG.random((64, 64)) < 0.5, numbers, usual).astype(dtype)


@pytest.mark.parametrize("options", [{}, {"contract": False}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_sums_of_products_have_the_emulators_bytes(dtype, options):
    kernel = sl.kernel("(64,64), (64,64), (64,64), (6,64,64)", **options)(contraction)
    inputs = {name: patterns(dtype) for name in "XYZ"} | {"R": np.zeros((6, 64, 64), dtype)}
    emulated, measured = both(kernel, inputs, ["R"])
    is_number = ~np.isnan(emulated["R"])
    assert (np.isnan(measured["R"]) == ~is_number).all()
    assert measured["R"][is_number].tobytes() == emulated["R"][is_number].tobytes()


def test_numbers_of_bf16():
    @sl.kernel("(), (), (), (2)")
    def number(a, b, c, R):
        R[0] = a * b + c
        R[1] = c - a * b

    for a, b, c in RNG.standard_normal((16, 3)).astype(ml_dtypes.bfloat16):
        inputs = {"a": a, "b": b, "c": c, "R": np.zeros(2, ml_dtypes.bfloat16)}
        emulated, measured = both(number, inputs, ["R"])
        assert np.asarray(measured["R"]).tobytes() == np.asarray(emulated["R"]).tobytes()


def both(kernel, inputs, outputs):
    types = [inputs[parameter] for parameter in kernel.parameters]
    emulated = run_on_cpu(kernel.compile(*types, emit="nvvm"), None, inputs, outputs, (1,))
    return emulated, run_on_gpu(kernel.compile(*types), None, inputs, outputs, (1,))


@pytest.mark.parametrize("key, query", [(0, 0), (7, 3), (2**40, 2**40 + 9), (2**33, 0), (0, 2**33)])
def test_masks_of_any_distance(key, query):
    @sl.kernel("(64,64), (), (), (64,64)")
    def mask(X, key, query, Y):
        first, last = key.to(sl.index), query.to(sl.index)
        x = sl.where(first + sl.iota(1) <= last + sl.iota(0), sl.load(X), -1.0)
        sl.store(sl.where(sl.iota(1) * 2 != sl.iota(0) + 3, x, -2.0), Y)

    row, column, x = np.arange(64)[:, None], np.arange(64), patterns(np.float32)
    expected = np.where(key + column <= query + row, x, np.float32(-1))
    expected = np.where(column * 2 != row + 3, expected, np.float32(-2))
    inputs = {"X": x, "key": np.int64(key), "query": np.int64(query), "Y": np.zeros_like(x)}
    for arrays in both(mask, inputs, ["Y"]):
        assert np.asarray(arrays["Y"]).tobytes() == expected.tobytes()


#: The relative and the absolute error of each function, as its docstring has it, and operands.
ERRORS = {
    "cos": (np.cos, 0, 2**-20.2, (-2 * np.pi, 2 * np.pi)),
    "exp": (np.exp, 96 * 2**-23, 0, (-80, 80)),
    "exp2": (np.exp2, 2.5 * 2**-23, 0, (-125, 125)),
    "log": (np.log, 3.5 * 2**-23, 2**-21.4, (0, 100)),
    "log2": (np.log2, 2.5 * 2**-23, 2**-22, (0, 100)),
    "sin": (np.sin, 0, 2**-20.2, (-2 * np.pi, 2 * np.pi)),
    "sqrt": (np.sqrt, 1.5 * 2**-23, 0, (0, 100)),
    "tanh": (np.tanh, 2**-10.9, 0, (-10, 10)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_approximations(name, record_property):
    @sl.kernel("(64,64), (64,64)")
    def approximate(X, Y):
        sl.store(getattr(sl, name)(sl.load(X), approx=True), Y)

    function, relative, absolute, (low, high) = ERRORS[name]
    x = RNG.uniform(low, high, (64, 64)).astype(np.float32)
    emulated, measured = both(approximate, {"X": x, "Y": np.zeros_like(x)}, ["Y"])
    exact = function(x.astype(np.float64))
    for arrays in (emulated, measured):
        error = np.abs(np.asarray(arrays["Y"]) - exact)
        assert (error <= relative * np.abs(exact) + absolute).all()
    record_property("greatest relative error", float(np.max(error / np.abs(exact))))
    record_property("greatest absolute error", float(np.max(error)))


def test_errors_of_quotients(record_property):
    @sl.kernel("(64,64), (64,64), (64,64)")
    def divide(X, Y, R):
        sl.store(sl.fdiv(sl.load(X), sl.load(Y)), R)

    x = RNG.standard_normal((64, 64)).astype(np.float32)
    y = np.ldexp(RNG.uniform(1, 2, (64, 64)), RNG.integers(-100, 128, (64, 64))).astype(np.float32)
    emulated, measured = both(divide, {"X": x, "Y": y, "R": np.zeros_like(x)}, ["R"])
    exact = x.astype(np.float64) / np.where(y > 2.0**126, np.inf, y)
    for arrays in (emulated, measured):
        quotient = np.asarray(arrays["R"])
        error = np.abs(quotient - exact)
        # Of a subnormal result, an ULP is 2^-149.
        assert (error <= np.maximum(2.5 * 2**-23 * np.abs(exact), 2.5 * 2.0**-149)).all()
        assert (np.signbit(quotient) == np.signbit(x)).all()
    with np.errstate(all="ignore"):
        record_property("greatest relative error", float(np.nanmax(error / np.abs(exact))))
