"""The reads of `tcgen05.cp` of a block of scale factors (PTX ISA 9.7.16.10.7)."""

from __future__ import annotations

import numpy as np

from ..elements import UNIT_BYTES
from ..swizzle import Swizzle
from .descriptor import Tcgen05Descriptor
from .scales import BLOCK_COLUMNS, BLOCK_FACTORS, LANES

#: Adjacent lines of 16 bytes; SBO is the stride to the next group of lines.
LINES_TOGETHER = 8


def copied_addresses(descriptor: Tcgen05Descriptor) -> np.ndarray:
    """Return the byte address that `tcgen05.cp.32x128b.warpx4` reads for each factor of a block.

    Args:
        descriptor: the shared memory descriptor of the block.

    Returns:
        int64[128, 4], indexed by row and factor.

    Raises:
        ValueError: if the descriptor has a swizzle; blocks have none.
    """
    if descriptor.swizzle is not Swizzle.NONE:
        raise ValueError(f"blocks of scale factors have no swizzle, not {descriptor.swizzle}")
    line = np.arange(LANES, dtype=np.int64)[None, :, None]
    word = np.arange(BLOCK_COLUMNS, dtype=np.int64)[:, None, None]
    factor = np.arange(BLOCK_FACTORS, dtype=np.int64)[None, None, :]
    begin = line // LINES_TOGETHER * descriptor.sbo + line % LINES_TOGETHER * UNIT_BYTES
    addresses = descriptor.start + begin + word * BLOCK_FACTORS + factor
    return addresses.reshape(LANES * BLOCK_COLUMNS, BLOCK_FACTORS)
