"""`nvvm.convert` to and from f8, f16, bf16 and tf32, against rounding in plain Python."""

import math

import ml_dtypes
import numpy as np
import pytest
from arithmetic import FORMATS, Format
from emulated import ELEMENTS, run

from mlir_smem.emulator import EmulationError

E4M3 = Format(np.dtype(ml_dtypes.float8_e4m3fn), 4, -6, 8)
E5M2 = Format(np.dtype(ml_dtypes.float8_e5m2), 3, -14, 15)
TF32 = Format(np.dtype(np.float32), 11, -126, 127)

EIGHT = {"f8E4M3FN": (E4M3, 448.0), "f8E5M2": (E5M2, 57344.0)}
SIXTEEN = {"f16": (FORMATS["f16"], 65504.0), "bf16": (FORMATS["bf16"], 255 * 2.0**120)}


def toward_zero(form, value):
    """Round a Python float toward zero to a number of a format."""
    if value == 0 or not math.isfinite(value):
        return value
    exponent = min(max(math.frexp(value)[1] - 1, form.smallest), form.largest)
    units = math.floor(math.ldexp(abs(value), form.precision - 1 - exponent))
    units = min(units, (1 << form.precision) - 1)
    return math.copysign(math.ldexp(units, exponent - form.precision + 1), value)


def ties_away(form, value):
    """Round a Python float to the nearest number of a format, ties away from zero."""
    if value == 0 or not math.isfinite(value):
        return value
    exponent = max(math.frexp(value)[1] - 1, form.smallest)
    units = math.floor(math.ldexp(abs(value), form.precision - 1 - exponent) + 0.5)
    rounded = math.ldexp(units, exponent - form.precision + 1)
    return math.copysign(rounded if rounded < 2.0 ** (form.largest + 1) else math.inf, value)


def convert_exactly(form, value, most=None, relu=False, rounding=Format.round):
    """The expected result of a conversion; None for NaN."""
    if math.isnan(value):
        return None
    if relu and value <= 0:
        return 0.0
    rounded = rounding(form, value)
    return math.copysign(min(abs(rounded), most), rounded) if most is not None else rounded


