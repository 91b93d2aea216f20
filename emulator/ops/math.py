"""math, and the equivalent intrinsics of the LLVM dialect.

Ops that IEEE 754 defines are exact. Approximations (such as `ex2.approx` and `tanh.approx`) are
computed in f64 and rounded once, so the last bits may differ from those of the chip
(`docs/math_functions.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ..floats import fused_multiply_add, round_to
from ..kernel import Op
from ..registry import computes
from ..types import as_signed, dtype_of
from .arith import maximum, may_approximate, minimum

#: The smallest normal number of f32.
_LEAST_NORMAL = 2.0**-126


def _in_f64(function: Callable[..., np.ndarray]) -> Callable[[Op], Any]:
    """Return the function that makes the step of an op computed in f64 and rounded to its type."""

    def make(op: Op) -> Any:
        dtype = dtype_of(op.result_types[0], op.location)
        return lambda *numbers: round_to(function(*(n.astype(np.float64) for n in numbers)), dtype)

    return make


def _round_away(a: np.ndarray) -> np.ndarray:
    """Round to the nearest integer, ties away from zero."""
    whole = np.trunc(a)
    return np.copysign(whole + np.copysign(np.abs(a - whole) >= 0.5, a), a)


def _cbrt(a: np.ndarray) -> np.ndarray:
    # NumPy's of f64 is off by more than an ulp on some processors.
    return np.cbrt(a.astype(np.longdouble)).astype(np.float64)


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])

for _names, _function in (
    # Exact: the results are f64 numbers.
    (("math.ceil", "llvm.intr.ceil"), np.ceil),
    (("math.floor", "llvm.intr.floor"), np.floor),
    (("math.trunc", "llvm.intr.trunc"), np.trunc),
    (("math.round", "llvm.intr.round"), _round_away),
    (("math.roundeven", "llvm.intr.roundeven", "llvm.intr.rint", "llvm.intr.nearbyint"), np.rint),
    (("arith.remf", "llvm.frem"), np.fmod),
    # Rounding a root of f64 once more gives the nearest number (Figueroa 1995).
    (("math.sqrt", "llvm.intr.sqrt"), np.sqrt),
    # Approximations.
    (("math.rsqrt",), lambda a: 1 / np.sqrt(a)),
    (("math.cbrt",), _cbrt),
    (("math.exp", "llvm.intr.exp"), np.exp),
    (("math.expm1",), np.expm1),
    (("math.log", "llvm.intr.log"), np.log),
    (("math.log2", "llvm.intr.log2"), np.log2),
    (("math.log10", "llvm.intr.log10"), np.log10),
    (("math.log1p",), np.log1p),
    (("math.sin", "llvm.intr.sin"), np.sin),
    (("math.cos", "llvm.intr.cos"), np.cos),
    (("math.tan", "llvm.intr.tan"), np.tan),
    (("math.asin", "llvm.intr.asin"), np.arcsin),
    (("math.acos", "llvm.intr.acos"), np.arccos),
    (("math.atan", "llvm.intr.atan"), np.arctan),
    (("math.atan2", "llvm.intr.atan2"), np.arctan2),
    (("math.sinh", "llvm.intr.sinh"), np.sinh),
    (("math.cosh", "llvm.intr.cosh"), np.cosh),
    (("math.tanh", "llvm.intr.tanh"), np.tanh),
    (("math.asinh",), np.arcsinh),
    (("math.acosh",), np.arccosh),
    (("math.atanh",), np.arctanh),
    (("math.erf",), _erf),
    (("math.erfc",), _erfc),
):
    computes(*_names)(_in_f64(_function))


@computes("math.sincos")
def _sine_and_cosine(op: Op) -> Any:
    sine, cosine = _in_f64(np.sin)(op), _in_f64(np.cos)(op)
    return lambda a: (sine(a), cosine(a))


def _flushed_power_of_two(a: np.ndarray) -> np.ndarray:
    power = np.exp2(a)
    return np.where(power < _LEAST_NORMAL, 0, power)


@computes("math.exp2", "llvm.intr.exp2")
def _power_of_two(op: Op) -> Any:
    """Powers of two. The approximation has no subnormal results (`ex2.approx.ftz` in the PTX ISA)."""
    return _in_f64(_flushed_power_of_two if may_approximate(op) else np.exp2)(op)


def _power_by_logarithm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.exp2(b * np.log2(a))


@computes("math.powf", "llvm.intr.pow")
def _power(op: Op) -> Any:
    """Powers. The approximation by a logarithm is NaN for a negative base, for 0 to the power of 0, and
    for 1 to the power of infinity (`__powf` in the CUDA C++ Programming Guide)."""
    return _in_f64(_power_by_logarithm if may_approximate(op) else np.power)(op)


@computes("math.fpowi")
def _integer_power(op: Op) -> Any:
    power = _in_f64(np.power)(op)
    return lambda a, b: power(a, as_signed(b))


def _is_normal(a: np.ndarray) -> np.ndarray:
    return np.isfinite(a) & (np.abs(a) >= ml_dtypes.finfo(a.dtype).smallest_normal)


computes("math.isfinite")(lambda op: np.isfinite)
computes("math.isinf")(lambda op: np.isinf)
computes("math.isnan")(lambda op: np.isnan)
computes("math.isnormal")(lambda op: _is_normal)
computes("math.clampf")(lambda op: lambda a, low, high: maximum(minimum(a, high), low))

# These change the sign, also of NaN.
computes("math.absf", "llvm.intr.fabs")(lambda op: np.abs)
computes("math.copysign", "llvm.intr.copysign")(lambda op: np.copysign)


@computes("math.fma", "llvm.intr.fma", "vector.fma")
def _fused_multiply_add(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    if dtype.itemsize > 4:
        raise op.refuse("is of f64, which the emulator cannot multiply and add at once")
    return fused_multiply_add


@computes("math.absi")
def _absolute(op: Op) -> Any:
    return lambda a: np.abs(as_signed(a)).view(a.dtype)


def _bits(a: np.ndarray) -> np.ndarray:
    """Return the bits of integers, the highest first, along a new last dimension."""
    if a.dtype.kind == "b":
        return a[..., None]
    octets = np.ascontiguousarray(a.astype(a.dtype.newbyteorder(">")))
    return np.unpackbits(octets[..., None].view(np.uint8), axis=-1)


def _zeros_before_a_one(bits: np.ndarray) -> np.ndarray:
    return np.where(bits.any(-1), bits.argmax(-1), bits.shape[-1])


def _counts(count: Callable[[np.ndarray], np.ndarray]) -> Callable[[Op], Any]:
    """Return the function that makes the step of an op that counts bits."""
    return lambda op: lambda a: count(_bits(a)).astype(a.dtype)


computes("math.ctlz")(_counts(_zeros_before_a_one))
computes("math.cttz")(_counts(lambda bits: _zeros_before_a_one(bits[..., ::-1])))
computes("math.ctpop")(_counts(lambda bits: bits.sum(-1)))
