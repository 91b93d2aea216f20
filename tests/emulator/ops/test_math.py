"""`math` ops: exact where IEEE 754 defines every bit, else to the precision of the type."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from arithmetic import FORMATS, WIDTHS, integers, same
from emulated import elementwise, run
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.emulator import EmulationError

each_format = pytest.mark.parametrize("element", FORMATS)


def unary(name, element, values):
    """Numbers of a format, and an op's result for each."""
    with np.errstate(over="ignore"):
        a = np.array(values).astype(FORMATS[element].dtype)
    outputs = elementwise(f"{name} %a : {element}", [a], a.dtype)
    return list(zip(a.astype(float).tolist(), outputs.astype(float).tolist(), strict=True))


def keeps(function):
    """Extend a function of finite numbers: others are returned unchanged, and results keep the sign."""
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


EXACT = {
    "math.absf": abs,
    "math.floor": keeps(math.floor),
    "math.ceil": keeps(math.ceil),
    "math.trunc": keeps(math.trunc),
    "math.roundeven": keeps(round),
    "math.round": keeps(lambda x: math.floor(abs(x) + 0.5) if abs(x) < 2**52 else x),
    "math.sqrt": lambda x: math.nan if x < 0 else math.sqrt(x) if math.isfinite(x) else x,
}


@each_format
@pytest.mark.parametrize("name", EXACT)
def test_exact_ops(name, element):
    near = [n + f for n in range(-4, 5) for f in (0.0, 0.25, 0.5, 0.75)]
    values = [*FORMATS[element].edges(), *near, 2.0, 1e-3, 123.456, 2.0**20 + 0.5]
    for value, computed in unary(name, element, values):
        assert same(computed, FORMATS[element].round(EXACT[name](value))), value


def test_sign_ops_apply_to_nan():
    nans = np.array([0x7FC00001, 0xFFC00001], np.uint32).view(np.float32)
    ones = np.array([-1.0, 1.0], np.float32)
    absolute = elementwise("math.absf %a : f32", [nans], np.float32)
    assert absolute.view(np.uint32).tolist() == [0x7FC00001] * 2
    signed = elementwise("math.copysign %a, %b : f32", [nans, ones], np.float32)
    assert signed.view(np.uint32).tolist() == [0xFFC00001, 0x7FC00001]


@each_format
def test_copysign(element):
    a, b = FORMATS[element].pairs()
    signed = elementwise(f"math.copysign %a, %b : {element}", [a, b], a.dtype)
    for x, y, z in zip(a.astype(float), b.astype(float), signed.astype(float), strict=True):
        if not math.isnan(x):
            assert same(z, math.copysign(x, y))


def round_fraction(value, form):
    """Round a fraction to the nearest number of a format, ties to even."""
    if not value:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    units = round(size / Fraction(2) ** (max(exponent, form.smallest) - form.precision + 1))
    nearest = units * Fraction(2) ** (max(exponent, form.smallest) - form.precision + 1)
    if nearest >= Fraction(2) ** (form.largest + 1):
        nearest = math.inf
    return math.copysign(float(nearest), value)


