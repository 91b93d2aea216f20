"""The matrix descriptor of `wgmma`, as PTX ISA 9.7.15.5.1.2.2 has it.

It is written down here anew and knows nothing of layouts, so that the encoder that it checks cannot be
wrong in the same way.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..tensor_core.operands import K_BYTES, Matrix, matrix_bytes

#: First bits of the fields that count in units of 16 bytes, and their 14 bits:
#: matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4.
_START, _LBO, _SBO = 0, 16, 32
_COUNT, _UNIT_SHIFT = 0x3FFF, 4

#: First bit and bits of the matrix base offset, bits 51-49.
_BASE_OFFSET, _PHASE = 49, 7

#: First bit of the swizzling mode, bits 63-62; and for each mode the bytes that it swizzles within: those
#: of a unit without swizzle.
_MODE, _WIDTHS = 62, {0: 16, 1: 128, 2: 64, 3: 32}

#: All bits that belong to a field.
_KNOWN = _COUNT << _START | _COUNT << _LBO | _COUNT << _SBO | _PHASE << _BASE_OFFSET | 3 << _MODE


def matrix(bits: int) -> Matrix:
    """The operand that the 64 bits of a matrix descriptor say.

    Raises:
        ValueError: if it sets bits of no field.
    """
    if bits & ~_KNOWN:
        raise ValueError(
            f"{bits:#018x} sets bits {bits & ~_KNOWN:#018x}, which belong to no field of a wgmma "
            "descriptor"
        )
    mode, base_offset = bits >> _MODE, bits >> _BASE_OFFSET & _PHASE
    start, lbo, sbo = ((bits >> at & _COUNT) << _UNIT_SHIFT for at in (_START, _LBO, _SBO))
    # The ISA has no base offset without swizzle; an H200 ignores it there.
    return Matrix(start, lbo, sbo, base_offset, _WIDTHS[mode])


@lru_cache(maxsize=1024)
def operand_bytes(
    descriptor: int, bits: int, mn_major: bool, rows: int, k_bytes: int = K_BYTES
) -> np.ndarray:
    """The address of the first byte of each element of an operand; see `matrix_bytes`.

    Raises:
        ValueError: if the descriptor is none; see `matrix`.
    """
    return matrix_bytes(matrix(descriptor), bits, mn_major, rows, k_bytes)
