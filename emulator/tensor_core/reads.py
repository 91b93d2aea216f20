"""What the instructions that multiply read of shared memory."""

from __future__ import annotations

import numpy as np

from ..block import ThreadBlock
from ..errors import Kind, Stop
from ..strand import Strand
from .multiplicands import Multiplicand


def bytes_read(strand: Strand, name: str, addresses: np.ndarray, size: int) -> np.ndarray:
    """The offsets in the block's shared memory of every byte of elements at those addresses.

    Raises:
        Stop: if they lead out of it, which is reported.
    """
    shared = strand.block.shared
    if not shared.inside(addresses, size).all():
        strand.block.report_at(
            strand,
            Kind.OUT_OF_BOUNDS,
            f"reads {name} from {addresses.min():#x} to {addresses.max() + size - 1:#x}; the block's "
            f"shared memory lies from {shared.base:#x} to {shared.base + shared.size - 1:#x}",
        )
        raise Stop
    return ((addresses - shared.base)[..., None] + np.arange(size)).reshape(-1)


def numbers_at(block: ThreadBlock, addresses: np.ndarray, type_: Multiplicand) -> np.ndarray:
    """The numbers at those addresses of a block's shared memory."""
    stored = block.shared.load(addresses, type_.dtype.itemsize)
    return type_.values(stored.view(type_.dtype)[..., 0])
