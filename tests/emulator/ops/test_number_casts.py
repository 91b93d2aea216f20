"""Casts between integers, index and floats, each rounded once."""

import math

import ml_dtypes
import numpy as np
import pytest
from arithmetic import FORMATS, WIDTHS, as_signed, integers, same
from emulated import elementwise
from hypothesis import given
from hypothesis import strategies as st

WIDER = [(a, b) for a in WIDTHS for b in WIDTHS if a < b]


def cast(name, values, source, target, dtype):
    """The results of a cast of an array."""
    return elementwise(
        f'"{name}"(%a) : ({source}) -> {target}', [values], dtype, [source, target]
    ).tolist()


def patterns(width):
    return np.array(integers(width), WIDTHS[width])


@pytest.mark.parametrize("narrow, wide", WIDER)
@pytest.mark.parametrize("dialect", ["arith", "llvm"])
def test_integers_are_extended_and_truncated(dialect, narrow, wide):
    extend = ("arith.extui", "arith.extsi") if dialect == "arith" else ("llvm.zext", "llvm.sext")
    shrink = "arith.trunci" if dialect == "arith" else "llvm.trunc"
    small, large = patterns(narrow), patterns(wide)
    types = f"i{narrow}", f"i{wide}"
    plain = [int(x) for x in small]
    assert cast(extend[0], small, *types, large.dtype) == plain
    signs = [as_signed(x, narrow) % (1 << wide) for x in plain]
    assert cast(extend[1], small, *types, large.dtype) == signs
    cut = [x % (1 << narrow) for x in large.tolist()]
    assert cast(shrink, large, *reversed(types), small.dtype) == cut


@pytest.mark.parametrize("width", WIDTHS)
def test_index_is_an_integer_of_64_bits(width):
    small, large, name = patterns(width), patterns(64), f"i{width}"
    plain = [int(x) for x in small]
    assert cast("arith.index_castui", small, name, "index", np.uint64) == plain
    signs = [as_signed(x, width) % (1 << 64) for x in plain]
    assert cast("arith.index_cast", small, name, "index", np.uint64) == signs
    cut = [x % (1 << width) for x in large.tolist()]
    for op in ("arith.index_cast", "arith.index_castui"):
        assert cast(op, large, "index", name, small.dtype) == cut


def numbers(element):
    """Edge cases of rounding to narrower formats: ties, their neighbours, limits, subnormals."""
    values = FORMATS[element].edges()
    for other in FORMATS.values():
        step = 2.0 ** (1 - other.precision)
        ties = [1 + step / 2, 1 + 3 * step / 2, 1 + step / 2 + 2.0**-40, 1 + step / 2 - 2.0**-40]
        tiny, most = 2.0**other.smallest, (2 - step / 2) * 2.0**other.largest
        values += [s * x for s in (1, -1) for x in (*ties, most, most * (1 - 2.0**-30))]
        values += [tiny * step * x for x in (0.25, 0.5, 0.75, 1.5)]
    return array_of(values, element)


def array_of(values, element):
    with np.errstate(over="ignore"):
        return np.array(values).astype(FORMATS[element].dtype)


