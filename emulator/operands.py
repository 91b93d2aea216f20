"""The bytes that `wgmma` reads through a matrix descriptor: the hardware's rule, measured on an H200.

It is written down here anew and knows nothing of tiles, so that the layouts it checks cannot be wrong
in the same way.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..layout.descriptor import Descriptor

#: Bytes of K that one instruction reads of each row, for every type; of B twice as many if it is sparse.
K_BYTES = 32

#: Bytes of the unit in which descriptors count, and which a swizzle moves as a whole.
_UNIT = 16


@lru_cache(maxsize=1024)
def operand_bytes(
    descriptor: int, bits: int, mn_major: bool, rows: int, k_bytes: int = K_BYTES
) -> np.ndarray:
    """The address of the first byte of each element of an operand.

    Args:
        descriptor: the 64-bit matrix descriptor.
        bits: of an element, 8 or more.
        mn_major: whether elements adjacent along m or n, rather than k, are adjacent in memory.
        rows: the operand's extent along m or n.
        k_bytes: how many bytes of k are read of each row.

    Returns:
        int64[rows, k], addresses in the shared window.

    Raises:
        ValueError: if the descriptor sets bits of no field, or a base offset without swizzle.
    """
    fields = Descriptor.decode(descriptor)
    start, lbo, sbo = fields.start, fields.lbo, fields.sbo
    width = fields.swizzle.width
    swizzled = width > _UNIT
    size = bits // 8
    row = np.arange(rows, dtype=np.int64)[:, None]
    k = np.arange(k_bytes // size, dtype=np.int64)[None, :]
    if mn_major:
        per_line = width // size
        along, across = (lbo, sbo) if swizzled else (sbo, lbo)
        address = row // per_line * along + row % per_line * size + k % 8 * width + k // 8 * across
    elif swizzled:
        byte = k * size
        address = row // 8 * sbo + row % 8 * width + byte % width + byte // width * lbo
    else:
        byte = k * size
        address = row // 8 * sbo + row % 8 * _UNIT + byte // _UNIT * lbo + byte % _UNIT
    address = start + address
    if swizzled:
        # The phase is the 128-byte line's number, absolute, less the base offset.
        phase = (address >> 7) - fields.base_offset
        address = address ^ ((phase & (width // _UNIT - 1)) << 4)
    address.setflags(write=False)
    return address
