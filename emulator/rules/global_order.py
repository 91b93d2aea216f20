"""The order between clusters in global memory: who accessed each byte in this launch.

Clusters run one after the other, so CTAs that exchange data without an order would find it complete. A
byte that a thread of another cluster has written is read or written, and one that it has read is
written, only after an acquire that follows a release of that access; see `Releases`. Accesses within a
cluster are not checked. Reads are noted by threads only, the last of each byte, and from the array's
first write of the launch on: arrays that are only read cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...bindings.diagnostics import format_location
from ..errors import Report, ViolationKind
from ..memory import GlobalArray, rows_of, take_rows
from .releases import Releases
from .vector_clocks import NEVER, VectorClocks

#: The number of an access that has not happened, later than all others.
_NONE = np.iinfo(np.int32).max

#: Accesses for which there is room at first.
_ROOM = 4096

#: The row of `GlobalOrder._accesses` that holds epochs.
_EPOCH = 2

#: What orders clusters, for messages.
_ARRIVAL = "smem.semaphore_arrive (barriers, and an atomic that releases and acquires at gpu scope)"

#: Kinds of accesses.
_ORDINARY, _ATOMIC, _BULK, _READ = range(4)


@dataclass(frozen=True)
class Box:
    """The bytes of an array that a bulk tensor copy accesses.

    Attributes:
        start: the position of the first one in the array.
        extents: the number along each dimension, the bytes of an element last.
        strides: in bytes.
    """

    start: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]

    def view(self, items: np.ndarray) -> np.ndarray:
        """View those of an array that has an item for each byte."""
        strides = [stride * items.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(items[self.start :], self.extents, strides)

    def position(self, index: Sequence[int]) -> int:
        """Return the position in the array of the byte at an index of the box."""
        return self.start + sum(i * stride for i, stride in zip(index, self.strides, strict=True))


class GlobalOrder:
    """The accesses of a launch to global memory, by numbers that ascend with the clusters.

    Attributes:
        releases: what orders the accesses of different clusters.
    """

    def __init__(self, clusters: int, threads: int, locations: list[Any]) -> None:
        """Begin a launch.

        Args:
            clusters: of the launch; the accesses of a single one are not noted.
            threads: of a CTA.
            locations: of the instructions, by their numbers.
        """
        self.releases = Releases()
        self._several = clusters > 1
        self._threads, self._locations = threads, locations
        # The indices of the CTAs of each cluster.
        self._clusters: list[list[tuple[int, int, int]]] = []
        # Of each access: cluster, thread, epoch, op and kind.
        self._accesses = np.zeros((5, _ROOM), np.int32)
        self._count = 0
        # Of the running cluster: the number of its first access, and the epochs of its threads.
        self._first = 0
        self._epoch = np.zeros(0, np.int32)

    def begin(self, ctas: list[tuple[int, int, int]], clocks: VectorClocks) -> None:
        """Begin the next cluster, whose CTAs have the indices `ctas` along x, y, z."""
        self._clusters.append(ctas)
        self._first = self._count
        self._epoch = clocks.epoch
        self.releases.begin(clocks)

    # -- ordinary accesses -------------------------------------------------------------------------

    def read(
        self,
        threads: np.ndarray,
        array: GlobalArray,
        addresses: np.ndarray,
        size: int,
        op: int,
        report: Report,
    ) -> None:
        """Check that threads may read `size` bytes of an array at their addresses.

        Args:
            threads: the threads that read, by their numbers in the cluster.
            array: the array.
            addresses: of each of these threads.
            size: bytes of each access.
            op: the number of the instruction.
            report: reports violations.
        """
        if array.writes is None:
            return
        rows = array.rows(addresses, size)
        last, where = take_rows(array.writes, size, rows), _positions(array, addresses)
        self._check("reads", threads, array, last, where, report)
        if array.reads is None:
            array.reads = np.full(len(array.data), _NONE, np.int32)
        numbers = self._note(threads, self._epoch[threads], op, _READ)
        rows_of(array.reads, size)[rows] = numbers[:, None]

    def write(
        self,
        threads: np.ndarray,
        array: GlobalArray,
        addresses: np.ndarray,
        size: int,
        op: int,
        report: Report,
        atomic: bool = False,
    ) -> None:
        """Check that threads may write `size` bytes of an array at their addresses, and note the writes;
        the arguments are those of `read`.

        An atomic write may follow atomic writes of other clusters without an order.
        """
        if not atomic:
            self.releases.overwrite(addresses, size)
        if not self._several:
            return
        rows, writes = array.rows(addresses, size), _writes_of(array)
        where = _positions(array, addresses)
        last = take_rows(writes, size, rows)
        self._check("writes", threads, array, last, where, report, atomic)
        if array.reads is not None:
            last = take_rows(array.reads, size, rows)
            self._check("writes", threads, array, last, where, report)
            rows_of(array.reads, size)[rows] = _NONE
        kind = _ATOMIC if atomic else _ORDINARY
        numbers = self._note(threads, self._epoch[threads], op, kind)
        rows_of(writes, size)[rows] = numbers[:, None]

    # -- bulk copies -------------------------------------------------------------------------------

    def read_in_bulk(self, thread: int, array: GlobalArray, box: Box, report: Report) -> None:
        """Check that a bulk copy of a thread may read a box of an array."""
        if array.writes is not None:
            self._check_box("reads", thread, array, box, array.writes, report)

    def write_in_bulk(
        self, thread: int, array: GlobalArray, box: Box, op: int, report: Report
    ) -> int | None:
        """Check that a bulk copy of a thread may write a box of an array. Return the number of the write,
        which `complete` takes; None if it is not noted."""
        if not self._several:
            return None
        writes = _writes_of(array)
        self._check_box("writes", thread, array, box, writes, report)
        if array.reads is not None:
            self._check_box("writes", thread, array, box, array.reads, report)
            box.view(array.reads)[...] = _NONE
        number = self._note(np.array([thread]), np.array([NEVER]), op, _BULK)
        box.view(writes)[...] = number
        return int(number[0])

    def complete(self, thread: int, write: int) -> None:
        """Note that a thread has waited until its bulk write is complete."""
        self._accesses[_EPOCH, write] = self._epoch[thread]

    def _check_box(
        self,
        verb: str,
        thread: int,
        array: GlobalArray,
        box: Box,
        accesses: np.ndarray,
        report: Report,
    ) -> None:
        last = box.view(accesses)
        if last.size:

            def position(_: int, byte: int) -> int:
                return box.position([int(i) for i in np.unravel_index(byte, last.shape)])

            verb = f"a bulk copy {verb}"
            self._check(verb, np.array([thread]), array, last.reshape(1, -1), position, report)

    # -- all accesses ------------------------------------------------------------------------------

    def _note(self, threads: np.ndarray, epochs: np.ndarray, op: int, kind: int) -> np.ndarray:
        """Note accesses, one of each thread, and return their numbers."""
        start, self._count = self._count, self._count + len(threads)
        if self._count > self._accesses.shape[1]:
            self._accesses = np.pad(self._accesses, ((0, 0), (0, self._count)))
        access = len(self._clusters) - 1, threads, epochs, op, kind
        for row, column in zip(self._accesses, access, strict=True):
            row[start : self._count] = column
        return np.arange(start, self._count, dtype=np.int32)

    def _check(
        self,
        verb: str,
        threads: np.ndarray,
        array: GlobalArray,
        last: np.ndarray,
        position: Callable[[int, int], int],
        report: Report,
        atomic: bool = False,
    ) -> None:
        """Check that accesses happen after those of other clusters.

        Args:
            verb: the verb of the message.
            threads: the threads that access the array.
            array: the array.
            last: int32[threads, bytes], the last write of each byte, or its last read.
            position: returns the position in the array of an element of `last`.
            report: reports violations.
            atomic: whether the accesses are atomic.
        """
        foreign = last < self._first
        if not np.count_nonzero(foreign):
            return
        numbers, which = np.unique(last[foreign], return_inverse=True)
        cluster, thread, epoch, _, kind = self._accesses[:, numbers]
        ordered = self.releases.happens_before(threads, cluster, thread, epoch)
        if atomic:
            ordered |= kind == _ATOMIC
        row, column = np.nonzero(foreign)
        late = ~ordered[row, which]
        if late.any():
            first = int(np.argmax(late))
            byte = position(int(row[first]), int(column[first]))
            access = self._describe(int(numbers[which[first]]))
            report(ViolationKind.RACE, f"{verb} byte {byte} of {array.name}, which {access}")

    def _describe(self, access: int) -> str:
        """Describe an access of another cluster, and what is missing after it."""
        cluster, thread, _, op, kind = map(int, self._accesses[:, access])
        rank, index = divmod(thread, self._threads)
        where = format_location(self._locations[op])
        cta = ", ".join(map(str, self._clusters[cluster][rank]))
        if kind == _BULK:
            return (
                f"the bulk store at {where} of CTA ({cta}) may still be writing: smem.tma_wait "
                f"(cp.async.bulk.wait_group) and then {_ARRIVAL} are missing between them"
            )
        verb = "may still be reading" if kind == _READ else "wrote"
        return (
            f"thread {index} of CTA ({cta}) {verb} at {where}: {_ARRIVAL} is missing between them"
        )


def _writes_of(array: GlobalArray) -> np.ndarray:
    """Return the number of the last write of each byte of an array."""
    if array.writes is None:
        array.writes = np.full(len(array.data), _NONE, np.int32)
    return array.writes


def _positions(array: GlobalArray, addresses: np.ndarray) -> Callable[[int, int], int]:
    return lambda row, byte: int(addresses[row]) - array.base + byte
