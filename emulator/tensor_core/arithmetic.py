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

from .compiled_sums import COLUMNS, largest_terms, truncated_sums
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

#: Fraction bits of IEEE 754's formats.
_F32_FRACTION_BITS, _F64_FRACTION_BITS = 23, 52
_F32_BIAS, _F64_BIAS = 127, 1023

#: The smallest exponent of a normal accumulator.
_ACCUMULATOR_EXPONENT = {np.dtype(np.float32): -126, np.dtype(np.float16): -14}

#: The smallest exponent to which terms are aligned.
_LEAST_EXPONENT = -133

#: The exponent of zero: less than that of any term, with that of a factor added, too.
_NO_EXPONENT = -800

#: Exponents of the largest term at which the sum can be computed in float32.
_MIDDLE = range(-90, 100)

#: The bits of the exponent of a float32.
_F32_EXPONENT = np.uint32(0x7F800000)

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
    fraction = _FRACTION_BITS_OF_8 if types[0].dtype.itemsize == 1 else _FRACTION_BITS
    result = _sum_in_f32(a, b, c, types, fraction)
    if result is not None:
        return result + result.dtype.type(0)
    exact = _sum(a, b, c, types, fraction)
    result = _cut_to_f32(exact, fraction) if c.dtype == np.float32 else exact.astype(c.dtype)
    result = result + result.dtype.type(0)
    special = _special(a, b, c)
    if special is None:
        return result
    return np.where(np.isfinite(special), result, special)


def _sum(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    types: tuple[Multiplicand, Multiplicand],
    fraction: int,
) -> np.ndarray:
    """Return the sum of the aligned and truncated terms, float64[m, n]."""
    a_exponents, b_exponents = (
        _exponents(values, type_.smallest_exponent or 0)
        for values, type_ in zip((a, b), types, strict=True)
    )
    largest = _exponents(c, _ACCUMULATOR_EXPONENT[c.dtype])
    for column, row in zip(a_exponents.T, b_exponents, strict=True):
        np.maximum(largest, column[:, None] + row, out=largest)
    scale = np.ldexp(1.0, fraction - np.maximum(largest, _LEAST_EXPONENT))
    total = np.trunc(c * scale)
    for column, row in zip(a.T, b, strict=True):
        total += np.trunc(column[:, None] * row * scale)
    return total / scale


def _sum_in_f32(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    types: tuple[Multiplicand, Multiplicand],
    fraction: int,
) -> np.ndarray | None:
    """Return the truncated sum by float32 and int32, in a fraction of the time; None if they cannot hold
    the terms, or if a row is no whole number of vectors.

    Products of types of up to 32 bits have at most 22 significant bits, so that float32 holds them; those
    below its smallest normal number are less than 1 when they are scaled, since all exponents are in
    `_MIDDLE`. A scaled product is below 2^(fraction + 2), so that int32 holds the sum of all.
    """
    if max(type_.dtype.itemsize for type_ in types) > 4 or a.shape[1] << fraction + 2 > 2**31:
        return None
    if c.shape[1] % COLUMNS:
        return None
    left, right, added = (np.ascontiguousarray(values, np.float32) for values in (a, b, c))
    a_powers, b_powers = (
        _leading_powers(values, type_.smallest_exponent or 0)
        for values, type_ in zip((left, right), types, strict=True)
    )
    highest = largest_terms(a_powers, b_powers, added, 2.0 ** _ACCUMULATOR_EXPONENT[c.dtype])
    if not _are_in_middle(highest, left, right, added):
        return None
    exact = truncated_sums(left, right, added, highest, 2.0**fraction)
    return (_cut(exact, fraction) if c.dtype == np.float32 else exact).astype(c.dtype)


def _leading_powers(values: np.ndarray, smallest: int) -> np.ndarray:
    """Return 2^exponent for the exponents of float32 values, at least `smallest`; zero for zero, and
    infinity for infinity and NaN."""
    powers = (values.view(np.uint32) & _F32_EXPONENT).view(np.float32)
    np.maximum(powers, np.float32(2.0**smallest), out=powers)
    powers[values == 0] = 0
    return powers


def _are_in_middle(
    highest: np.ndarray, left: np.ndarray, right: np.ndarray, added: np.ndarray
) -> bool:
    """Return whether the largest terms have exponents in `_MIDDLE`, or all terms are zero; replace the
    zero powers by 1, since any scale is right for zero."""
    zero = highest == 0
    if zero.any():
        # The product of two powers may be too small for float32.
        least = np.float64(1)
        for factors in (left, right):
            least *= np.abs(factors[factors != 0]).min(initial=1)
        if least < 2.0**_MIDDLE.start or added[zero].any():
            return False
        highest[zero] = 1
    return bool(highest.min() >= 2.0**_MIDDLE.start and highest.max() < 2.0**_MIDDLE.stop)


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
    """Return the exponent of each value's leading bit, int16; `_NO_EXPONENT` for zero."""
    if values.dtype != np.float32:
        values = values.astype(np.float64)  # in which no value of these types is subnormal
        biased = values.view(np.int64) >> _F64_FRACTION_BITS & 2 * _F64_BIAS + 1
        exponents = (biased - _F64_BIAS).astype(np.int16)
    else:
        biased = values.view(np.int32) >> _F32_FRACTION_BITS & 2 * _F32_BIAS + 1
        exponents = (biased - _F32_BIAS).astype(np.int16)
    return np.where(values == 0, np.int16(_NO_EXPONENT), np.maximum(exponents, np.int16(smallest)))


def _cut_to_f32(values: np.ndarray, fraction: int) -> np.ndarray:
    """Truncate float64 to float32 with at most `fraction` fraction bits; infinite from 2^128 on."""
    values = _cut(values, fraction)
    near = values.astype(np.float32)
    too_far = np.abs(near.astype(np.float64)) > np.abs(values)
    cut = np.where(too_far, np.nextafter(near, np.float32(0)), near)
    return np.where(np.abs(values) >= 2.0**128, np.copysign(np.float32(np.inf), cut), cut)


def _cut(values: np.ndarray, fraction: int) -> np.ndarray:
    """Truncate float64 to as many fraction bits, at most those of float32."""
    # Sign and exponent have bits of their own.
    dropped = _F64_FRACTION_BITS - min(fraction, _F32_FRACTION_BITS)
    return (values.view(np.int64) & (-1 << dropped)).view(np.float64)


def _special(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray | None:
    """Return infinity or NaN where a term is infinite or NaN, zero elsewhere; None if all are finite."""
    if np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all():
        return None
    rows = np.isfinite(a).all(axis=1, keepdims=True)
    columns = np.isfinite(b).all(axis=0)
    affected = ~(rows & columns & np.isfinite(c))
    total = c.astype(np.float64)
    for i in range(a.shape[1]):
        total += a[:, i, None] * b[i]
    special = np.where(affected, total, 0).astype(c.dtype)
    special.view(_NAN[c.dtype].dtype)[np.isnan(special)] = _NAN[c.dtype]
    return special
