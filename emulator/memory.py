"""Shared, local and global memory, at the addresses of the hardware."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np

#: First address of a CTA's shared memory in the shared window on sm_90 (measured).
SHARED_BASE = 0x400

#: Alignment of dynamic shared memory, which a kernel can request by its symbol.
SHARED_ALIGNMENT = 1024

#: Generic address of the shared window: any address that no array has.
SHARED_WINDOW = 0x7F00_0000_0000

#: Generic address of a thread's local memory, chosen likewise, and its size in bytes.
LOCAL_WINDOW, LOCAL_BYTES = 0x7E00_0000_0000, 4096

_GLOBAL_BASE = 0x10_0000_0000

#: Alignment of arrays, and the least distance between two of them, in bytes.
_GAP = 4096

#: State spaces, by their LLVM address space.
GENERIC, GLOBAL, SHARED, CLUSTER = 0, 1, 3, 7

SPACES = {GENERIC: "generic", GLOBAL: "global", SHARED: "shared", CLUSTER: "cluster shared"}

#: First bit of the CTA's rank in a shared::cluster address; the bits below are the address in the CTA.
RANK_SHIFT = 24


class Bytes:
    """A range of memory.

    Attributes:
        base: the address of its first byte.
        data: uint8[size].
    """

    def __init__(self, base: int, size: int) -> None:
        # A multiple of 16 bytes, so that the array has rows for every access width.
        self.base, self.size = base, size
        self.data = np.zeros(-(-size // 16) * 16, np.uint8)

    def inside(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Return which accesses of `size` bytes are within the range."""
        return (addresses >= self.base) & (addresses + size <= self.base + self.size)

    def rows(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Return the row of each address in rows of `size` bytes, a power of two that divides it."""
        return addresses - self.base >> size.bit_length() - 1

    def load(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Return uint8[n, size] at n addresses, which are multiples of `size`."""
        return take_rows(self.data, size, self.rows(addresses, size))

    def store(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Write uint8[n, size] at n addresses, which are multiples of `size`."""
        rows_of(self.data, values.shape[1])[self.rows(addresses, values.shape[1])] = values


def rows_of(data: np.ndarray, size: int) -> np.ndarray:
    """View an array that has an item for each byte as rows of `size` bytes."""
    return data.reshape(-1, size)


def take_rows(data: np.ndarray, size: int, rows: np.ndarray) -> np.ndarray:
    """Return some of the rows of `size` bytes of an array that has an item for each byte."""
    # A fifth of the time of `rows_of(data, size)[rows]`.
    return data.reshape(-1, size).take(rows, axis=0)


class GlobalArray(Bytes):
    """An argument of the kernel.

    Attributes:
        name: for messages.
        writes, reads: int32[size], the last write and the last read of each byte in this launch; see
            `rules.global_order`. None if none has been noted.
    """

    def __init__(self, name: str, base: int, size: int) -> None:
        super().__init__(base, size)
        self.name = name
        self.writes: np.ndarray | None = None
        self.reads: np.ndarray | None = None


class GlobalMemory:
    """The arrays that are arguments of the kernel, each at its own address."""

    def __init__(self) -> None:
        self._next = _GLOBAL_BASE
        self._ranges: list[GlobalArray] = []
        self._starts: list[int] = []

    def add(self, name: str, data: np.ndarray) -> int:
        """Copy contiguous bytes to a new address, and return it."""
        found = GlobalArray(name, self._next, data.nbytes)
        found.data[: data.nbytes] = data
        self._ranges.append(found)
        self._starts.append(found.base)
        self._next += (data.nbytes // _GAP + 2) * _GAP
        return found.base

    def array(self, address: int) -> GlobalArray:
        """Return the array that begins at an address."""
        return self._ranges[bisect_left(self._starts, address)]

    def at(self, address: int) -> np.ndarray:
        """Return the bytes of the array that begins at an address."""
        found = self.array(address)
        return found.data[: found.size]

    def array_with(self, address: int) -> GlobalArray | None:
        """Return the array that begins last before an address, or at it."""
        index = bisect_right(self._starts, address) - 1
        return self._ranges[index] if index >= 0 else None

    def find(self, addresses: np.ndarray, size: int) -> list[tuple[GlobalArray, np.ndarray]]:
        """Return the arrays that are accessed, each with bool[n]: which accesses are within it."""
        index = np.searchsorted(self._starts, addresses, side="right") - 1
        found = []
        for i in np.unique(index):
            if i >= 0:
                among = (index == i) & self._ranges[i].inside(addresses, size)
                found.append((self._ranges[i], among))
        return found

    def describe(self, address: int) -> str:
        """Describe an address relative to the nearest array, for messages."""
        if not self._ranges:
            return f"{address:#x}; the kernel has no arrays"
        distances = [max(r.base - address, address - r.base - r.size, 0) for r in self._ranges]
        nearest = int(np.argmin(distances))
        found = self._ranges[nearest]
        name = found.name
        sign = "+" if address >= found.base else "-"
        return f"{name} {sign} {abs(address - found.base)} bytes; {name} has {found.size} bytes"
