"""Reads of operands in shared memory by mma instructions."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from ..cta import ConvergentThreads, Cta
from ..errors import Stop, ViolationKind
from ..memory import SHARED_BASE
from .multiplicands import UNIT_BYTES, Multiplicand


class OperandElements:
    """The elements of an operand, which many instructions and CTAs read.

    Attributes:
        addresses: of the elements in shared memory, int64[rows, k].
        size: bytes of an element.
        at: the offset in shared memory of each byte.
        units: the numbers of the units of 16 bytes that they fill; None if they do not fill whole units.
    """

    def __init__(self, addresses: np.ndarray, size: int) -> None:
        self.addresses, self.size = addresses, size
        self._first, self._last = int(addresses.min()), int(addresses.max())
        self._elements = (addresses - SHARED_BASE) // size
        self.at = ((addresses - SHARED_BASE)[..., None] + np.arange(size)).reshape(-1)
        units = np.unique(self.at // UNIT_BYTES)
        distinct = len(units) * UNIT_BYTES == len(self.at) == len(np.unique(self.at))
        self.units: np.ndarray | None = units if distinct else None

    def check_inside(self, convergent: ConvergentThreads, name: str) -> None:
        """Check that all are in the CTA's shared memory.

        Raises:
            Stop: if one is not; this is reported.
        """
        shared = convergent.cta.shared
        if self._first < shared.base or self._last + self.size > shared.base + shared.size:
            _report_outside(convergent, name, self.addresses, self.size)

    def numbers(self, cta: Cta, type_: Multiplicand) -> np.ndarray:
        """Return the elements in a CTA's shared memory, as numbers."""
        return type_.values(cta.shared.data.view(type_.dtype)[self._elements])


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
        _report_outside(convergent, name, addresses, size)
    return ((addresses - shared.base)[..., None] + np.arange(size)).reshape(-1)


def _report_outside(
    convergent: ConvergentThreads, name: str, addresses: np.ndarray, size: int
) -> NoReturn:
    shared = convergent.cta.shared
    convergent.cta.report_at(
        convergent,
        ViolationKind.OUT_OF_BOUNDS,
        f"reads {name} from {addresses.min():#x} to {addresses.max() + size - 1:#x}; the CTA's "
        f"shared memory is from {shared.base:#x} to {shared.base + shared.size - 1:#x}",
    )
    raise Stop


def numbers_at(cta: Cta, addresses: np.ndarray, type_: Multiplicand) -> np.ndarray:
    """Return the elements at some addresses of a CTA's shared memory, as numbers."""
    stored = cta.shared.load(addresses, type_.dtype.itemsize)
    return type_.values(stored.view(type_.dtype)[..., 0])
