"""What is known of each byte of a block's shared memory: who wrote it, who may still read it.

Every access is checked against it, by the rules of PTX ISA 8 (causality order), 9.7.9.25 (async
proxy) and 9.7.15 (wgmma). A finding is certain: where bytes were read by several threads, only the
last is remembered, so a race can be missed but none is invented.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dialect.diagnostics import format_location
from .errors import Kind
from .groups import Groups
from .lanes import WARP, WARPGROUP, Lanes
from .memory import Bytes, rows_of
from .order import NEVER, Order

#: Reports a violation: its kind, and what happened.
Report = Callable[[Kind, str], None]

_NOBODY = -1


class Shadow:
    """The history of each byte of shared memory, as arrays with one item a byte.

    Attributes:
        written: whether anything was written.
        copying: whether a `cp.async` that has not been waited for writes it.
        writer, write_epoch, write_op: the thread that wrote last, its epoch, and the op's number.
        reader, read_epoch: the thread that read last by an ordinary access, and its epoch.
        matrix_reads: for each warpgroup, the last group of wgmma that reads it; 0 if none does.
    """

    def __init__(self, memory: Bytes, order: Order, groups: Groups, locations: list[Any]) -> None:
        size, warpgroups = len(memory.data), -(-len(order.epoch) // WARPGROUP)
        self._memory, self._order, self._groups = memory, order, groups
        self._locations = locations
        self.written = np.zeros(size, bool)
        self.copying = np.zeros(size, bool)
        self.writer = np.zeros(size, np.int16)
        self.write_epoch = np.zeros(size, np.int32)
        self.write_op = np.zeros(size, np.int32)
        self.reader = np.full(size, _NOBODY, np.int16)
        self.read_epoch = np.zeros(size, np.int32)
        self.matrix_reads = np.zeros((warpgroups, size), np.int32)

    def wrote(self, threads: np.ndarray, rows: np.ndarray, size: int, op: int) -> None:
        """Notes that `threads` have written rows of `size` bytes."""
        thread = threads[:, None]
        rows_of(self.written, size)[rows] = True
        rows_of(self.copying, size)[rows] = False
        rows_of(self.writer, size)[rows] = thread
        rows_of(self.write_epoch, size)[rows] = self._order.epoch[thread]
        rows_of(self.write_op, size)[rows] = op

    def started_copy(self, rows: np.ndarray, size: int, op: int) -> None:
        """Notes that `cp.async` of rows of `size` bytes has begun."""
        rows_of(self.copying, size)[rows] = True
        rows_of(self.write_op, size)[rows] = op

    def check_write(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Checks that `threads` may write rows of `size` bytes now."""
        if len(rows) > 1 and len(np.unique(rows)) < len(rows):
            values, counts = np.unique(rows, return_counts=True)
            at = self._range(values[counts > 1][:, None], size)
            report(Kind.RACE, f"several threads write {at} at the same time")
        thread = threads[:, None]
        copying = rows_of(self.copying, size)[rows]
        if copying.any():
            report(
                Kind.COPY_IN_FLIGHT,
                f"writes {self._where(rows, copying)}, which {self._wrote(rows, copying, True)} may "
                "still be writing: smem.copy_wait (cp.async.wait_group) is missing before it",
            )
        seen = self._order.seen
        writer = rows_of(self.writer, size)[rows]
        unseen = rows_of(self.written, size)[rows] & ~copying
        unseen &= rows_of(self.write_epoch, size)[rows] > seen[thread, writer]
        if unseen.any():
            report(
                Kind.RACE,
                f"writes {self._where(rows, unseen)}, which {self._wrote(rows, unseen)} wrote: "
                "gpu.barrier is missing between them",
            )
        reader = rows_of(self.reader, size)[rows]
        unseen = (reader != _NOBODY) & (rows_of(self.read_epoch, size)[rows] > seen[thread, reader])
        if unseen.any():
            report(
                Kind.RACE,
                f"writes {self._where(rows, unseen)}, which thread {reader[unseen][0]} may still be "
                "reading: gpu.barrier is missing between them",
            )
        self._check_matrix_reads(threads, rows, size, report)

    def _check_matrix_reads(
        self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report
    ) -> None:
        """Checks that no wgmma may still read what `threads` write."""
        for warpgroup, reads in enumerate(self.matrix_reads):
            by_byte = rows_of(reads, size)[rows]
            if not by_byte.any():
                continue
            group = by_byte.max(axis=1)
            warps = range(warpgroup * 4, warpgroup * 4 + 4)
            waited = [self._groups.waited_at(warp, group) for warp in warps]
            pending = np.any([at == NEVER for at in waited], axis=0)
            if pending.any():
                report(
                    Kind.OVERWRITTEN,
                    f"writes {self._where(rows, (by_byte > 0) & pending[:, None])}, which a wgmma of "
                    f"warpgroup {warpgroup} may still be reading: smem.wait (wgmma.wait_group) is "
                    "missing before it",
                )
                continue
            unseen = np.any(
                [
                    at > self._order.seen[threads, warp * WARP]
                    for at, warp in zip(waited, warps, strict=True)
                ],
                axis=0,
            )
            if unseen.any():
                report(
                    Kind.OVERWRITTEN,
                    f"writes {self._where(rows, (by_byte > 0) & unseen[:, None])}, which a wgmma of "
                    f"warpgroup {warpgroup} may still be reading: that warpgroup has waited for it, "
                    "but gpu.barrier is missing after the wait",
                )

    def check_read(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Checks that `threads` may read rows of `size` bytes now, and notes that they do."""
        copying = rows_of(self.copying, size)[rows]
        self._check_arrived(rows, copying, report)
        blank = ~rows_of(self.written, size)[rows] & ~copying
        if blank.any():
            self._report_blank(rows, blank, report)
        thread = threads[:, None]
        writer = rows_of(self.writer, size)[rows]
        unseen = rows_of(self.written, size)[rows] & ~copying
        unseen &= rows_of(self.write_epoch, size)[rows] > self._order.seen[thread, writer]
        if unseen.any():
            report(
                Kind.RACE,
                f"reads {self._where(rows, unseen)}, which {self._wrote(rows, unseen)} wrote: "
                "gpu.barrier is missing between them",
            )
        rows_of(self.reader, size)[rows] = thread
        rows_of(self.read_epoch, size)[rows] = self._order.epoch[thread]

    def check_matrix_read(
        self, lanes: Lanes, warpgroup: int, group: int, at: np.ndarray, report: Report
    ) -> None:
        """Checks that wgmma of a warpgroup may read bytes now, and notes that its group does.

        Args:
            lanes: the warpgroup's threads.
            warpgroup: its number.
            group: the group of wgmma that the instruction belongs to.
            at: positions in shared memory, one for each byte read.
            report: takes what is wrong.
        """
        copying = self.copying[at]
        self._check_arrived(at, copying, report)
        written = self.written[at]
        if not written.all():
            blank = ~written & ~copying
            if blank.any():
                self._report_blank(at, blank, report)
        seen, proxied = self._order.horizon(lanes)
        writer, epoch = self.writer[at], self.write_epoch[at]
        hidden = (epoch > proxied[writer]) & written & ~copying
        if hidden.any():
            self._report_hidden(at, hidden, writer, epoch, seen, report)
        self.matrix_reads[warpgroup, at] = group

    def _report_hidden(
        self,
        at: np.ndarray,
        hidden: np.ndarray,
        writer: np.ndarray,
        epoch: np.ndarray,
        seen: np.ndarray,
        report: Report,
    ) -> None:
        """Says what is missing between ordinary writes and a wgmma."""
        reads = f"wgmma reads {self._where(at, hidden)}, which {self._wrote(at, hidden)} wrote"
        apart = hidden & (epoch > seen[writer])
        if not apart.any():
            missing = "smem.fence (fence.proxy.async) is missing between the write and the wgmma"
            report(Kind.UNFENCED, f"{reads}: {missing}")
        elif (epoch <= self._order.proxied[writer, writer])[apart].all():
            report(Kind.RACE, f"{reads}: gpu.barrier is missing after smem.fence")
        else:
            missing = "smem.fence (fence.proxy.async) and gpu.barrier are missing between them"
            report(Kind.UNFENCED, f"{reads}: {missing}")

    def _check_arrived(self, rows: np.ndarray, copying: np.ndarray, report: Report) -> None:
        if copying.any():
            report(
                Kind.COPY_IN_FLIGHT,
                f"reads {self._where(rows, copying)}, which {self._wrote(rows, copying, True)} may "
                "not have copied yet: smem.copy_commit and smem.copy_wait (cp.async.commit_group, "
                "cp.async.wait_group), then smem.fence and gpu.barrier, are missing before it",
            )

    def _report_blank(self, rows: np.ndarray, blank: np.ndarray, report: Report) -> None:
        report(
            Kind.UNINITIALISED,
            f"reads {self._where(rows, blank)} of shared memory, which nothing has written",
        )

    def _where(self, rows: np.ndarray, bad: np.ndarray) -> str:
        """The bytes that are bad; `rows` are positions, or rows of as many bytes as `bad` is wide."""
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

    def _wrote(self, rows: np.ndarray, bad: np.ndarray, copying: bool = False) -> str:
        """The op that wrote the first of the bad bytes."""
        size = bad.shape[1] if bad.ndim == 2 else 1
        op = rows_of(self.write_op, size)[rows].reshape(bad.shape)[bad][0]
        where = format_location(self._locations[op])
        if copying:
            return f"the copy at {where}"
        thread = rows_of(self.writer, size)[rows].reshape(bad.shape)[bad][0]
        return f"thread {thread} at {where}"
