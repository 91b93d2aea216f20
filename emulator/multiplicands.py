"""The types that `wgmma` multiplies, as the emulator reads them from shared memory."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Multiplicand:
    """A type of A or B.

    Attributes:
        dtype: NumPy's; bytes for b1.
        smallest_exponent: of the normal numbers of a float; None for integers.
        ignored_bits: low bits that the tensor core does not look at.
        k: elements along K that one instruction multiplies.
    """

    dtype: np.dtype
    smallest_exponent: int | None = None
    ignored_bits: int = 0
    k: int = 0

    @property
    def is_float(self) -> bool:
        """Whether products are floats."""
        return self.smallest_exponent is not None

    def values(self, raw: np.ndarray) -> np.ndarray:
        """Elements as numbers to compute with: float64, or int64; b1 as 0 and 1.

        Args:
            raw: an array of `dtype`, rows of K.
        """
        if self.k == _BITS.k:
            return np.unpackbits(raw, axis=1, bitorder="little").astype(np.int64)
        if self.ignored_bits:
            bits = raw.view(np.uint32) >> self.ignored_bits << self.ignored_bits
            raw = bits.view(raw.dtype)
        return raw.astype(np.float64 if self.is_float else np.int64)


F16 = Multiplicand(np.dtype(np.float16), -14, k=16)
BF16 = Multiplicand(np.dtype(ml_dtypes.bfloat16), -126, k=16)
TF32 = Multiplicand(np.dtype(np.float32), -126, ignored_bits=13, k=8)
E4M3 = Multiplicand(np.dtype(ml_dtypes.float8_e4m3fn), -6, k=32)
E5M2 = Multiplicand(np.dtype(ml_dtypes.float8_e5m2), -14, k=32)
_BITS = Multiplicand(np.dtype(np.uint8), k=256)

#: By their names in the ISA.
MULTIPLICANDS = {
    "f16": F16,
    "bf16": BF16,
    "tf32": TF32,
    "e4m3": E4M3,
    "e5m2": E5M2,
    "s8": Multiplicand(np.dtype(np.int8), k=32),
    "u8": Multiplicand(np.dtype(np.uint8), k=32),
    "b1": _BITS,
}