@pytest.mark.parametrize(
    "source, target",
    [("f32", "f16"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"), ("f64", "bf16")],
)
@pytest.mark.parametrize("name", ["arith.truncf", "llvm.fptrunc"])
def test_narrowing_rounds_once_to_even(name, source, target):
    values = numbers(source)
    narrowed = cast(name, values, source, target, FORMATS[target].dtype)
    for value, result in zip(values.tolist(), narrowed, strict=True):
        assert same(float(result), FORMATS[target].round(value)), value.hex()


@given(st.floats(allow_nan=False), st.sampled_from(["f16", "bf16", "f32"]))
def test_any_f64_is_narrowed_to_the_nearest(value, target):
    narrowed = cast("arith.truncf", np.array([value]), "f64", target, FORMATS[target].dtype)
    assert same(float(narrowed[0]), FORMATS[target].round(value))


@pytest.mark.parametrize("target", ["f16", "bf16"])
def test_nan_is_narrowed_to_0x7fff(target):
    nans = np.array([0x7FC00000, 0xFFC00001, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    narrowed = elementwise(f"arith.truncf %a : f32 to {target}", [nans], FORMATS[target].dtype)
    assert narrowed.view(np.uint16).tolist() == [0x7FFF] * 4


@pytest.mark.parametrize(
    "source, target",
    [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64"), ("bf16", "f64")],
)
@pytest.mark.parametrize("name", ["arith.extf", "llvm.fpext"])
def test_widening_is_exact(name, source, target):
    values = numbers(source)
    widened = cast(name, values, source, target, FORMATS[target].dtype)
    for value, result in zip(values.astype(float).tolist(), widened, strict=True):
        assert same(result, value)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("dialect", ["arith", "llvm"])
def test_integers_become_the_nearest_float(dialect, target, width):
    form = FORMATS[target]
    near = [1 << k for k in range(width)]
    more = [x + y for x in near for y in (-1, 1, x // 2 + 1, x >> 9, (x >> 9) + 1, (x >> 12) + 1)]
    values = sorted({*integers(width), *(x for x in more if 0 <= x < 1 << width)})
    array = np.array(values, WIDTHS[width])
    for name, plain in (("uitofp", True), ("sitofp", False)):
        floats = cast(f"{dialect}.{name}", array, f"i{width}", target, form.dtype)
        for value, result in zip(values, floats, strict=True):
            exact = value if plain else as_signed(value, width)
            assert same(float(result), nearest(exact, form)), exact


def nearest(value, form):
    """Round an integer to the nearest number of a format, ties to even."""
    size = abs(value)
    excess = max(size.bit_length() - form.precision, 0)
    units, rest = size >> excess, size & ((1 << excess) - 1)
    half = 1 << excess >> 1
    if excess and (rest > half or (rest == half and units & 1)):
        units += 1
    rounded = units << excess
    return math.copysign(rounded if rounded.bit_length() <= form.largest + 1 else math.inf, value)


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("dialect", ["arith", "llvm"])
def test_floats_are_truncated_to_integers(dialect, width, source):
    values = [x for x in numbers(source).astype(float).tolist() if math.isfinite(x)]
    values += [s * m * 2.0**e for s in (1, -1) for m in (1.0, 1.5, 1.75) for e in range(64)]
    values = array_of(values, source)
    values = values[np.isfinite(values.astype(float))]
    for name, least, most in (
        ("fptoui", 0, (1 << width) - 1),
        ("fptosi", -(1 << width - 1), (1 << width - 1) - 1),
    ):
        fits = np.array([least <= int(x) <= most for x in values.astype(float).tolist()])
        inside = values[fits]
        truncated = cast(f"{dialect}.{name}", inside, source, f"i{width}", WIDTHS[width])
        expected = [int(x) % (1 << width) for x in inside.astype(float).tolist()]
        assert truncated == expected


@pytest.mark.parametrize("name", ["arith.bitcast", "llvm.bitcast"])
@pytest.mark.parametrize(
    "integer, real", [("i16", "f16"), ("i16", "bf16"), ("i32", "f32"), ("i64", "f64")]
)
def test_bitcast_keeps_the_bits(name, integer, real):
    dtype = FORMATS[real].dtype
    values = np.array(integers(int(integer[1:])), f"u{dtype.itemsize}")
    there = elementwise(f'"{name}"(%a) : ({integer}) -> {real}', [values], dtype)
    back = elementwise(f'"{name}"(%a) : ({real}) -> {integer}', [there], values.dtype)
    assert there.tobytes() == back.tobytes() == values.tobytes()


def test_bf16_is_the_upper_half_of_f32():
    bits = np.arange(0, 1 << 16, 67, dtype=np.uint16)[:1000]
    widened = elementwise(
        "arith.extf %a : bf16 to f32", [bits.view(ml_dtypes.bfloat16)], np.float32
    )
    finite = ~np.isnan(widened)
    assert (widened.view(np.uint32) >> 16 == bits)[finite].all()
