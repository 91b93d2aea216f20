"""The bytes of shared memory that tensor cores read as an operand: the hardware's rule, measured on an
H200 for `wgmma`.

It is written down here anew and knows nothing of tiles, so that the layouts it checks cannot be wrong
in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Bytes of K that one instruction reads of each row, for every type; of B twice as many if it is sparse.
K_BYTES = 32

#: As many where sm_103a reads three units.
LONG_K_BYTES = 48

#: Bytes of the unit in which descriptors count, and which a swizzle moves as a whole.
_UNIT = 16


@dataclass(frozen=True)
class Matrix:
    """An operand in shared memory, as a descriptor says; every quantity in bytes.

    Attributes:
        start: the address of its first element.
        lbo, sbo: leading and stride dimension byte offset.
        base_offset: the phase at which the swizzle begins.
        width: what it swizzles within; that of a unit without swizzle.
        unit: what a swizzle moves as a whole.
        absolute: whether LBO is the address at which rows go on that have reached the end of what they
            are swizzled within.
    """

    start: int
    lbo: int
    sbo: int
    base_offset: int
    width: int
    unit: int = _UNIT
    absolute: bool = False


def matrix_bytes(
    matrix: Matrix, bits: int, mn_major: bool, rows: int, k_bytes: int = K_BYTES
) -> np.ndarray:
    """The address of the first byte of each element of an operand.

    Args:
        matrix: what its descriptor says.
        bits: of an element, 8 or more.
        mn_major: whether elements adjacent along m or n, rather than k, are adjacent in memory.
        rows: the operand's extent along m or n.
        k_bytes: how many bytes of k are read of each row.

    Returns:
        int64[rows, k], addresses in the shared window.
    """
    lbo, sbo, width = matrix.lbo, matrix.sbo, matrix.width
    swizzled = width > _UNIT
    size = bits // 8
    row = np.arange(rows, dtype=np.int64)[:, None]
    k = np.arange(k_bytes // size, dtype=np.int64)[None, :]
    if mn_major:
        per_line, lines = width // size, 8 * _UNIT // matrix.unit
        along, across = (lbo, sbo) if swizzled else (sbo, lbo)
        address = row // per_line * along + row % per_line * size
        address = address + k % lines * width + k // lines * across
    elif matrix.absolute:
        # That rows follow each other there as they do before is implied by CUTLASS, and written nowhere.
        byte, room = k * size, width - matrix.start % width
        address = row // 8 * sbo + row % 8 * width
        address = address + np.where(byte < room, byte, lbo - matrix.start + byte - room)
    elif swizzled:
        byte = k * size
        address = row // 8 * sbo + row % 8 * width + byte % width + byte // width * lbo
    else:
        byte = k * size
        address = row // 8 * sbo + row % 8 * _UNIT + byte // _UNIT * lbo + byte % _UNIT
    address = matrix.start + address
    if swizzled:
        # The phase is the 128-byte line's number, absolute, less the base offset.
        phase = (address >> 7) - matrix.base_offset
        address = address ^ (phase & (width // matrix.unit - 1)) * matrix.unit
    address.setflags(write=False)
    return address
