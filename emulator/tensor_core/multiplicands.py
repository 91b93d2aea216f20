"""Element types of A and B, as the emulator reads them from shared memory."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

#: Bytes of the unit in which operands are stored.
UNIT_BYTES = 16


@dataclass(frozen=True)
class Multiplicand:
    """An element type of A or B.

    Attributes:
        dtype: the NumPy dtype; bytes for b1.
        k: elements along K of one instruction.
        smallest_exponent: of normal numbers of a float type; None for integers.
        ignored_bits: low bits that the tensor core ignores.
        packed: whether a byte has eight elements, the first in the lowest bit.
    """

    dtype: np.dtype
    k: int
    smallest_exponent: int | None = None
    ignored_bits: int = 0
    packed: bool = False

    @property
    def is_float(self) -> bool:
        """Whether products are floats."""
        return self.smallest_exponent is not None

    @property
    def stored_bytes(self) -> int:
        """Bytes of each unit of 16 that hold elements."""
        return UNIT_BYTES

    @property
    def is_padded(self) -> bool:
        """Whether the rest of a unit is padding, which is not read."""
        return False

    def values(self, raw: np.ndarray) -> np.ndarray:
        """Convert elements to float64 or int64; b1 to 0 and 1.

        Args:
            raw: an array of `dtype`, in rows along K.
        """
        if self.packed:
            return np.unpackbits(raw, axis=1, bitorder="little").astype(np.int64)
        if self.ignored_bits:
            bits = raw.view(np.uint32) >> self.ignored_bits << self.ignored_bits
            raw = bits.view(raw.dtype)
        return raw.astype(np.float64 if self.is_float else np.int64)


F16 = Multiplicand(np.dtype(np.float16), 16, -14)
BF16 = Multiplicand(np.dtype(ml_dtypes.bfloat16), 16, -126)

#: The types of `wgmma`, by their names in the ISA.
MULTIPLICANDS = {
    "f16": F16,
    "bf16": BF16,
    "tf32": Multiplicand(np.dtype(np.float32), 8, -126, ignored_bits=13),
    "e4m3": Multiplicand(np.dtype(ml_dtypes.float8_e4m3fn), 32, -6),
    "e5m2": Multiplicand(np.dtype(ml_dtypes.float8_e5m2), 32, -14),
    "s8": Multiplicand(np.dtype(np.int8), 32),
    "u8": Multiplicand(np.dtype(np.uint8), 32),
    "b1": Multiplicand(np.dtype(np.uint8), 256, packed=True),
}
