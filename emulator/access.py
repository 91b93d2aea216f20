"""Ordinary loads and stores of a strand's threads: bounds, alignment, and the rules of shared memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .errors import Kind, Stop
from .memory import GENERIC, SHARED, SHARED_WINDOW, SPACES, Bytes
from .strand import Strand

#: The widest access of one thread, in bytes; wider values take several.
_WIDEST = 16


def load(strand: Strand, address: np.ndarray, space: int, size: int, alignment: int) -> np.ndarray:
    """uint8[threads, size] at each thread's address, in accesses of `alignment` bytes at most.

    Raises:
        Stop: if an address is misaligned or outside of memory, which is reported.
    """
    address = strand.spread(address)
    found = np.empty((len(address), size), np.uint8)
    shared, shadow = strand.block.shared, strand.block.shadow
    unit = _unit(size, alignment)
    for at in range(0, size, unit):
        for memory, among, local in locate(strand, address + at, space, unit, "reads"):
            if memory is shared:
                rows, threads = shared.rows(local, unit), strand.lanes.threads[among]
                shadow.check_read(threads, rows, unit, strand.block.reporter(strand))
            found[among, at : at + unit] = memory.load(local, unit)
    return found


def store(
    strand: Strand, address: np.ndarray, space: int, values: np.ndarray, alignment: int
) -> None:
    """Writes uint8[threads, size] at each thread's address, in accesses of `alignment` bytes at most.

    Raises:
        Stop: if an address is misaligned or outside of memory, which is reported.
    """
    address, values = strand.spread(address), strand.spread(values)
    shared, shadow = strand.block.shared, strand.block.shadow
    size = values.shape[1]
    unit = _unit(size, alignment)
    for at in range(0, size, unit):
        for memory, among, local in locate(strand, address + at, space, unit, "writes"):
            if memory is shared:
                rows, threads = shared.rows(local, unit), strand.lanes.threads[among]
                shadow.check_write(threads, rows, unit, strand.block.reporter(strand))
                shadow.wrote(threads, rows, unit, strand.current.number)
            memory.store(local, values[among, at : at + unit])


def _unit(size: int, alignment: int) -> int:
    """Bytes of each access to a value: a power of two that divides it."""
    return min(size & -size, alignment, _WIDEST)


def locate(
    strand: Strand, address: np.ndarray, space: int, size: int, does: str
) -> Iterator[tuple[Bytes, np.ndarray, np.ndarray]]:
    """Which memory each access of `size` bytes lies in.

    Yields:
        The memory, which threads of the strand access it (bool[threads]), and their addresses in it.

    Raises:
        Stop: if an address is misaligned or outside of memory, which is reported.
    """
    block = strand.block
    address = address.astype(np.int64)
    astray = address % size != 0
    if astray.any():
        first = int(address[astray][0])
        block.report_at(
            strand,
            Kind.MISALIGNED,
            f"{does} {size} bytes at {SPACES.get(space, space)} address {first:#x}, which is not a "
            f"multiple of {size}",
        )
        raise Stop
    window = np.zeros(len(address), bool)
    if space == SHARED:
        window[:] = True
    elif space == GENERIC:
        window = (address >= SHARED_WINDOW) & (address < SHARED_WINDOW + (1 << 24))
        address = np.where(window, address - SHARED_WINDOW, address)
    inside = np.zeros(len(address), bool)
    parts: list[tuple[Bytes, np.ndarray]] = []
    if window.any():
        parts.append((block.shared, window & block.shared.inside(address, size)))
    if not window.all():
        found = block.launch.memory.find(address, size)
        parts += [(memory, among & ~window) for memory, among in found]
    for _, among in parts:
        inside |= among
    if not inside.all():
        _report_outside(strand, address, window, inside, size, does)
        raise Stop
    for memory, among in parts:
        yield memory, among, address[among]


def _report_outside(
    strand: Strand,
    address: np.ndarray,
    window: np.ndarray,
    inside: np.ndarray,
    size: int,
    does: str,
) -> None:
    block, first = strand.block, int(np.argmin(inside))
    thread, at = strand.lanes.threads[first], int(address[first])
    if window[first]:
        shared = block.shared
        where = (
            f"shared address {at:#x}; the block's shared memory lies from {shared.base:#x} to "
            f"{shared.base + shared.size - 1:#x}"
        )
    else:
        where = block.launch.memory.describe(at)
    message = f"thread {thread} {does} {size} bytes at {where}"
    block.report_at(strand, Kind.OUT_OF_BOUNDS, message)
