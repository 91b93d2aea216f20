"""The bytes of shared memory that tensor cores read for an operand (measured on an H200 for `wgmma`).

This does not use the code of layouts, so that an error there cannot repeat here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Bytes along K that an instruction reads of each row, for every type; of B, twice that if it is sparse.
K_BYTES = 32

#: The same for instructions of sm_103a that read three units.
LONG_K_BYTES = 48

#: Bytes of the unit in which descriptors count; a swizzle permutes whole units.
_UNIT = 16


@dataclass(frozen=True)
class MatrixDescriptorFields:
    """An operand in shared memory, from its descriptor; all quantities in bytes.

    Attributes:
        start: the address of its first element.
        lbo, sbo: leading and stride dimension byte offset.
        base_offset: the matrix base offset: the phase at which the swizzle begins.
        width: the width of the swizzle; the unit without swizzle.
        unit: the unit that the swizzle permutes.
        absolute: whether LBO is an address, at which rows continue after the end of the swizzle's width.
    """

    start: int
    lbo: int
    sbo: int
    base_offset: int
    width: int
    unit: int = _UNIT
    absolute: bool = False


def matrix_bytes(
    matrix: MatrixDescriptorFields, bits: int, mn_major: bool, rows: int, k_bytes: int = K_BYTES
) -> np.ndarray:
    """Return the address of the first byte of each element of an operand.

    Args:
        matrix: the operand.
        bits: bits of an element, at least 8.
        mn_major: whether the operand is M- or N-major, not K-major.
        rows: the operand's extent along m or n.
        k_bytes: bytes along k that are read of each row.

    Returns:
        int64[rows, k], addresses in shared memory.
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
        # CUTLASS implies that rows have the same stride after LBO; the ISA does not state it.
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
        # The phase is the absolute number of the 128-byte line, less the base offset.
        phase = (address >> 7) - matrix.base_offset
        address = address ^ (phase & (width // matrix.unit - 1)) * matrix.unit
    address.setflags(write=False)
    return address
