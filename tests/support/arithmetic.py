"""Integers and floats of any width in plain Python, as LLVM's language reference defines them."""

import math
from dataclasses import dataclass
from itertools import product

import ml_dtypes
import numpy as np

WIDTHS = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def as_signed(value, width):
    """Return a bit pattern as a two's complement number."""
    return value - (1 << width) if value >> (width - 1) else value


def integers(width):
    """Edge cases of integers, as bit patterns."""
    if width == 1:
        return [0, 1]
    top = 1 << width
    odd = [0x55555555_55555555 % top, 0xDEADBEEF_12345678 % top]
    near = [0, 1, 2, 3, 5, 7, width - 1, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1]
    return sorted({*near, *odd, top - 7})


def integer_pairs(width):
    """All pairs of edge cases, as two arrays."""
    a, b = zip(*product(integers(width), repeat=2), strict=True)
    return np.array(a, WIDTHS[width]), np.array(b, WIDTHS[width])


@dataclass(frozen=True)
class Format:
    """A binary floating-point format of IEEE 754.

    Attributes:
        dtype: NumPy's.
        precision: bits of the significand with its leading one.
        smallest, largest: exponents of normal numbers.
    """

    dtype: np.dtype
    precision: int
    smallest: int
    largest: int

    def round(self, value):
        """Round a Python float to the nearest number of the format, ties to even."""
        if value == 0 or not math.isfinite(value):
            return value
        exponent = max(math.frexp(value)[1] - 1, self.smallest)
        # Both scalings are exact, and Python rounds to even.
        units = round(math.ldexp(abs(value), self.precision - 1 - exponent))
        if exponent + units.bit_length() - self.precision > self.largest:
            return math.copysign(math.inf, value)
        return math.copysign(math.ldexp(units, exponent - self.precision + 1), value)

    def edges(self):
        """Edge cases: zeros, neighbours of 1, limits, subnormals, infinities and NaN."""
        step = 2.0 ** (1 - self.precision)
        tiny = 2.0**self.smallest
        most = (2 - step) * 2.0**self.largest
        near = [1.0, 1 + step, 1.5, 3.0, 0.1, most, tiny, tiny * step, tiny * (1 - step)]
        values = [self.round(v) for v in near]
        return [0.0, -0.0, *values, *(-v for v in values[:6]), math.inf, -math.inf, math.nan]

    def pairs(self):
        """All pairs of edge cases, as two arrays."""
        a, b = zip(*product(self.edges(), repeat=2), strict=True)
        return np.array(a).astype(self.dtype), np.array(b).astype(self.dtype)


FORMATS = {
    "f16": Format(np.dtype(np.float16), 11, -14, 15),
    "bf16": Format(np.dtype(ml_dtypes.bfloat16), 8, -126, 127),
    "f32": Format(np.dtype(np.float32), 24, -126, 127),
    "f64": Format(np.dtype(np.float64), 53, -1022, 1023),
}


def same(actual, expected):
    """Whether two floats are equal: zeros of one sign, or any two NaN."""
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    return actual == expected and math.copysign(1, actual) == math.copysign(1, expected)
