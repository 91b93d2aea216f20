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


class GlobalAddressSpace:
    """The arrays that are arguments of the kernel, each at its own address."""

    def __init__(self) -> None:
        self._next = _GLOBAL_BASE
        self._arrays: list[GlobalArray] = []
        self._starts: list[int] = []

    def add(self, name: str, data: np.ndarray) -> int:
        """Copy contiguous bytes to a new address, and return it."""
        array = GlobalArray(name, self._next, data.nbytes)
        array.data[: data.nbytes] = data
        self._arrays.append(array)
        self._starts.append(array.base)
        self._next += (data.nbytes // _GAP + 2) * _GAP
        return array.base

    def array(self, address: int) -> GlobalArray:
        """Return the array that begins at an address."""
        return self._arrays[bisect_left(self._starts, address)]

    def bytes_at(self, address: int) -> np.ndarray:
        """Return the bytes of the array that begins at an address."""
        array = self.array(address)
        return array.data[: array.size]

    def array_with(self, address: int) -> GlobalArray | None:
        """Return the array that begins last before an address, or at it."""
        index = bisect_right(self._starts, address) - 1
        return self._arrays[index] if index >= 0 else None

    def find(self, addresses: np.ndarray, size: int) -> list[tuple[GlobalArray, np.ndarray]]:
        """Return the arrays that are accessed, each with bool[n]: which accesses are within it."""
        index = np.searchsorted(self._starts, addresses, side="right") - 1
        arrays = []
        for i in np.unique(index):
            if i >= 0:
                among = (index == i) & self._arrays[i].inside(addresses, size)
                arrays.append((self._arrays[i], among))
        return arrays

    def describe(self, address: int) -> str:
        """Describe an address relative to the nearest array, for messages."""
        if not self._arrays:
            return f"{address:#x}; the kernel has no arrays"
        distances = [max(r.base - address, address - r.base - r.size, 0) for r in self._arrays]
        nearest = int(np.argmin(distances))
        array = self._arrays[nearest]
        name = array.name
        sign = "+" if address >= array.base else "-"
        return f"{name} {sign} {abs(address - array.base)} bytes; {name} has {array.size} bytes"
