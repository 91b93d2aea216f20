"""Rounding of floats, by IEEE 754 and the conversions of PTX (`cvt`)."""

from __future__ import annotations

import ml_dtypes
import numpy as np

#: The NaN that a narrowing conversion gives, by the bytes of the result (PTX ISA, cvt).
_NAN = {1: 0x7F, 2: 0x7FFF}


def round_to(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert numbers to floats, rounded once to nearest even; NumPy rounds to bf16 by way of f32."""
    if dtype != ml_dtypes.bfloat16 or a.dtype.itemsize < 4 or a.dtype == np.float32:
        return a.astype(dtype)
    if a.dtype.itemsize == 8 and a.dtype.kind != "f":
        # The bits that an f64 cannot hold only decide on which side of a tie the number is.
        low, most = a.dtype.type(0xFFFF), a.dtype.type(1 << 40)
        a = np.where(np.abs(a) < most, a, a & ~low | np.where(a & low, a.dtype.type(0x8000), 0))
    exact = a.astype(np.float64)
    near = exact.astype(np.float32)
    return round_to_odd(near, exact - near.astype(np.float64)).astype(dtype)


def round_to_odd(near: np.ndarray, remainder: np.ndarray) -> np.ndarray:
    """Round exact numbers to odd: toward zero, and to an odd last bit if the result is inexact.

    Rounding the result to a narrower type is then a tie only if the exact number is one.

    Args:
        near: the numbers, rounded to nearest.
        remainder: the exact numbers less `near`; only the sign is used.
    """
    bits = near.view(np.dtype(f"u{near.dtype.itemsize}"))
    too_far = (remainder != 0) & (np.signbit(remainder) != np.signbit(near))
    odd = bits - too_far | (remainder != 0)
    # If the rest is infinite or NaN, the number is taken to be exact.
    return np.where(np.isfinite(near) & np.isfinite(remainder), odd, bits).view(near.dtype)


def fused_multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a * b + c, rounded once; of floats of 16 or 32 bits."""
    dtype, addend = c.dtype, c.astype(np.float64)
    # An f64 holds a product of two f32 exactly; the error of the sum is an f64 (Knuth's TwoSum).
    product = a.astype(np.float64) * b.astype(np.float64)
    near = product + addend
    part = near - product
    remainder = (product - (near - part)) + (addend - part)
    return round_to(round_to_odd(near, remainder), dtype)


def narrow(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert floats to fewer bits, rounded to nearest even, with the GPU's NaN."""
    narrowed = round_to(a, dtype)
    if dtype.itemsize in _NAN:
        bits = narrowed.view(np.dtype(f"u{dtype.itemsize}"))
        bits[np.isnan(a)] = _NAN[dtype.itemsize]
    return narrowed


def convert(
    a: np.ndarray,
    dtype: np.dtype,
    *,
    toward_zero: bool = False,
    saturates: bool = False,
    relu: bool = False,
) -> np.ndarray:
    """Convert floats to 8 or 16 bits by `cvt`.

    Args:
        a: floats of a wider type.
        dtype: of the result.
        toward_zero: `.rz` instead of `.rn`.
        saturates: `.satfinite`: a number beyond the finite range becomes the largest finite number.
        relu: `.relu`: a number less than zero becomes zero.
    """
    if relu:
        a = np.where(a <= 0, np.zeros(1, a.dtype), a)
    if saturates:
        most = ml_dtypes.finfo(dtype).max.astype(a.dtype)
        a = np.clip(a, -most, most)
    converted = narrow(a, dtype)
    if toward_zero:
        bits = converted.view(np.dtype(f"u{dtype.itemsize}"))
        # One less in magnitude; the code below infinity is the largest finite number.
        bits -= (np.abs(converted.astype(a.dtype)) > np.abs(a)).astype(bits.dtype)
    return converted


#: Low bits of an f32 that tf32 does not have.
_TF32_IGNORES = 13

_TF32_NAN, _TF32_MOST = np.uint32(0x7FFFFFFF), np.uint32(0x7F7FE000)

_SIGN = np.uint32(1 << 31)


def to_tf32(a: np.ndarray, rounding: str, saturates: bool, relu: bool) -> np.ndarray:
    """Convert f32 to tf32 by `cvt`; the result has 32 bits.

    Args:
        a: f32.
        rounding: "rn", "rz" or "rna", to nearest with ties away from zero.
        saturates, relu: as in `convert`.
    """
    if relu:
        a = np.where(a <= 0, np.float32(0), a)
    bits = a.view(np.uint32)
    half, one = np.uint32(1 << _TF32_IGNORES - 1), np.uint32(1)
    added = {
        "rn": half - one + (bits >> _TF32_IGNORES & one),
        "rz": np.uint32(0),
        "rna": half,
    }[rounding]
    # A carry into the exponent gives the right result.
    rounded = np.where(np.isfinite(a), (bits + added) >> _TF32_IGNORES << _TF32_IGNORES, bits)
    if saturates:
        rounded = rounded & _SIGN | np.minimum(rounded & ~_SIGN, _TF32_MOST)
    return np.where(np.isnan(a), _TF32_NAN, rounded)
