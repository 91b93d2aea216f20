"""The matrix descriptor of `wgmma` (PTX ISA 9.7.15.5.1.2.2).

This decoder does not use the code of layouts, so that an error in the encoder cannot repeat here.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..tensor_core.operands import K_BYTES, MatrixDescriptorFields, matrix_bytes

#: First bits of the fields in units of 16 bytes, each of 14 bits:
#: matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4.
_START, _LBO, _SBO = 0, 16, 32
_COUNT, _UNIT_SHIFT = 0x3FFF, 4

#: First bit and mask of the matrix base offset, bits 51-49.
_BASE_OFFSET, _PHASE = 49, 7

#: First bit of the swizzling mode, bits 63-62; and the width of each mode in bytes, that of a unit
#: without swizzle.
_MODE, _WIDTHS = 62, {0: 16, 1: 128, 2: 64, 3: 32}

#: The bits of all fields.
_KNOWN = _COUNT << _START | _COUNT << _LBO | _COUNT << _SBO | _PHASE << _BASE_OFFSET | 3 << _MODE


def decode_matrix(bits: int) -> MatrixDescriptorFields:
    """Decode the 64 bits of a matrix descriptor.

    Raises:
        ValueError: if it sets bits that belong to no field.
    """
    if bits & ~_KNOWN:
        raise ValueError(
            f"{bits:#018x} sets bits {bits & ~_KNOWN:#018x}, which belong to no field of a wgmma "
            "descriptor"
        )
    mode, base_offset = bits >> _MODE, bits >> _BASE_OFFSET & _PHASE
    start, lbo, sbo = (
        (bits >> first_bit & _COUNT) << _UNIT_SHIFT for first_bit in (_START, _LBO, _SBO)
    )
    # The ISA defines no base offset without swizzle; an H200 ignores it there.
    return MatrixDescriptorFields(start, lbo, sbo, base_offset, _WIDTHS[mode])


@lru_cache(maxsize=1024)
def operand_bytes(
    descriptor: int, bits: int, mn_major: bool, rows: int, k_bytes: int = K_BYTES
) -> np.ndarray:
    """Return the address of the first byte of each element of an operand; see `matrix_bytes`.

    Raises:
        ValueError: if the descriptor is invalid; see `decode_matrix`.
    """
    return matrix_bytes(decode_matrix(descriptor), bits, mn_major, rows, k_bytes)
