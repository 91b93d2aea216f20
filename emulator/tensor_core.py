"""The arithmetic of Hopper's tensor core for 16-bit floats, bit for bit (measured on an H200).

For each element of D the 16 products of one instruction and the accumulator are summed at once: all
are shifted to the largest of their exponents and cut off 25 bits behind its leading bit, toward zero;
the sum of what is left is exact, and is cut off toward zero to f32. An exponent is that of the factors
(a product in [2, 4) is not normalised first), subnormals having the smallest one. Zeros come out as
+0, what exceeds f32 as infinity, and NaN as 0x7fffffff.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

#: Bits behind the leading bit of the largest term that are kept.
_FRACTION_BITS = 25

#: The smallest exponent of f32's normal numbers.
_ACCUMULATOR_EXPONENT = -126

#: Where a term is zero: below every exponent of a sum, and still a power of two of f64.
_NO_EXPONENT = -400

_NAN = np.uint32(0x7FFFFFFF)


@dataclass(frozen=True)
class Multiplicand:
    """A type of A and B.

    Attributes:
        dtype: NumPy's.
        smallest_exponent: of its normal numbers.
    """

    dtype: np.dtype
    smallest_exponent: int


F16 = Multiplicand(np.dtype(np.float16), -14)
BF16 = Multiplicand(np.dtype(ml_dtypes.bfloat16), -126)


def multiply_add(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, multiplicand: Multiplicand
) -> np.ndarray:
    """A * B + C of one instruction.

    Args:
        a: float64[m, k], values of the multiplicand's type.
        b: float64[k, n].
        c: float32[m, n].
        multiplicand: the type of A and B.

    Returns:
        float32[m, n].
    """
    k = a.shape[1]
    added = c.astype(np.float64)
    a_exponents = _exponents(a, multiplicand.smallest_exponent)
    b_exponents = _exponents(b, multiplicand.smallest_exponent)
    largest = _exponents(added, _ACCUMULATOR_EXPONENT)
    for i in range(k):
        largest = np.maximum(largest, a_exponents[:, i, None] + b_exponents[i])
    scale = np.ldexp(1.0, _FRACTION_BITS - np.maximum(largest, _NO_EXPONENT))
    total = np.trunc(added * scale)
    for i in range(k):
        total += np.trunc(a[:, i, None] * b[i] * scale)
    found = _cut_to_f32(total / scale)
    special = _special(a, b, added)
    return found if special is None else np.where(np.isfinite(special), found, special)


def _exponents(values: np.ndarray, smallest: int) -> np.ndarray:
    """The exponent of each value's leading bit; of no value where it is zero."""
    _, exponents = np.frexp(values)
    return np.where(values == 0, 2 * _NO_EXPONENT, np.maximum(exponents - 1, smallest))


def _cut_to_f32(values: np.ndarray) -> np.ndarray:
    """float64 to float32, toward zero; infinite from 2^128."""
    near = values.astype(np.float32)
    too_far = np.abs(near.astype(np.float64)) > np.abs(values)
    cut = np.where(too_far, np.nextafter(near, np.float32(0)), near)
    cut = np.where(np.abs(values) >= 2.0**128, np.copysign(np.float32(np.inf), cut), cut)
    return cut + np.float32(0)


def _special(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray | None:
    """float32 infinities and NaN where terms are infinite or NaN, zero elsewhere; None if none is."""
    if np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(c).all():
        return None
    rows = np.isfinite(a).all(axis=1, keepdims=True)
    columns = np.isfinite(b).all(axis=0, keepdims=True)
    affected = ~(rows & columns & np.isfinite(c))
    total = c.copy()
    for i in range(a.shape[1]):
        total += a[:, i, None] * b[i]
    found = np.where(affected, total, 0).astype(np.float32)
    found.view(np.uint32)[np.isnan(found)] = _NAN
    return found
