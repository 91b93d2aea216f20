"""The arithmetic of Hopper's tensor core, bit for bit (measured on an H200).

*Floats.* For each element of D, the products of one instruction and the accumulator are summed at once.
All terms are aligned to the largest of their exponents and truncated 25 bits after its leading bit (13
bits if A and B are 8-bit floats), toward zero. The sum of the truncated terms is exact. It is truncated
to f32 toward zero, after 13 bits again for 8-bit floats; or rounded to f16, to nearest even. The exponent
of a product is the sum of those of its factors: a product in [2, 4) is not normalised first. A subnormal
has the smallest exponent of its type, and no exponent is below -133. A zero result is +0, a result beyond
the accumulator's range is infinite, and NaN is 0x7fffffff or 0x7fff.

*Integers* are exact: sums wrap around, or saturate to 32 bits with `.satfinite`.
"""

from __future__ import annotations

import numpy as np

from .multiplicands import Multiplicand

#: Accumulator types, by their names in the ISA.
ACCUMULATORS = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "s32": np.dtype(np.int32),
}

#: Bits that are kept after the leading bit of the largest term.
_FRACTION_BITS = 25
_FRACTION_BITS_OF_8 = 13

#: The smallest exponent of a normal accumulator.
_ACCUMULATOR_EXPONENT = {np.dtype(np.float32): -126, np.dtype(np.float16): -14}

#: The smallest exponent to which terms are aligned.
_LEAST_EXPONENT = -133

#: The exponent of zero: less than that of any term.
_NO_EXPONENT = -800

_NAN = {np.dtype(np.float32): np.uint32(0x7FFFFFFF), np.dtype(np.float16): np.uint16(0x7FFF)}


def multiply_add(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    types: tuple[Multiplicand, Multiplicand],
) -> np.ndarray:
    """Return A * B + C of one instruction on floats.

    Args:
        a: float64[m, k], values of A's type.
        b: float64[k, n], values of B's type; or [k, m, n], a B for each row of A.
        c: float32[m, n] or float16[m, n].
        types: the types of A and B.

    Returns:
        [m, n] of C's dtype.
    """
    added = c.astype(np.float64)
    a_exponents, b_exponents = (
        _exponents(values, type_.smallest_exponent or 0)
        for values, type_ in zip((a, b), types, strict=True)
    )
    fraction = _FRACTION_BITS_OF_8 if types[0].dtype.itemsize == 1 else _FRACTION_BITS
    largest = _exponents(added, _ACCUMULATOR_EXPONENT[c.dtype])
    for i in range(a.shape[1]):
        largest = np.maximum(largest, a_exponents[:, i, None] + b_exponents[i])
    scale = np.ldexp(1.0, fraction - np.maximum(largest, _LEAST_EXPONENT))
    total = np.trunc(added * scale)
    for i in range(a.shape[1]):
        total += np.trunc(a[:, i, None] * b[i] * scale)
    total /= scale
    found = total.astype(c.dtype) if c.dtype == np.float16 else _cut_to_f32(total, fraction)
    special = _special(a, b, added, c.dtype)
    found = found + found.dtype.type(0)
    return found if special is None else np.where(np.isfinite(special), found, special)


def multiply_add_integers(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, saturates: bool
) -> np.ndarray:
    """Return A * B + C of one instruction on integers: int64[m, k] and int64[k, n] or [k, m, n] give
    int32[m, n]."""
    # Exact in float64, where NumPy multiplies matrices fast.
    left, right = a.astype(np.float64), b.astype(np.float64)
    products = left @ right if b.ndim == 2 else np.einsum("mk,kmn->mn", left, right)
    total = products.astype(np.int64) + c
    if saturates:
        limits = np.iinfo(np.int32)
        total = np.clip(total, limits.min, limits.max)
    return total.astype(np.int32)


def _exponents(values: np.ndarray, smallest: int) -> np.ndarray:
    """Return the exponent of each value's leading bit; `_NO_EXPONENT` for zero."""
    _, exponents = np.frexp(values)
    return np.where(values == 0, _NO_EXPONENT, np.maximum(exponents - 1, smallest))


def _cut_to_f32(values: np.ndarray, fraction: int) -> np.ndarray:
    """Truncate float64 to float32 with at most `fraction` fraction bits; infinite from 2^128 on."""
    if fraction < 23:
        significand, exponent = np.frexp(values)
        kept = np.trunc(np.ldexp(significand, fraction + 1))
        values = np.ldexp(kept, exponent - fraction - 1)
    near = values.astype(np.float32)
    too_far = np.abs(near.astype(np.float64)) > np.abs(values)
    cut = np.where(too_far, np.nextafter(near, np.float32(0)), near)
    return np.where(np.abs(values) >= 2.0**128, np.copysign(np.float32(np.inf), cut), cut)


def _special(a: np.ndarray, b: np.ndarray, c: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """Return infinity or NaN where a term is infinite or NaN, zero elsewhere; None if all are finite."""
    if np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all():
        return None
    rows = np.isfinite(a).all(axis=1, keepdims=True)
    columns = np.isfinite(b).all(axis=0)
    affected = ~(rows & columns & np.isfinite(c))
    total = c.copy()
    for i in range(a.shape[1]):
        total += a[:, i, None] * b[i]
    found = np.where(affected, total, 0).astype(dtype)
    found.view(_NAN[dtype].dtype)[np.isnan(found)] = _NAN[dtype]
    return found
