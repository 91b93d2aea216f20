"""Ordinary loads and stores: checks of bounds, alignment, and the rules of shared memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .cta import ConvergentThreads, Cta
from .errors import Stop, ViolationKind
from .local_memory import local_memory_of
from .memory import (
    CLUSTER,
    GENERIC,
    GLOBAL,
    LOCAL_BYTES,
    LOCAL_WINDOW,
    RANK_SHIFT,
    SHARED,
    SHARED_WINDOW,
    SPACES,
    Bytes,
    GlobalArray,
)

#: The widest access of a thread, in bytes; wider values take several accesses.
_WIDEST = 16


def load(
    convergent: ConvergentThreads,
    address: np.ndarray,
    space: int,
    size: int,
    alignment: int,
    readers: np.ndarray | None = None,
) -> np.ndarray:
    """Load uint8[threads, size] from each thread's address, in accesses of at most `alignment` bytes.

    Args:
        convergent: the threads that execute the instruction.
        address: of each thread that reads.
        space: the state space.
        size: bytes of each thread's access.
        alignment: known alignment of the addresses, in bytes.
        readers: the threads that read; None for all of `convergent`.

    Raises:
        Stop: if an address is misaligned or outside of memory; this is reported.
    """
    address, accessing = _addresses_and_threads(convergent, address, readers)
    raw = np.empty((len(address), size), np.uint8)
    unit = _unit(size, alignment)
    for offset in range(0, size, unit):
        for memory, among, local in locate(
            convergent, address + offset, space, unit, "reads", accessing
        ):
            if owner := _owner(convergent, memory):
                threads = accessing[among] + convergent.cta.first_thread
                if not len(threads):
                    continue
                if owner is not convergent.cta:
                    owner.note_incoming(convergent, int(threads[-1]))
                report = convergent.cta.reporter(convergent)
                owner.shadow.check_read(threads, memory.rows(local, unit), unit, report)
            elif isinstance(memory, GlobalArray):
                threads = accessing[among] + convergent.cta.first_thread
                op, report = convergent.current.number, convergent.cta.reporter(convergent)
                convergent.cta.launch.order.read(threads, memory, local, unit, op, report)
            elif memory.base == LOCAL_WINDOW:
                _check_written(convergent, local, unit)
            raw[among, offset : offset + unit] = memory.load(local, unit)
    return raw


def _owner(convergent: ConvergentThreads, memory: Bytes) -> Cta | None:
    """Return the CTA of the cluster that has this shared memory; None for other memory."""
    cta = convergent.cta
    if memory is cta.shared:
        return cta
    return next((peer for peer in cta.cluster.ctas if peer.shared is memory), None)


def store(
    convergent: ConvergentThreads,
    address: np.ndarray,
    space: int,
    values: np.ndarray,
    alignment: int,
    writers: np.ndarray | None = None,
) -> None:
    """Store uint8[threads, size] at each thread's address, in accesses of at most `alignment` bytes.

    Args:
        convergent: the threads that execute the instruction.
        address: of each thread that writes.
        space: the state space.
        values: the bytes of each thread that writes.
        alignment: known alignment of the addresses, in bytes.
        writers: the threads that write; None for all of `convergent`.

    Raises:
        Stop: if an address is misaligned or outside of memory; this is reported.
    """
    address, accessing = _addresses_and_threads(convergent, address, writers)
    values = convergent.broadcast(values) if writers is None else values
    shared, shadow = convergent.cta.shared, convergent.cta.shadow
    size = values.shape[1]
    unit = _unit(size, alignment)
    for offset in range(0, size, unit):
        for memory, among, local in locate(
            convergent, address + offset, space, unit, "writes", accessing
        ):
            if memory is shared:
                rows, threads = (
                    shared.rows(local, unit),
                    accessing[among] + convergent.cta.first_thread,
                )
                shadow.check_write(threads, rows, unit, convergent.cta.reporter(convergent))
                shadow.note_write(threads, rows, unit, convergent.current.number)
            elif isinstance(memory, GlobalArray):
                threads = accessing[among] + convergent.cta.first_thread
                op, report = convergent.current.number, convergent.cta.reporter(convergent)
                convergent.cta.launch.order.write(threads, memory, local, unit, op, report)
            elif memory.base == LOCAL_WINDOW:
                local_memory_of(convergent.cta).note_written(local, unit)
            memory.store(local, values[among, offset : offset + unit])


def _check_written(convergent: ConvergentThreads, addresses: np.ndarray, size: int) -> None:
    """Check that bytes of local memory were written."""
    if not local_memory_of(convergent.cta).all_written(addresses, size):
        convergent.cta.report_at(
            convergent,
            ViolationKind.UNINITIALISED,
            f"reads {size} bytes of local memory, which a thread has not written",
        )


def _addresses_and_threads(
    convergent: ConvergentThreads, address: np.ndarray, threads: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return an address for each thread that accesses memory, and these threads."""
    if threads is None:
        return convergent.broadcast(address), convergent.lanes.threads
    return address, threads


def _unit(size: int, alignment: int) -> int:
    """Return the bytes of each access to a value: a power of two that divides its size."""
    return min(size & -size, alignment, _WIDEST)


