"""Float types of 4 and 6 bits, which only `tcgen05` multiplies.

Sixteen elements are packed, low bits first, into the first bytes of a unit of 16 bytes; the rest is
padding (PTX ISA 9.7.16.3, `.b4x16_p64` and `.b6x16_p32`). The unpadded form has two elements of 4 bits
in a byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from ..tensor_core.multiplicands import MULTIPLICANDS, UNIT_BYTES, Multiplicand


@dataclass(frozen=True, kw_only=True)
class NarrowFloat(Multiplicand):
    """An element type of less than a byte; `dtype` is that of the bytes.

    Attributes:
        float_dtype: the NumPy dtype of the numbers, a byte for each.
        bits: bits of an element.
        count: elements in 16 bytes.
    """

    float_dtype: np.dtype
    bits: int
    count: int

    @property
    def stored_bytes(self) -> int:
        """Bytes of each unit of 16 that hold elements; the others are padding."""
        return self.count * self.bits // 8

    @property
    def is_padded(self) -> bool:
        """Whether a unit has padding."""
        return self.stored_bytes < UNIT_BYTES

    def values(self, raw: np.ndarray) -> np.ndarray:
        """Convert bytes, uint8[rows, bytes along K], to elements in float64."""
        units = raw.reshape(len(raw), -1, UNIT_BYTES)[..., : self.stored_bytes]
        bits = np.unpackbits(units, axis=-1, bitorder="little")
        codes = np.packbits(bits.reshape(len(raw), -1, self.bits), axis=-1, bitorder="little")
        return codes[..., 0].view(self.float_dtype).astype(np.float64)


def _narrow(k: int, smallest_exponent: int, dtype: type, bits: int, count: int) -> NarrowFloat:
    bytes_, float_dtype = np.dtype(np.uint8), np.dtype(dtype)
    return NarrowFloat(
        bytes_, k, smallest_exponent, float_dtype=float_dtype, bits=bits, count=count
    )


#: The element types of `tcgen05`, by their names in the ISA; e2m1 padded, and as two in a byte (e2m1x2).
TCGEN05_MULTIPLICANDS: dict[str, Multiplicand] = MULTIPLICANDS | {
    "e2m3": _narrow(32, 0, ml_dtypes.float6_e2m3fn, 6, 16),
    "e3m2": _narrow(32, -2, ml_dtypes.float6_e3m2fn, 6, 16),
    "e2m1": _narrow(32, 0, ml_dtypes.float4_e2m1fn, 4, 16),
    "e2m1x2": _narrow(64, 0, ml_dtypes.float4_e2m1fn, 4, 32),
}
