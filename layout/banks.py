"""Shared memory: its size, and the conflicts of a warp's access to its 32 banks of 4 bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

BANKS = 32
BANK_BYTES = 4

#: Bytes of a CTA at most on sm_90 and sm_100: 227 KiB (CUDA programming guide, table of compute
#: capabilities).
MAX_BYTES = 227 * 1024


@dataclass(frozen=True)
class Access:
    """The cost of a warp's access.

    Attributes:
        wavefronts: passes over the banks that the access takes.
        ideal: the fewest passes in which its bytes can be accessed.
    """

    wavefronts: int
    ideal: int

    @property
    def conflicts(self) -> int:
        """Passes beyond the fewest; 0 for a conflict-free access."""
        return self.wavefronts - self.ideal


def warp_access(addresses: np.ndarray, size: int) -> Access:
    """Return the passes over the banks that one instruction of a warp takes.

    A pass serves 32 lanes of up to 4 bytes, 16 lanes of 8 bytes or 8 lanes of 16 bytes. Lanes that
    access the same 4-byte word share it.

    Args:
        addresses: int64[lanes], the byte address of each active lane, at most 32.
        size: bytes that each lane accesses: 1, 2, 4, 8 or 16.

    Raises:
        ValueError: for another size, more lanes, or an address not aligned to its size.

    Example:
        >>> warp_access(np.arange(32) * 128, size=4)
        Access(wavefronts=32, ideal=1)
    """
    addresses = np.asarray(addresses, dtype=np.int64)
    if size not in (1, 2, 4, 8, 16):
        raise ValueError(f"a lane accesses 1, 2, 4, 8 or 16 bytes, not {size}")
    if addresses.ndim != 1 or not 0 < len(addresses) <= 32:
        raise ValueError(f"a warp has 1 to 32 lanes, not an array of shape {addresses.shape}")
    misaligned = addresses[addresses % size != 0].tolist()
    if misaligned:
        raise ValueError(
            f"address {misaligned[0]:#x} is not aligned to the {size} bytes of the access"
        )
    # Two aligned accesses of one size use the same banks or disjoint ones: each fills a slot of a row.
    slot_bytes = max(size, BANK_BYTES)
    slots = BANKS * BANK_BYTES // slot_bytes
    together = min(32, slots)
    rows = (addresses // slot_bytes).tolist()
    wavefronts = ideal = 0
    for first in range(0, len(rows), together):
        distinct = set(rows[first : first + together])
        wavefronts += max(Counter(row % slots for row in distinct).values())
        ideal += -(-len(distinct) // slots)
    return Access(wavefronts, ideal)
