"""Bytes at the addresses that the hardware gives them."""

from __future__ import annotations

import numpy as np

#: Where a CTA's shared memory begins in the shared window on sm_90 (measured).
SHARED_BASE = 0x400

#: The alignment of dynamic shared memory that a kernel may ask for by its symbol.
SHARED_ALIGNMENT = 1024

#: Where the shared window lies in generic addresses: any place that no array has.
SHARED_WINDOW = 0x7F00_0000_0000

#: Where a thread's local memory lies in generic addresses, as the shared window does; and its bytes.
LOCAL_WINDOW, LOCAL_BYTES = 0x7E00_0000_0000, 4096

_GLOBAL_BASE = 0x10_0000_0000

#: Arrays begin at multiples of it, with at least as much between them that belongs to none.
_GAP = 4096

#: State spaces (LLVM address spaces) by their number.
GENERIC, GLOBAL, SHARED, CLUSTER = 0, 1, 3, 7

SPACES = {GENERIC: "generic", GLOBAL: "global", SHARED: "shared", CLUSTER: "cluster shared"}

#: An address of the cluster's shared memory is one of a CTA's, below the bits of its rank.
RANK_SHIFT = 24


class Bytes:
    """A range of memory.

    Attributes:
        base: the address of its first byte.
        data: uint8[size].
    """

    def __init__(self, base: int, size: int) -> None:
        # Whole vectors of 16 bytes, so that every width of access has rows.
        self.base, self.size = base, size
        self.data = np.zeros(-(-size // 16) * 16, np.uint8)

    def inside(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Which accesses of `size` bytes lie within the range."""
        return (addresses >= self.base) & (addresses + size <= self.base + self.size)

    def rows(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """The rows of `self.data` in rows of `size` bytes; addresses are multiples of it."""
        return (addresses - self.base) // size

    def load(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """uint8[n, size] at n addresses, multiples of `size`."""
        return rows_of(self.data, size)[self.rows(addresses, size)]

    def store(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Writes uint8[n, size] at n addresses, multiples of `size`."""
        rows_of(self.data, values.shape[1])[self.rows(addresses, values.shape[1])] = values


def rows_of(data: np.ndarray, size: int) -> np.ndarray:
    """An array of one item a byte in rows of `size` bytes."""
    return data.reshape(-1, size)


class GlobalMemory:
    """The arrays that a kernel was given, each at an address of its own."""

    def __init__(self) -> None:
        self._next = _GLOBAL_BASE
        self._ranges: list[Bytes] = []
        self._names: list[str] = []
        self._starts = np.zeros(0, np.int64)

    def add(self, name: str, data: np.ndarray) -> int:
        """Places a copy of contiguous bytes; its address."""
        found = Bytes(self._next, data.nbytes)
        found.data[: data.nbytes] = data
        self._ranges.append(found)
        self._names.append(name)
        self._starts = np.array([r.base for r in self._ranges])
        self._next += (data.nbytes // _GAP + 2) * _GAP
        return found.base

    def at(self, address: int) -> np.ndarray:
        """The bytes of the array that begins at an address."""
        found = self._ranges[int(np.searchsorted(self._starts, address))]
        return found.data[: found.size]

    def find(self, addresses: np.ndarray, size: int) -> list[tuple[Bytes, np.ndarray]]:
        """The array that each access lies in: ranges, and for each which accesses (bool[n])."""
        index = np.searchsorted(self._starts, addresses, side="right") - 1
        found = []
        for i in np.unique(index):
            if i >= 0:
                among = (index == i) & self._ranges[i].inside(addresses, size)
                found.append((self._ranges[i], among))
        return found

    def describe(self, address: int) -> str:
        """Where an address lies, in words: from the nearest array."""
        if not self._ranges:
            return f"{address:#x}; the kernel has no arrays"
        distances = [max(r.base - address, address - r.base - r.size, 0) for r in self._ranges]
        nearest = int(np.argmin(distances))
        found, name = self._ranges[nearest], self._names[nearest]
        sign = "+" if address >= found.base else "-"
        return f"{name} {sign} {abs(address - found.base)} bytes; {name} has {found.size} bytes"
