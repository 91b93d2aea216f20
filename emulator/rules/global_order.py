"""The order between clusters in global memory: who accessed each byte in this launch.

Clusters run one after the other, so CTAs that exchange data without an order would find it complete. A
byte that a thread of another cluster has written is read or written, and one that it has read is
written, only after an acquire that follows a release of that access; see `Releases`. Accesses within a
cluster are not checked. Reads are noted by threads only, the last of each byte, and from the array's
first write of the launch on: arrays that are only read cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...bindings.diagnostics import format_location
from ..errors import ViolationKind
from ..memory import GlobalArray, rows_of, take_rows
from .releases import Releases
from .vector_clocks import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..cluster import Cluster
    from ..convergent import ConvergentThreads

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

    def of(self, items: np.ndarray) -> np.ndarray:
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

    def __init__(self, clusters: int) -> None:
        """Begin a launch of so many clusters; the accesses of a single one are not noted."""
        self.releases = Releases()
        self._several = clusters > 1
        # The indices of the CTAs of each cluster.
        self._clusters: list[list[tuple[int, int, int]]] = []
        # Of each access: cluster, thread, epoch, op and kind.
        self._accesses = np.zeros((5, _ROOM), np.int32)
        self._count = 0
        # The number of the running cluster's first access.
        self._first = 0

    def begin(self, cluster: Cluster) -> None:
        """Begin the next cluster."""
        self._clusters.append([cta.index for cta in cluster.ctas])
        self._first = self._count
        self.releases.begin(cluster.clocks)

    # -- ordinary accesses -------------------------------------------------------------------------

    def read(
        self,
        convergent: ConvergentThreads,
        threads: np.ndarray,
        array: GlobalArray,
        addresses: np.ndarray,
        size: int,
    ) -> None:
        """Check that threads may read `size` bytes of an array at their addresses.

        Args:
            convergent: the threads that execute the instruction.
            threads: those that read, by their numbers in the cluster.
            array: the array.
            addresses: of each of these threads.
            size: bytes of each access.
        """
        if array.writes is None:
            return
        rows = array.rows(addresses, size)
        last, where = take_rows(array.writes, size, rows), _positions(array, addresses)
        self._check(convergent, "reads", threads, array, last, where)
        if array.reads is None:
            array.reads = np.full(len(array.data), _NONE, np.int32)
        epochs = convergent.cta.clocks.epoch[threads]
        rows_of(array.reads, size)[rows] = self._note(convergent, threads, epochs, _READ)[:, None]

    def write(
        self,
        convergent: ConvergentThreads,
        threads: np.ndarray,
        array: GlobalArray,
        addresses: np.ndarray,
        size: int,
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
        rows, writes = array.rows(addresses, size), _noted(array)
        where = _positions(array, addresses)
        last = take_rows(writes, size, rows)
        self._check(convergent, "writes", threads, array, last, where, atomic)
        if array.reads is not None:
            last = take_rows(array.reads, size, rows)
            self._check(convergent, "writes", threads, array, last, where)
            rows_of(array.reads, size)[rows] = _NONE
        epochs, kind = convergent.cta.clocks.epoch[threads], _ATOMIC if atomic else _ORDINARY
        rows_of(writes, size)[rows] = self._note(convergent, threads, epochs, kind)[:, None]

    # -- bulk copies -------------------------------------------------------------------------------

    def read_in_bulk(
        self, convergent: ConvergentThreads, thread: int, array: GlobalArray, box: Box
    ) -> None:
        """Check that a bulk copy of a thread may read a box of an array."""
        if array.writes is not None:
            self._check_box(convergent, "reads", thread, array, box, array.writes)

    def write_in_bulk(
        self, convergent: ConvergentThreads, thread: int, array: GlobalArray, box: Box
    ) -> int | None:
        """Check that a bulk copy of a thread may write a box of an array. Return the number of the write,
        which `complete` takes; None if it is not noted."""
        if not self._several:
            return None
        noted = _noted(array)
        self._check_box(convergent, "writes", thread, array, box, noted)
        if array.reads is not None:
            self._check_box(convergent, "writes", thread, array, box, array.reads)
            box.of(array.reads)[...] = _NONE
        number = self._note(convergent, np.array([thread]), np.array([NEVER]), _BULK)
        box.of(noted)[...] = number
        return int(number[0])

    def complete(self, convergent: ConvergentThreads, thread: int, write: int) -> None:
        """Note that a thread has waited until its bulk write is complete."""
        self._accesses[_EPOCH, write] = convergent.cta.clocks.epoch[thread]

    def _check_box(
        self,
        convergent: ConvergentThreads,
        does: str,
        thread: int,
        array: GlobalArray,
        box: Box,
        noted: np.ndarray,
    ) -> None:
        last = box.of(noted)
        if last.size:

            def position(_: int, at: int) -> int:
                return box.position([int(i) for i in np.unravel_index(at, last.shape)])

            does = f"a bulk copy {does}"
            self._check(convergent, does, np.array([thread]), array, last.reshape(1, -1), position)

    # -- all accesses ------------------------------------------------------------------------------

    def _note(
        self, convergent: ConvergentThreads, threads: np.ndarray, epochs: np.ndarray, kind: int
    ) -> np.ndarray:
        """Note accesses, one of each thread, and return their numbers."""
        start, self._count = self._count, self._count + len(threads)
        if self._count > self._accesses.shape[1]:
            self._accesses = np.pad(self._accesses, ((0, 0), (0, self._count)))
        cluster, op = len(self._clusters) - 1, convergent.current.number
        for row, of in zip(self._accesses, (cluster, threads, epochs, op, kind), strict=True):
            row[start : self._count] = of
        return np.arange(start, self._count, dtype=np.int32)

    def _check(
        self,
        convergent: ConvergentThreads,
        does: str,
        threads: np.ndarray,
        array: GlobalArray,
        last: np.ndarray,
        position: Callable[[int, int], int],
        atomic: bool = False,
    ) -> None:
        """Check that accesses happen after those of other clusters.

        Args:
            convergent: the threads that execute the instruction.
            does: the verb of the message.
            threads: those that access the array.
            array: the array.
            last: int32[threads, bytes], the last write of each byte, or its last read.
            position: returns the position in the array of an element of `last`.
            atomic: whether the accesses are atomic.
        """
        foreign = last < self._first
        if not np.count_nonzero(foreign):
            return
        numbers, which = np.unique(last[foreign], return_inverse=True)
        cluster, thread, epoch, _, kind = self._accesses[:, numbers]
        known = self.releases.known(threads, cluster, thread, epoch)
        if atomic:
            known |= kind == _ATOMIC
        row, column = np.nonzero(foreign)
        late = ~known[row, which]
        if late.any():
            first = int(np.argmax(late))
            at = position(int(row[first]), int(column[first]))
            written = self._describe(convergent, int(numbers[which[first]]))
            convergent.cta.report_at(
                convergent,
                ViolationKind.RACE,
                f"{does} byte {at} of {array.name}, which {written}",
            )

    def _describe(self, convergent: ConvergentThreads, access: int) -> str:
        """Describe an access of another cluster, and what is missing after it."""
        cluster, thread, _, op, kind = map(int, self._accesses[:, access])
        rank, index = divmod(thread, convergent.cta.threads)
        where = format_location(convergent.cta.program.locations[op])
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


def _noted(array: GlobalArray) -> np.ndarray:
    """Return the number of the last write of each byte of an array."""
    if array.writes is None:
        array.writes = np.full(len(array.data), _NONE, np.int32)
    return array.writes


def _positions(array: GlobalArray, addresses: np.ndarray) -> Callable[[int, int], int]:
    return lambda row, byte: int(addresses[row]) - array.base + byte