def inputs(form, dtype):
    """Numbers of a wider type around those of a format: exact ones, ties, and the neighbours of both."""
    codes = np.arange(
        1 << 8 * min(form.dtype.itemsize, 2), step=1 if form.dtype.itemsize == 1 else 97
    )
    if form is TF32:
        bits = codes.astype(np.uint32) << 16 | 1 << 13
    else:
        bits = codes.astype(f"u{form.dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        values = bits.view(form.dtype).astype(np.float64)
    values = np.sort(values[np.isfinite(values)])
    step = 2.0 ** -(FORMATS[ELEMENTS[np.dtype(dtype)]].precision - 1)
    ties = (values[1:] + values[:-1]) / 2
    near = [x * (1 + s * step) for x in (values, ties) for s in (-1, 0, 1)]
    top = np.abs(values).max()
    specials = [math.inf, math.nan, -0.0, top * 1.01, top * 1.04, top * 1.1, top * 3, 5e-324, 1e-30]
    with np.errstate(over="ignore"):
        numbers = np.concatenate([*near, specials, np.negative(specials)]).astype(dtype)
    return numbers[: len(numbers) // 2 * 2]


def convert_pairs(body, a, b, result):
    """Run lines that compute %r from %a and %b, one thread for each pair, 1024 threads at a time."""
    out = np.zeros(len(a), result)
    for first in range(0, len(a), 1024):
        chunk = slice(first, first + 1024)
        n = len(a[chunk])
        types = [f"memref<{n}x{ELEMENTS[x.dtype]}>" for x in (a, b, out)]
        text = f"""
    %a = memref.load %A[%tid] : {types[0]}
    %b = memref.load %B[%tid] : {types[1]}
    {body}
    memref.store %r, %C[%tid] : {types[2]}"""
        chunk_out = np.zeros(n, result)
        run(text, a[chunk].copy(), b[chunk].copy(), chunk_out, block=n)
        out[chunk] = chunk_out
    return out


def modifiers(rounding="rn", saturates=True, relu=False):
    words = [f"rnd = #nvvm.fp_rnd_mode<{rounding}>"]
    words += ["sat = #nvvm.sat_mode<satfinite>"] * saturates + ["relu = true"] * relu
    return "{" + ", ".join(words) + "}"


def check(codes, numbers, dtype, nan):
    """Compare bits with those of the expected numbers."""
    bits = np.array([nan if n is None else 0 for n in numbers], codes.dtype)
    is_number = np.array([n is not None for n in numbers])
    exact = np.array([0.0 if n is None else n for n in numbers])
    with np.errstate(over="ignore"):
        bits[is_number] = exact.astype(np.float32).astype(dtype).view(codes.dtype)[is_number]
    wrong = np.flatnonzero(codes != bits)
    assert len(wrong) == 0, (hex(codes[wrong[0]]), numbers[wrong[0]])


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("target", EIGHT)
def test_two_f32_to_f8(target, packed, relu):
    form, most = EIGHT[target]
    values = inputs(form, np.float32)
    high, low = values[0::2], values[1::2]
    op = f"nvvm.convert.f32x2.to.f8x2 %a, %b {modifiers(relu=relu)}"
    body = f"%r = {op} : i16 ({target})"
    if not packed:
        body = (
            f"%v = {op} : vector<2xi8> ({target})\n    %r = llvm.bitcast %v : vector<2xi8> to i16"
        )
    pairs = convert_pairs(body, high, low, np.uint16)
    for half, source in ((pairs >> 8, high), (pairs & 0xFF, low)):
        numbers = [convert_exactly(form, x, most, relu) for x in source.astype(float).tolist()]
        check(half.astype(np.uint8), numbers, form.dtype, 0x7F)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("target", EIGHT)
def test_every_f16_to_f8(target, relu):
    form, most = EIGHT[target]
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    words = ", relu = true" if relu else ""
    body = f"""%h = vector.from_elements %b, %a : vector<2xf16>
    %r = nvvm.convert.f16x2.to.f8x2 %h {{{words[2:]}}} : vector<2xf16> -> i16 ({target})"""
    high, low = values[0::2], values[1::2]
    pairs = convert_pairs(body, high, low, np.uint16)
    for half, source in ((pairs >> 8, high), (pairs & 0xFF, low)):
        numbers = [convert_exactly(form, x, most, relu) for x in source.astype(float).tolist()]
        check(half.astype(np.uint8), numbers, form.dtype, 0x7F)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("source", EIGHT)
def test_every_f8_to_f16(source, relu):
    form, _ = EIGHT[source]
    codes = np.arange(256, dtype=np.uint8)
    words = "relu = true" if relu else ""
    body = f"""%v = vector.from_elements %b, %a : vector<2xi8>
    %h = nvvm.convert.f8x2.to.f16x2 %v {{{words}}} : vector<2xi8> ({source}) -> vector<2xf16>
    %r = llvm.bitcast %h : vector<2xf16> to i32"""
    pairs = convert_pairs(body, codes, codes[::-1].copy(), np.uint32)
    for half, source_codes in ((pairs >> 16, codes), (pairs & 0xFFFF, codes[::-1])):
        values = source_codes.copy().view(form.dtype).astype(float).tolist()
        numbers = [convert_exactly(FORMATS["f16"], x, None, relu) for x in values]
        check(half.astype(np.uint16), numbers, np.float16, 0x7FFF)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("saturates", [False, True])
@pytest.mark.parametrize("rounding", ["rn", "rz"])
@pytest.mark.parametrize("target", SIXTEEN)
def test_two_f32_to_16_bits(target, rounding, saturates, relu):
    form, most = SIXTEEN[target]
    values = inputs(form, np.float32)
    high, low = values[0::2], values[1::2]
    body = f"""%v = nvvm.convert.f32x2.to.{target}x2 %a, %b {modifiers(rounding, saturates, relu)} \
: vector<2x{target}>
    %r = llvm.bitcast %v : vector<2x{target}> to i32"""
    pairs = convert_pairs(body, high, low, np.uint32)
    function = Format.round if rounding == "rn" else toward_zero
    limit = most if saturates else None
    for half, source in ((pairs >> 16, high), (pairs & 0xFFFF, low)):
        numbers = [
            convert_exactly(form, x, limit, relu, function) for x in source.astype(float).tolist()
        ]
        check(half.astype(np.uint16), numbers, form.dtype, 0x7FFF)


@pytest.mark.parametrize(
    "rounding, saturates, relu",
    [
        *((r, s, u) for r in ("rn", "rz") for s in (False, True) for u in (False, True)),
        ("rna", False, False),
        ("rna", True, False),
    ],
)
def test_f32_to_tf32(rounding, saturates, relu):
    values = inputs(TF32, np.float32)
    body = f"%r = nvvm.convert.float.to.tf32 %a {modifiers(rounding, saturates, relu)}"
    codes = convert_pairs(body, values, values, np.uint32)
    function = {"rn": Format.round, "rz": toward_zero, "rna": ties_away}[rounding]
    most = np.uint32(0x7F7FE000).view(np.float32).item() if saturates else None
    numbers = [
        convert_exactly(TF32, x, most, relu, function) for x in values.astype(float).tolist()
    ]
    check(codes, numbers, np.float32, 0x7FFFFFFF)
    assert not (codes[np.isfinite(values)] & 0x1FFF).any()


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "%r = nvvm.convert.f32x2.to.f16x2 %x, %x, %t32 {rnd = #nvvm.fp_rnd_mode<rs>} "
            ": vector<2xf16>",
            "rounds as #nvvm.fp_rnd_mode<rs>, which the emulator does not know",
        ),
        (
            "%r = nvvm.convert.f32x2.to.f8x2 %x, %x {rnd = #nvvm.fp_rnd_mode<rz>, "
            "sat = #nvvm.sat_mode<satfinite>} : i16 (f8E8M0FNU)",
            "rounds as #nvvm.fp_rnd_mode<rz>, which the emulator does not know",
        ),
    ],
)
def test_conversions_that_are_not_known(line, message):
    body = f"%x = arith.constant 1.0 : f32\n    {line}"
    with pytest.raises(EmulationError) as error:
        run(body)
    assert message in str(error.value)
