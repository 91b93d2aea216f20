"""The access history of a CTA's shared memory: the last write of each byte, and its last reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...bindings.diagnostics import format_location
from ..lanes import WARPGROUP
from ..memory import Bytes, rows_of, take_rows
from .vector_clocks import VectorClocks
from .wgmma_groups import WgmmaGroups

if TYPE_CHECKING:
    from .mbarriers import MBarrier

#: The thread of an access that has not happened.
NO_THREAD = -1


class History:
    """The access history of shared memory: arrays with an item for each byte.

    Attributes:
        written: whether the byte has been written.
        copying: whether a `cp.async` writes it that has not been waited for.
        writer, write_epoch, write_op: the thread of the last write, its epoch, and the op's number. The
            writer of a bulk copy is the mbarrier at which the copy completes.
        reader, read_epoch: the thread of the last read by an ordinary access or by a bulk copy, and its
            epoch.
        read_in_bulk: whether that read was of a bulk copy.
        wgmma_reads: for each warpgroup, the last wgmma group that reads it; 0 if none does.
        bulk_reads: the last bulk copy that reads it and has not been waited for; 0 if there is none.
        tcgen05_reads: the last tcgen05.mma or cp that reads it: the column of its thread's commits in
            `VectorClocks`, the epoch of the commit that tracks it, and the op's number. None before the
            first such instruction.
    """

    def __init__(
        self,
        memory: Bytes,
        clocks: VectorClocks,
        groups: WgmmaGroups,
        locations: list[Any],
        threads: range,
    ) -> None:
        size, warpgroups = len(memory.data), -(-len(threads) // WARPGROUP)
        self._memory, self._clocks, self._groups = memory, clocks, groups
        self._locations, self._threads = locations, threads
        self.written = np.zeros(size, bool)
        self.copying = np.zeros(size, bool)
        self.writer = np.zeros(size, np.int16)
        self.write_epoch = np.zeros(size, np.int32)
        self.write_op = np.zeros(size, np.int32)
        self.reader = np.full(size, NO_THREAD, np.int16)
        self.read_epoch = np.zeros(size, np.int32)
        self.read_in_bulk = np.zeros(size, bool)
        self.wgmma_reads = np.zeros((warpgroups, size), np.int32)
        self.bulk_reads = np.zeros(size, np.int32)
        self.tcgen05_reads: np.ndarray | None = None
        self.barriers: dict[int, MBarrier] = {}
        # The warpgroups that have read by wgmma.
        self._wgmma_readers: set[int] = set()
        # The names of these instructions, by the op's number.
        self._tcgen05_readers: dict[int, str] = {}
        # The op of each bulk copy that has not been waited for.
        self._bulk_readers: dict[int, int] = {}

    def note_write(self, threads: np.ndarray, rows: np.ndarray | slice, size: int, op: int) -> None:
        """Note that `threads` have written rows of `size` bytes."""
        thread = threads[:, None]
        rows_of(self.written, size)[rows] = True
        rows_of(self.copying, size)[rows] = False
        rows_of(self.writer, size)[rows] = thread
        rows_of(self.write_epoch, size)[rows] = self._clocks.epoch[thread]
        rows_of(self.write_op, size)[rows] = op

    def started_copy(self, rows: np.ndarray, size: int, op: int) -> None:
        """Note that `cp.async` of rows of `size` bytes has begun."""
        rows_of(self.copying, size)[rows] = True
        rows_of(self.write_op, size)[rows] = op

    # Descriptions for messages.

    def _where(self, rows: np.ndarray, bad: np.ndarray) -> str:
        """Describe the bytes of `bad`; `rows` are positions, or rows of the same number of bytes as
        `bad`."""
        if bad.ndim == 1:
            return self._range(rows[bad], 1)
        size = bad.shape[1]
        return self._range((rows[:, None] * size + np.arange(size))[bad], 1)

    def _range(self, positions: np.ndarray, size: int) -> str:
        first = self._memory.base + int(positions.min()) * size
        last = self._memory.base + int(positions.max()) * size + size - 1
        count = len(np.unique(positions)) * size
        span = f"from {first:#x} to {last:#x}"
        return f"{count} bytes {span}" if last - first + 1 != count else f"the bytes {span}"

    def _writing_op(self, rows: np.ndarray, bad: np.ndarray, copying: bool = False) -> str:
        """Describe the op that wrote the first of the bad bytes."""
        size = bad.shape[1] if bad.ndim == 2 else 1
        op = take_rows(self.write_op, size, rows).reshape(bad.shape)[bad][0]
        where = format_location(self._locations[op])
        if copying:
            return f"the copy at {where}"
        thread = take_rows(self.writer, size, rows).reshape(bad.shape)[bad][0]
        if thread >= self._clocks.threads:
            return f"the bulk copy at {where}"
        return f"{self._thread(thread)} at {where}"

    def _thread(self, thread: int) -> str:
        """Describe a thread, which is given by its number in the cluster."""
        rank, index = divmod(int(thread), len(self._threads))
        if thread in self._threads:
            return f"thread {index}"
        return f"thread {index} of CTA {rank} of the cluster"

    def barrier(self, threads: np.ndarray) -> str:
        """Describe the barrier that orders the CTA's threads before threads that access its memory."""
        if int(threads[0]) in self._threads:
            return "gpu.barrier"
        return "an arrival at their mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait,"