def locate(
    convergent: ConvergentThreads,
    address: np.ndarray,
    space: int,
    size: int,
    verb: str,
    threads: np.ndarray | None = None,
) -> Iterable[tuple[Bytes, np.ndarray | slice, np.ndarray]]:
    """Find the memory that each access of `size` bytes is in.

    Args:
        convergent: the threads that execute the instruction.
        address: of each thread.
        space: the state space.
        size: bytes of each thread's access.
        verb: the verb of messages, such as "reads".
        threads: the threads of the addresses; None for all of `convergent`.

    Returns:
        The memory, which of the threads access it (bool[threads], or a slice of all), and their addresses
        in it.

    Raises:
        Stop: if an address is misaligned or outside of memory; this is reported.
    """
    address = address.astype(np.int64, copy=False)
    if single := _single_memory(convergent, address, space, size):
        memory, local = single
        return [(memory, slice(None), local)]
    return _locate_each(convergent, address, space, size, verb, threads)


def _single_memory(
    convergent: ConvergentThreads, address: np.ndarray, space: int, size: int
) -> tuple[Bytes, np.ndarray] | None:
    """Return the memory of all accesses, and their addresses in it; None if they are in several memories,
    in local memory, or invalid."""
    if not len(address) or np.bitwise_or.reduce(address) & (size - 1):
        return None
    first = int(address[0])
    memory: Bytes = convergent.cta.shared
    if space == GENERIC and SHARED_WINDOW <= first < SHARED_WINDOW + (1 << 24):
        address = address - SHARED_WINDOW
    elif space in (GENERIC, GLOBAL) and first < LOCAL_WINDOW:
        if (array := convergent.cta.launch.memory.array_with(first)) is None:
            return None
        memory = array
    elif space != SHARED:
        return None
    inside = memory.base <= address.min() and address.max() + size <= memory.base + memory.size
    return (memory, address) if inside else None


def _locate_each(
    convergent: ConvergentThreads,
    address: np.ndarray,
    space: int,
    size: int,
    verb: str,
    threads: np.ndarray | None,
) -> Iterator[tuple[Bytes, np.ndarray, np.ndarray]]:
    """Find the memory of each access; see `locate`."""
    cta = convergent.cta
    accessing = convergent.lanes.threads if threads is None else threads
    misaligned = address % size != 0
    if misaligned.any():
        first = int(address[misaligned][0])
        cta.report_at(
            convergent,
            ViolationKind.MISALIGNED,
            f"{verb} {size} bytes at {SPACES.get(space, space)} address {first:#x}, which is not a "
            f"multiple of {size}",
        )
        raise Stop
    window = np.zeros(len(address), bool)
    parts: list[tuple[Bytes, np.ndarray]] = []
    if space == CLUSTER:
        rank, address = address >> RANK_SHIFT, address & (1 << RANK_SHIFT) - 1
        window[:] = True
        for peer in cta.cluster.ctas:
            parts.append((peer.shared, (rank == peer.rank) & peer.shared.inside(address, size)))
    elif space == SHARED:
        window[:] = True
    elif space == GENERIC:
        in_local = (address >= LOCAL_WINDOW) & (address < LOCAL_WINDOW + LOCAL_BYTES)
        if in_local.any():
            address = np.where(in_local, address + accessing * LOCAL_BYTES, address)
            local = local_memory_of(cta)
            in_local[in_local] = local.holds(address[in_local], size)
            parts.append((local.bytes, in_local))
        window = (address >= SHARED_WINDOW) & (address < SHARED_WINDOW + (1 << 24))
        address = np.where(window, address - SHARED_WINDOW, address)
    inside = np.zeros(len(address), bool)
    if window.any() and space != CLUSTER:
        parts.append((cta.shared, window & cta.shared.inside(address, size)))
    if not window.all():
        arrays = cta.launch.memory.find(address, size)
        parts += [(memory, among & ~window) for memory, among in arrays]
    for _, among in parts:
        inside |= among
    if not inside.all():
        _report_out_of_bounds(convergent, accessing, address, window, inside, size, verb)
        raise Stop
    for memory, among in parts:
        yield memory, among, address[among]


def _report_out_of_bounds(
    convergent: ConvergentThreads,
    threads: np.ndarray,
    address: np.ndarray,
    window: np.ndarray,
    inside: np.ndarray,
    size: int,
    verb: str,
) -> None:
    cta, first = convergent.cta, int(np.argmin(inside))
    thread, first_address = threads[first], int(address[first])
    if window[first]:
        shared = cta.shared
        where = (
            f"shared address {first_address:#x}; the CTA's shared memory is from {shared.base:#x} to "
            f"{shared.base + shared.size - 1:#x}"
        )
    elif LOCAL_WINDOW <= first_address < SHARED_WINDOW:
        byte = (first_address - LOCAL_WINDOW) % LOCAL_BYTES
        where = f"byte {byte} of its local memory, where it has no variable"
    else:
        where = cta.launch.memory.describe(first_address)
    message = f"thread {thread} {verb} {size} bytes at {where}"
    cta.report_at(convergent, ViolationKind.OUT_OF_BOUNDS, message)
