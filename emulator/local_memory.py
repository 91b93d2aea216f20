"""Local memory of threads, in which `llvm.alloca` allocates variables (PTX ISA 5.1.5)."""

from __future__ import annotations

import numpy as np

from .cta import Cta
from .memory import LOCAL_BYTES, LOCAL_WINDOW, Bytes, rows_of, take_rows

#: Least alignment of variables and distance between them, in bytes; an access beyond one is found.
_GAP = 16

_KEY = "local memory"


class LocalMemory:
    """The local memory of the threads of a CTA. All threads have the same generic addresses; here the
    memory of thread t begins at byte t * `LOCAL_BYTES`.

    Attributes:
        bytes: the memory.
        allocated: bool[bytes], whether the byte belongs to a variable.
        written: bool[bytes], whether it has been written.
    """

    def __init__(self, threads: int) -> None:
        self.bytes = Bytes(LOCAL_WINDOW, threads * LOCAL_BYTES)
        self.allocated = np.zeros(threads * LOCAL_BYTES, bool)
        self.written = np.zeros(threads * LOCAL_BYTES, bool)
        self._next = np.zeros(threads, np.int64)

    def allocate(self, threads: np.ndarray, sizes: np.ndarray, alignment: int) -> np.ndarray | None:
        """Allocate a variable for each thread. Return generic addresses; None if one does not fit.

        Args:
            threads: their indices in the CTA.
            sizes: bytes for each thread.
            alignment: of the addresses, in bytes.
        """
        step = max(alignment, _GAP)
        start = -(-self._next[threads] // step) * step
        end = start + sizes
        if (end > LOCAL_BYTES).any():
            return None
        self._next[threads] = end + _GAP
        for thread, first, last in zip(threads, start, end, strict=True):
            self.allocated[thread * LOCAL_BYTES + first : thread * LOCAL_BYTES + last] = True
        return LOCAL_WINDOW + start

    def holds(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Return which accesses of `size` bytes, at addresses in `bytes`, are within a variable."""
        inside = take_rows(self.allocated, size, self.bytes.rows(addresses, size))
        return np.logical_and.reduce(inside, axis=1)

    def note_written(self, addresses: np.ndarray, size: int) -> None:
        """Note that `size` bytes at addresses in `bytes` are written."""
        rows_of(self.written, size)[self.bytes.rows(addresses, size)] = True

    def all_written(self, addresses: np.ndarray, size: int) -> bool:
        """Whether all of `size` bytes at addresses in `bytes` were written."""
        return bool(take_rows(self.written, size, self.bytes.rows(addresses, size)).all())


def local_memory_of(cta: Cta) -> LocalMemory:
    """Return the local memory of the threads of a CTA."""
    if _KEY not in cta.state:
        cta.state[_KEY] = LocalMemory(cta.threads)
    return cta.state[_KEY]