def fused_multiply_add(a, b, c, form):
    """a * b + c, rounded once; by fractions where the operands are finite."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return math.nan if math.isnan(c) or math.isnan(a * b) else a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return round_fraction(exact, form) if exact else a * b + c


SMALL = [element for element in FORMATS if element != "f64"]


@pytest.mark.parametrize("name", ["math.fma", "llvm.intr.fma"])
@pytest.mark.parametrize("element", SMALL)
def test_fused_multiply_add_rounds_once(name, element):
    form = FORMATS[element]
    rows = list(product(form.edges(), repeat=3))
    for first in range(0, len(rows), 1024):
        chunk = rows[first : first + 1024]
        a, b, c = (np.array(column).astype(form.dtype) for column in zip(*chunk, strict=True))
        sums = elementwise(
            f'"{name}"(%a, %b, %c) : ({element}, {element}, {element}) -> {element}',
            [a, b, c],
            form.dtype,
        )
        for row, z in zip(chunk, sums.astype(float).tolist(), strict=True):
            assert same(z, fused_multiply_add(*row, form)), row


NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=8, max_size=8), st.integers(-3, 3))
def test_sums_that_nearly_cancel_in_f32(pairs, ulps):
    form = FORMATS["f32"]
    a, b = (np.array(column, np.float32) for column in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        c = np.where(np.isfinite(a * b), (-(a * b)).view(np.int32) + ulps, 0).astype(np.int32)
    c = c.view(np.float32)
    c = np.where(np.isfinite(c), c, np.float32(1))
    sums = elementwise("math.fma %a, %b, %c : f32", [a, b, c], np.float32)
    for row in zip(a.tolist(), b.tolist(), c.tolist(), sums.tolist(), strict=True):
        assert same(row[3], fused_multiply_add(*row[:3], form)), row


def test_fma_near_a_tie_rounds_once():
    # The result is next to the middle between two f32; rounding twice would round to even.
    one = 1 + 2.0**-12
    a = np.array([one, one], np.float32)
    c = np.array([2.0**-60, -(2.0**-60)], np.float32)
    sums = elementwise("math.fma %a, %a, %b : f32", [a, c], np.float32)
    expected = [fused_multiply_add(one, one, float(x), FORMATS["f32"]) for x in c]
    assert sums.tolist() == expected
    assert expected[0] != expected[1]


def test_ops_on_vectors():
    out = np.zeros((8, 2), np.float32)
    a = np.arange(8, dtype=np.float32)
    body = """
    %a = memref.load %A[%tid] : memref<8xf32>
    %two = arith.constant 2.0 : f32
    %v = vector.from_elements %a, %two : vector<2xf32>
    %k = arith.constant dense<0.5> : vector<2xf32>
    %w = math.fma %v, %v, %k : vector<2xf32>
    %r = math.exp2 %w : vector<2xf32>
    vector.store %r, %B[%tid, %c0] : memref<8x2xf32>, vector<2xf32>"""
    run(body, a, out, block=8)
    with np.errstate(over="ignore"):
        expected = np.exp2(np.column_stack([a, a * 0 + 2]).astype(float) ** 2 + 0.5)
        assert out.tolist() == expected.astype(np.float32).tolist()


def test_f64_is_not_fused():
    with pytest.raises(EmulationError, match=r"'math\.fma' is of f64"):
        run("%x = arith.constant 1.0 : f64\n    %r = math.fma %x, %x, %x : f64")


APPROXIMATE = {
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "expm1": math.expm1,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "asinh": math.asinh,
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "erf": math.erf,
    "erfc": math.erfc,
    "rsqrt": lambda x: 1 / math.sqrt(x),
}

#: Functions whose domain ends or begins at 1, and arguments.
APPROXIMATE_NEAR_ONE = {
    "asin": (math.asin, (-1.0, -0.5, 1e-3, 0.7, 1.0)),
    "acos": (math.acos, (-1.0, -0.5, 1e-3, 0.7)),
    "atanh": (math.atanh, (-0.5, 1e-3, 0.7)),
    "acosh": (math.acosh, (1.125, 2.0, 7.5)),
}


@pytest.mark.parametrize("element", SMALL)
@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximations_have_the_precision_of_the_type(name, element):
    form = FORMATS[element]
    positive = name.startswith("log") or name == "rsqrt"
    values = [
        s * x for s in ((1,) if positive else (1, -1)) for x in (1e-3, 0.1, 0.7, 1.0, 3.3, 7.5)
    ]
    for value, computed in unary(f"math.{name}", element, values):
        exact = APPROXIMATE[name](value)
        size = max(abs(exact), 2.0**form.smallest)
        assert abs(computed - exact) <= 2.0**-form.precision * size, value


@pytest.mark.parametrize("element", SMALL)
@pytest.mark.parametrize("name", APPROXIMATE_NEAR_ONE)
def test_approximations_with_a_limited_domain(name, element):
    exact, values = APPROXIMATE_NEAR_ONE[name]
    for value, output in unary(f"math.{name}", element, values):
        assert abs(output - exact(value)) <= 2.0 ** -FORMATS[element].precision * abs(exact(value))


def test_atan2():
    y, x = (
        np.array([1.0, 1.0, -1.0, 0.0], np.float32),
        np.array([1.0, -1.0, -1.0, -1.0], np.float32),
    )
    angles = elementwise("math.atan2 %a, %b : f32", [y, x], np.float32)
    exact = [math.atan2(*row) for row in zip(y.tolist(), x.tolist(), strict=True)]
    assert angles.tolist() == np.array(exact).astype(np.float32).tolist()


@pytest.mark.parametrize("vector", [False, True])
def test_sine_and_cosine(vector):
    type_ = "vector<2xf32>" if vector else "f32"
    body = f"""
    %a = memref.load %A[%tid] : memref<8xf32>
    %x = {"vector.broadcast %a : f32 to vector<2xf32>" if vector else "arith.addf %a, %a : f32"}
    %s, %c = math.sincos %x : {type_}
    %d = arith.subf %s, %c : {type_}
    {"%r = vector.extract %d[1] : f32 from vector<2xf32>" if vector else "%z = arith.constant 0.0 : f32"}
    {"" if vector else "%r = arith.addf %d, %z : f32"}
    memref.store %r, %B[%tid] : memref<8xf32>"""
    a, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    run(body, a, out, block=8)
    x = (a if vector else a + a).astype(np.float64)
    assert (out == np.sin(x).astype(np.float32) - np.cos(x).astype(np.float32)).all()


@each_format
@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan", "isnormal"])
def test_classes_of_numbers(name, element):
    form = FORMATS[element]
    a = np.array(form.edges()).astype(form.dtype)
    outcomes = elementwise(f"math.{name} %a : {element}", [a], np.bool_)
    predicate = {
        "isfinite": math.isfinite,
        "isinf": math.isinf,
        "isnan": math.isnan,
        "isnormal": lambda x: math.isfinite(x) and abs(x) >= 2.0**form.smallest,
    }[name]
    assert outcomes.tolist() == [predicate(x) for x in a.astype(float).tolist()]


@each_format
def test_remainders_have_the_sign_of_the_dividend(element):
    a, b = FORMATS[element].pairs()
    remainders = elementwise(f"arith.remf %a, %b : {element}", [a, b], a.dtype)
    for x, y, z in zip(a.astype(float), b.astype(float), remainders.astype(float), strict=True):
        exact = math.fmod(x, y) if math.isfinite(x) and y else math.nan
        assert same(z, exact), (x, y)


def test_integer_powers():
    a = np.array([2.0, -1.5, 0.0, 3.0], np.float32)
    b = np.array([10, -3, 0, -1], np.int32)
    powers = elementwise("math.fpowi %a, %b : f32, i32", [a, b], np.float32)
    exact = [float(np.float32(x**y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert powers.tolist() == exact


def test_clamps():
    a = np.array([-1.0, 0.5, 2.0, math.nan], np.float32)
    low, high = np.zeros(4, np.float32), np.ones(4, np.float32)
    clamped = elementwise("math.clampf %a to [%b, %c] : f32", [a, low, high], np.float32)
    assert clamped.tolist()[:3] == [0.0, 0.5, 1.0]
    assert math.isnan(clamped[3])


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits_of_integers(width):
    values = np.array(integers(width), WIDTHS[width])
    bits = [f"{value:0{width}b}" for value in values.tolist()]
    expected = {
        "ctlz": [len(b) - len(b.lstrip("0")) for b in bits],
        "cttz": [len(b) - len(b.rstrip("0")) for b in bits],
        "ctpop": [b.count("1") for b in bits],
    }
    for name, counts in expected.items():
        computed = elementwise(f"math.{name} %a : i{width}", [values], values.dtype)
        assert computed.tolist() == counts


def test_bits_of_one_bit():
    values = np.array([False, True])
    for name, expected in {"ctlz": [1, 0], "cttz": [1, 0], "ctpop": [0, 1]}.items():
        computed = elementwise(f"math.{name} %a : i1", [values], np.bool_)
        assert computed.tolist() == expected, name


def test_bits_of_vectors():
    body = """
    %a = vector.load %A[%tid] : memref<8xi32>, vector<1xi32>
    %v = vector.shuffle %a, %a [0, 0] : vector<1xi32>, vector<1xi32>
    %r = math.ctpop %v : vector<2xi32>
    vector.store %r, %B[%tid, %c0] : memref<8x2xi32>, vector<2xi32>"""
    a, out = np.arange(8, dtype=np.uint32), np.zeros((8, 2), np.uint32)
    run(body, a, out, block=8)
    assert out.tolist() == [[x.bit_count()] * 2 for x in a.tolist()]


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("exp2", -math.inf, 0.0),
        ("exp2", 128.0, math.inf),
        ("exp", math.inf, math.inf),
        ("log2", 0.0, -math.inf),
        ("log2", -1.0, math.nan),
        ("rsqrt", 0.0, math.inf),
        ("rsqrt", math.inf, 0.0),
        ("tanh", math.inf, 1.0),
        ("tanh", -0.0, -0.0),
        ("sqrt", -0.0, -0.0),
        ("exp", math.nan, math.nan),
    ],
)
def test_limits_and_special_values(name, value, expected):
    ((_, computed),) = unary(f"math.{name}", "f32", [value])
    assert same(computed, expected)


def test_powers():
    a, b = np.array([2.0, 10.0, 0.0, 1.5], np.float32), np.array([0.5, -2.0, 0.0, 3.0], np.float32)
    powers = elementwise("math.powf %a, %b : f32", [a, b], np.float32)
    exact = [float(np.float32(x**y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert powers.tolist() == exact


@pytest.mark.parametrize(
    "line",
    [
        "math.powf %a, %b fastmath<afn> : f32",
        "math.powf %a, %b fastmath<nnan,fast> : f32",
        "llvm.intr.pow(%a, %b) {fastmathFlags = #llvm.fastmath<afn>} : (f32, f32) -> f32",
    ],
)
def test_fast_powers_by_logarithms(line):
    pairs = [(2.0, 0.5), (10.0, -2.0), (0.0, 3.0), (0.0, -1.0), (-0.0, 3.0), (math.inf, -1.0)]
    # For these the exact powers are numbers, and the approximations are NaN.
    pairs += [(-2.0, 2.0), (0.0, 0.0), (1.0, math.inf), (math.inf, 0.0), (math.nan, 0.0)]
    a, b = np.array(pairs, np.float32).T.copy()
    powers = elementwise(line, [a, b], np.float32)
    expected = [2**0.5, 0.01, 0.0, math.inf, 0.0, 0.0, *[math.nan] * 5]
    assert all(map(same, powers.tolist(), np.array(expected, np.float32).tolist()))


def test_powers_of_f64_are_never_by_logarithms():
    a, b = np.array([-2.0, 0.0, 10.0]), np.array([2.0, 0.0, -2.0])
    powers = elementwise("math.powf %a, %b fastmath<afn> : f64", [a, b], np.float64)
    assert powers.tolist() == [4.0, 1.0, 0.01]


def test_absolute_values_of_integers():
    values = np.array([0, 1, -1, 2**31 - 1, -(2**31), -5], np.int32)
    absolute = elementwise("math.absi %a : i32", [values], np.uint32)
    assert absolute.tolist() == [0, 1, 1, 2**31 - 1, 2**31, 5]


@pytest.mark.parametrize(
    "op",
    [
        "math.exp2 %a fastmath<afn> : f32",
        "llvm.intr.exp2(%a) {fastmathFlags = #llvm.fastmath<fast>} : (f32) -> f32",
    ],
)
def test_an_approximate_power_of_two_is_no_subnormal_number(op):
    a = np.float32([-126.5, -126, -149, -0.0, 3.5, 120, -math.inf])
    expected = np.where(a < -126, 0, np.exp2(a.astype(float)))
    assert elementwise(op, [a], np.float32).tolist() == expected.astype(np.float32).tolist()
    exact = elementwise("math.exp2 %a : f32", [a], np.float32)
    assert exact[2] == 2.0**-149
