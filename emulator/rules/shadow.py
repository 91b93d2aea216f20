"""Shadow memory of shared memory: checks each access against the history of its bytes.

The rules are those of PTX ISA 8 (causality order), 9.7.9.25 (async proxy), 9.7.15 (wgmma) and 9.7.16.6
(tcgen05). Threads are numbered in the cluster. A reported violation is certain. A race can be missed: of
several threads that read a byte, only the last is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...bindings.diagnostics import format_location
from ..errors import ViolationKind
from ..lanes import WARP, WARPGROUP
from ..memory import rows_of, take_rows
from .history import NO_THREAD
from .quick_checks import UNIT, QuickChecks, is_one_row
from .vector_clocks import NEVER

#: Reports a violation: its kind and its message.
Report = Callable[[ViolationKind, str], None]


class Shadow(QuickChecks):
    """The history of shared memory, with the checks of accesses."""

    def check_write(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Check that `threads` may write rows of `size` bytes."""
        if not self.may_write(threads, rows, size):
            self._check_write(threads, rows, size, report)

    def _check_write(
        self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report
    ) -> None:
        """Report what is wrong with writes of rows of `size` bytes."""
        if len(rows) > 1 and len(np.unique(rows)) < len(rows):
            values, counts = np.unique(rows, return_counts=True)
            at = self._range(values[counts > 1][:, None], size)
            report(ViolationKind.RACE, f"several threads write {at} at the same time")
        thread = threads[:, None]
        copying = take_rows(self.copying, size, rows)
        if copying.any():
            report(
                ViolationKind.COPY_IN_FLIGHT,
                f"writes {self._where(rows, copying)}, which {self._writing_op(rows, copying, True)} may "
                "still be writing: smem.copy_wait (cp.async.wait_group) is missing before it",
            )
        seen = self._clocks.seen
        writer = take_rows(self.writer, size, rows)
        unseen = take_rows(self.written, size, rows) & ~copying
        unseen &= take_rows(self.write_epoch, size, rows) > seen[thread, writer]
        if unseen.any():
            self._report_unseen("writes", threads, rows, unseen, report)
        reader = take_rows(self.reader, size, rows)
        unseen = (reader != NO_THREAD) & (
            take_rows(self.read_epoch, size, rows) > seen[thread, reader]
        )
        if unseen.any():
            report(
                ViolationKind.RACE,
                f"writes {self._where(rows, unseen)}, which {self._thread(reader[unseen][0])} may still "
                f"be reading: {self.barrier(threads)} is missing between them",
            )
        self._check_wgmma_reads(threads, rows, size, report)
        if self._bulk_readers:
            self._check_bulk_reads(rows, size, report)
        if self.tcgen05_reads is not None:
            self._check_tcgen05_reads(threads, rows, size, self.tcgen05_reads, report)

    def check_bulk_write(self, thread: int, rows: np.ndarray, size: int, report: Report) -> None:
        """Check that a bulk copy of a thread may write rows of `size` bytes: a proxy fence is needed
        after writes and reads of threads (`docs/why/order-and-proofs.md`)."""
        if self.may_write_in_bulk(thread, rows, size):
            return
        self._check_write(np.array([thread]), rows, size, report)
        writer, epoch = (take_rows(a, size, rows) for a in (self.writer, self.write_epoch))
        by_thread = take_rows(self.written, size, rows) & (writer < self._clocks.threads)
        unfenced = by_thread & self._is_unfenced(thread, writer, epoch)
        if unfenced.any():
            report(
                ViolationKind.UNFENCED,
                f"a bulk copy writes {self._where(rows, unfenced)}, which "
                f"{self._writing_op(rows, unfenced)} wrote: smem.fence (fence.proxy.async) is missing "
                "between them",
            )
        reader, epoch = (take_rows(a, size, rows) for a in (self.reader, self.read_epoch))
        by_thread = (reader != NO_THREAD) & ~take_rows(self.read_in_bulk, size, rows)
        unfenced = by_thread & self._is_unfenced(thread, reader, epoch)
        if unfenced.any():
            report(
                ViolationKind.UNFENCED,
                f"a bulk copy writes {self._where(rows, unfenced)}, which "
                f"{self._thread(reader[unfenced][0])} read: smem.fence (fence.proxy.async) is missing "
                "between them",
            )

    def _is_unfenced(self, thread: int, others: np.ndarray, epochs: np.ndarray) -> np.ndarray:
        """Return which accesses of others happen before those of a thread, but without a proxy fence."""
        seen, proxied = self._clocks.seen[thread, others], self._clocks.proxied[thread, others]
        return (epochs <= seen) & (epochs > proxied)

    def _check_wgmma_reads(
        self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report
    ) -> None:
        """Check that no wgmma may still read bytes that `threads` write."""
        for warpgroup in sorted(self._wgmma_readers):
            by_byte = take_rows(self.wgmma_reads[warpgroup], size, rows)
            if not by_byte.any():
                continue
            group = by_byte.max(axis=1)
            warps = range(warpgroup * 4, warpgroup * 4 + 4)
            first = self._threads.start
            waited = [self._groups.waited_at(warp, group) for warp in warps]
            pending = np.any([at == NEVER for at in waited], axis=0)
            if pending.any():
                report(
                    ViolationKind.OVERWRITTEN,
                    f"writes {self._where(rows, (by_byte > 0) & pending[:, None])}, which a wgmma of "
                    f"warpgroup {warpgroup} may still be reading: smem.wait (wgmma.wait_group) is "
                    "missing before it",
                )
                continue
            unseen = np.any(
                [
                    at > self._clocks.seen[threads, first + warp * WARP]
                    for at, warp in zip(waited, warps, strict=True)
                ],
                axis=0,
            )
            if unseen.any():
                report(
                    ViolationKind.OVERWRITTEN,
                    f"writes {self._where(rows, (by_byte > 0) & unseen[:, None])}, which a wgmma of "
                    f"warpgroup {warpgroup} may still be reading: that warpgroup has waited for it, "
                    f"but {self.barrier(threads)} is missing after the wait",
                )

    def _check_bulk_reads(self, rows: np.ndarray, size: int, report: Report) -> None:
        """Check that no bulk copy may still read bytes that are written."""
        reads = take_rows(self.bulk_reads, size, rows)
        if reads.any():
            where = format_location(self._locations[self._bulk_readers[reads[reads > 0][0]]])
            report(
                ViolationKind.OVERWRITTEN,
                f"writes {self._where(rows, reads > 0)}, which the bulk copy at {where} may still be "
                "reading: cp.async.bulk.commit_group and cp.async.bulk.wait_group.read are missing "
                "before it",
            )

    def _check_tcgen05_reads(
        self,
        threads: np.ndarray,
        rows: np.ndarray,
        size: int,
        reads: np.ndarray,
        report: Report,
    ) -> None:
        """Check that no tcgen05.mma or cp may still read bytes that `threads` write."""
        column, commit, op = (take_rows(of_bytes, size, rows) for of_bytes in reads)
        unseen = (column != NO_THREAD) & (commit > self._clocks.seen[threads[:, None], column])
        if unseen.any():
            missing = "a wait for the mbarrier of its tcgen05.commit (mbarrier.try_wait) is"
            if (commit == self._clocks.epoch[column])[unseen].any():
                missing = "tcgen05.commit, and a wait for its mbarrier, are"
            report(
                ViolationKind.OVERWRITTEN,
                f"writes {self._where(rows, unseen)}, which the "
                f"{self._tcgen05_readers[op[unseen][0]]} at "
                f"{format_location(self._locations[op[unseen][0]])} may still be reading: {missing} "
                "missing before it",
            )

    def _report_unseen(
        self, does: str, threads: np.ndarray, rows: np.ndarray, unseen: np.ndarray, report: Report
    ) -> None:
        """Report an access that does not happen after the write of its bytes."""
        size = unseen.shape[1]
        bulk = unseen & (take_rows(self.writer, size, rows) >= self._clocks.threads)
        if bulk.any():
            self._report_bulk(does, rows, bulk, report)
        if (unseen := unseen & ~bulk).any():
            report(
                ViolationKind.RACE,
                f"{does} {self._where(rows, unseen)}, which {self._writing_op(rows, unseen)} wrote: "
                f"{self.barrier(threads)} is missing between them",
            )

    def _report_bulk(self, does: str, rows: np.ndarray, bulk: np.ndarray, report: Report) -> None:
        """Report an access to bytes of a bulk copy whose completion the thread has not observed."""
        size = bulk.shape[1] if bulk.ndim == 2 else 1
        writer, epoch = (
            take_rows(a, size, rows).reshape(bulk.shape)[bulk][0]
            for a in (self.writer, self.write_epoch)
        )
        missing = (
            "a wait for the mbarrier at which it completes (mbarrier.try_wait) is missing before it"
        )
        barrier = self.barriers.get(int(writer))
        if barrier is not None and epoch == self._clocks.epoch[writer]:
            missing = barrier.early(self._locations) or missing
        report(
            ViolationKind.COPY_IN_FLIGHT,
            f"{does} {self._where(rows, bulk)}, which {self._writing_op(rows, bulk)} may still be "
            f"writing: {missing}",
        )

    def check_read(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Check that `threads` may read rows of `size` bytes, and note the reads."""
        is_one = len(rows) > 0 and is_one_row(rows)
        if not len(rows) or not self.may_read(threads, rows[:1] if is_one else rows, size):
            self._check_read(threads, rows, size, report)
        if is_one:
            threads, rows = threads[-1:], rows[-1:]
        thread = threads[:, None]
        rows_of(self.reader, size)[rows] = thread
        rows_of(self.read_epoch, size)[rows] = self._clocks.epoch[thread]
        rows_of(self.read_in_bulk, size)[rows] = False

    def _check_read(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Report what is wrong with reads of rows of `size` bytes."""
        copying = take_rows(self.copying, size, rows)
        self._check_arrived(rows, copying, report)
        unwritten = ~take_rows(self.written, size, rows) & ~copying
        if unwritten.any():
            self._report_unwritten(rows, unwritten, report)
        thread = threads[:, None]
        writer = take_rows(self.writer, size, rows)
        unseen = take_rows(self.written, size, rows) & ~copying
        unseen &= take_rows(self.write_epoch, size, rows) > self._clocks.seen[thread, writer]
        if unseen.any():
            self._report_unseen("reads", threads, rows, unseen, report)

    def check_wgmma_read(
        self,
        warpgroup: int,
        group: int,
        at: np.ndarray,
        units: np.ndarray | None,
        report: Report,
    ) -> None:
        """Check that wgmma of a warpgroup may read bytes, and note the reads.

        Args:
            warpgroup: its number in the CTA.
            group: the wgmma group of the instruction.
            at: positions in shared memory, one for each byte read.
            units: the numbers of the units of 16 bytes that these fill; None if they fill no whole units.
            report: reports violations.
        """
        self._wgmma_readers.add(warpgroup)
        first = self._threads.start + warpgroup * WARPGROUP
        threads = slice(first, first + WARPGROUP)
        if units is None:
            self._check_async_read("wgmma", threads, at, report)
            self.wgmma_reads[warpgroup, at] = group
            return
        if not self.may_read_units(threads, units):
            self._check_async_read("wgmma", threads, at, report)
        rows_of(self.wgmma_reads[warpgroup], UNIT)[units] = group

    def check_tcgen05_read(
        self, name: str, thread: int, column: int, at: np.ndarray, op: int, report: Report
    ) -> None:
        """Check that a tcgen05 instruction of a thread may read bytes, and note the reads.

        Args:
            name: of the instruction, "tcgen05.mma" or "tcgen05.cp".
            thread: the thread that issues it, by its number in the cluster.
            column: of the thread's commits in `VectorClocks`.
            at: positions in shared memory, one for each byte read.
            op: the number of the instruction.
            report: reports violations.
        """
        self._check_async_read(name, slice(thread, thread + 1), at, report)
        self._tcgen05_readers[op] = name
        if self.tcgen05_reads is None:
            self.tcgen05_reads = np.full((3, len(self.written)), NO_THREAD, np.int32)
        self.tcgen05_reads[:, at] = [[column], [self._clocks.epoch[column]], [op]]

    def started_bulk_read(
        self, thread: int, copy: int, at: np.ndarray, op: int, report: Report
    ) -> None:
        """Check that a bulk copy of a thread may read bytes, and note the reads.

        Args:
            thread: the thread that issues it.
            copy: the number of the copy, from 1.
            at: positions in shared memory, one for each byte read.
            op: the number of the instruction.
            report: reports violations.
        """
        self._check_async_read("bulk copy", slice(thread, thread + 1), at, report)
        self.bulk_reads[at] = copy
        self._bulk_readers[copy] = op

    def finished_bulk_read(self, thread: int, copy: int, at: np.ndarray) -> None:
        """Note that a thread has waited for its bulk copy: from now on its reads are those of the
        thread."""
        mine = at[self.bulk_reads[at] == copy]
        self.bulk_reads[mine] = 0
        self.reader[mine] = thread
        self.read_epoch[mine] = self._clocks.epoch[thread]
        self.read_in_bulk[mine] = True
        del self._bulk_readers[copy]

    def _check_async_read(self, name: str, threads: slice, at: np.ndarray, report: Report) -> None:
        """Check that an instruction of some threads may read bytes by the async proxy."""
        copying = self.copying[at]
        self._check_arrived(at, copying, report)
        written = self.written[at]
        if not written.all():
            unwritten = ~written & ~copying
            if unwritten.any():
                self._report_unwritten(at, unwritten, report)
        seen, proxied = self._clocks.seen_by_all(threads)
        writer, epoch = self.writer[at], self.write_epoch[at]
        unordered = (epoch > proxied[writer]) & written & ~copying
        if unordered.any():
            bulk = unordered & (writer >= self._clocks.threads)
            if bulk.any():
                self._report_bulk(f"{name} reads", at, bulk, report)
            if (unordered := unordered & ~bulk).any():
                barrier = self.barrier(np.array([threads.start]))
                self._report_unordered(name, at, unordered, writer, epoch, seen, barrier, report)

    def _report_unordered(
        self,
        name: str,
        at: np.ndarray,
        unordered: np.ndarray,
        writer: np.ndarray,
        epoch: np.ndarray,
        seen: np.ndarray,
        barrier: str,
        report: Report,
    ) -> None:
        """Report an asynchronous read that does not happen after ordinary writes, or lacks a proxy
        fence."""
        writing_op = self._writing_op(at, unordered)
        reads = f"{name} reads {self._where(at, unordered)}, which {writing_op} wrote"
        apart = unordered & (epoch > seen[writer])
        if not apart.any():
            missing = "smem.fence (fence.proxy.async) is missing between the write and the"
            report(ViolationKind.UNFENCED, f"{reads}: {missing} {name}")
        elif (epoch <= self._clocks.proxied[writer, writer])[apart].all():
            report(ViolationKind.RACE, f"{reads}: {barrier} is missing after smem.fence")
        else:
            missing = f"smem.fence (fence.proxy.async) and {barrier} are missing between them"
            report(ViolationKind.UNFENCED, f"{reads}: {missing}")

    def _check_arrived(self, rows: np.ndarray, copying: np.ndarray, report: Report) -> None:
        if copying.any():
            report(
                ViolationKind.COPY_IN_FLIGHT,
                f"reads {self._where(rows, copying)}, which {self._writing_op(rows, copying, True)} may "
                "not have copied yet: smem.copy_commit and smem.copy_wait (cp.async.commit_group, "
                "cp.async.wait_group), then smem.fence and gpu.barrier, are missing before it",
            )

    def _report_unwritten(self, rows: np.ndarray, unwritten: np.ndarray, report: Report) -> None:
        report(
            ViolationKind.UNINITIALISED,
            f"reads {self._where(rows, unwritten)} of shared memory, which nothing has written",
        )
