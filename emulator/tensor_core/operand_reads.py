"""Reads of operands in shared memory by mma instructions."""

from __future__ import annotations

import numpy as np

from ..convergent import ConvergentThreads
from ..cta import Cta
from ..errors import Stop, ViolationKind
from .multiplicands import Multiplicand


def bytes_read(
    convergent: ConvergentThreads, name: str, addresses: np.ndarray, size: int
) -> np.ndarray:
    """Return the offset in shared memory of each byte of the elements at some addresses.

    Args:
        convergent: the threads that execute the instruction.
        name: of the operand, for messages.
        addresses: of the elements.
        size: bytes of an element.

    Raises:
        Stop: if an element is outside of shared memory; this is reported.
    """
    shared = convergent.cta.shared
    if not shared.inside(addresses, size).all():
        convergent.cta.report_at(
            convergent,
            ViolationKind.OUT_OF_BOUNDS,
            f"reads {name} from {addresses.min():#x} to {addresses.max() + size - 1:#x}; the CTA's "
            f"shared memory is from {shared.base:#x} to {shared.base + shared.size - 1:#x}",
        )
        raise Stop
    return ((addresses - shared.base)[..., None] + np.arange(size)).reshape(-1)


def numbers_at(cta: Cta, addresses: np.ndarray, type_: Multiplicand) -> np.ndarray:
    """Return the elements at some addresses of a CTA's shared memory, as numbers."""
    stored = cta.shared.load(addresses, type_.dtype.itemsize)
    return type_.values(stored.view(type_.dtype)[..., 0])
