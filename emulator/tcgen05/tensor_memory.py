"""Tensor memory of a CTA: its cells, allocation, and checks of access (PTX ISA 9.7.16.1)."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from ..cta import ConvergentThreads, Cta
from ..errors import Stop, ViolationKind
from ..lanes import WARP
from .cells import COLUMNS, LANES, TensorMemoryCells, split_address
from .tensor_memory_shadow import TensorMemoryShadow

#: The smallest allocation, in columns.
_LEAST = 32

_KEY = "tensor memory"


class TensorMemory:
    """The tensor memory of a CTA.

    Attributes:
        cta: its CTA.
        data: uint32[lanes, columns].
        shadow: the access history of each cell.
        allocated: number of columns of each allocation, by its first column.
        smallest: number of columns of the smallest allocation so far.
        relinquished: whether `relinquish_alloc_permit` has been executed.
    """

    def __init__(self, cta: Cta) -> None:
        self.cta, self.data = cta, np.zeros((LANES, COLUMNS), np.uint32)
        self.shadow = TensorMemoryShadow(cta, self.data.shape)
        self.allocated: dict[int, int] = {}
        self.smallest = COLUMNS
        self.relinquished = False
        cta.at_exit.append(self._check_freed)

    # -- allocation --------------------------------------------------------------------------------

    def check_allocate(self, convergent: ConvergentThreads, count: int) -> None:
        """Check that the CTA may allocate a number of columns.

        Raises:
            Stop: if it may not; this is reported.
        """
        if count & count - 1 or not _LEAST <= count <= COLUMNS:
            report_misuse(
                convergent,
                f"allocates {count} columns of tensor memory; expected a power of two from {_LEAST} to "
                f"{COLUMNS}",
            )
        if self.relinquished:
            report_misuse(
                convergent, "allocates tensor memory after tcgen05.relinquish_alloc_permit"
            )
        if count > self.smallest:
            report_misuse(
                convergent,
                f"allocates {count} columns of tensor memory after {self.smallest}; a CTA's "
                "allocations must not grow",
            )

    def allocate(self, count: int) -> int | None:
        """Allocate columns. Return the first; None if there is no room until others are freed.

        The ISA does not define which columns are allocated. Here they are the last free ones, so that a
        kernel that does not use the returned address fails.
        """
        start = self._room(count)
        if start is not None:
            self.allocated[start], self.smallest = count, count
            self.shadow.reset(slice(start, start + count))
        return start

    def has_room(self, count: int) -> bool:
        """Whether a number of columns can be allocated now."""
        return self._room(count) is not None

    def _room(self, count: int) -> int | None:
        free = ~self._is_allocated().reshape(-1, count).any(axis=1)
        return int(np.flatnonzero(free)[-1]) * count if free.any() else None

    def check_free(self, convergent: ConvergentThreads, address: int, count: int) -> None:
        """Check that threads of the CTA may free columns.

        Raises:
            Stop: if the address and the number are not those of an allocation; this is reported.
        """
        lane, start = split_address(address)
        if lane or self.allocated.get(start) != count:
            report_misuse(
                convergent,
                f"frees {count} columns of tensor memory at {address:#010x}; allocated: "
                f"{self._allocations()}",
            )
        cells = TensorMemoryCells(*np.ix_(np.arange(LANES), np.arange(start, start + count)))
        self.shadow.check_free(convergent, cells)

    def free(self, address: int) -> None:
        """Free the allocation at an address."""
        del self.allocated[split_address(address)[1]]

    def relinquish(self) -> None:
        """`relinquish_alloc_permit`: the CTA allocates no more."""
        self.relinquished = True

    def _is_allocated(self) -> np.ndarray:
        is_allocated = np.zeros(COLUMNS, bool)
        for start, count in self.allocated.items():
            is_allocated[start : start + count] = True
        return is_allocated

    def _allocations(self) -> str:
        spans = [f"{start} to {start + n - 1}" for start, n in sorted(self.allocated.items())]
        return f"columns {', '.join(spans)}" if spans else "none"

    def _check_freed(self, convergent: ConvergentThreads) -> None:
        """Check, when the last thread returns, that nothing is allocated."""
        if self.allocated:
            convergent.cta.report_at(
                convergent,
                ViolationKind.TENSOR_MEMORY,
                f"the last thread{self.cta.label} returns, but {self._allocations()} of tensor memory "
                "are still allocated: tcgen05.dealloc is missing before it",
            )

    # -- access ------------------------------------------------------------------------------------

    def check_allocated(
        self, convergent: ConvergentThreads, cells: TensorMemoryCells, verb: str
    ) -> None:
        """Check that cells exist, and that their columns are allocated.

        Raises:
            Stop: if not; this is reported.
        """
        inside = cells.lanes.max() < LANES and cells.columns.max() < COLUMNS
        if not inside or not self._is_allocated()[cells.columns].all():
            report_misuse(
                convergent,
                f"{verb} {cells} of tensor memory{self.cta.label}; allocated: {self._allocations()}",
            )

    def check_quarter(
        self, convergent: ConvergentThreads, warp: int, cells: TensorMemoryCells, verb: str
    ) -> None:
        """Check that a warp can access cells: warp w accesses lanes 32 * (w % 4) to 32 * (w % 4) + 31.

        Raises:
            Stop: if it cannot; this is reported.
        """
        first = warp % 4 * WARP
        if cells.lanes.min() < first or cells.lanes.max() >= first + WARP:
            report_misuse(
                convergent,
                f"{verb} {cells} of tensor memory; warp {warp} reaches lanes {first} to "
                f"{first + WARP - 1} only",
            )


def tensor_memory_of(cta: Cta) -> TensorMemory:
    """Return the tensor memory of a CTA."""
    if _KEY not in cta.state:
        cta.state[_KEY] = TensorMemory(cta)
    return cta.state[_KEY]


def report_misuse(convergent: ConvergentThreads, message: str) -> NoReturn:
    """Report an invalid use of tensor memory, and stop."""
    convergent.cta.report_at(convergent, ViolationKind.TENSOR_MEMORY, message)
    raise Stop
