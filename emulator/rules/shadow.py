"""Shadow memory of a CTA's shared memory: the last accesses of each byte, and the checks against them.

The rules are those of PTX ISA 8 (causality order), 9.7.9.25 (async proxy), 9.7.15 (wgmma) and 9.7.16.6
(tcgen05). Threads are numbered in the cluster. A reported violation is certain. A race can be missed: of
several threads that read a byte, only the last is kept.

Quick checks come first. They look at the bytes between the first and the last that are accessed, at the
latest access of several, or at units of 16 bytes, and show for most accesses that they violate no rule.
The complete checks decide about the others, and report.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...bindings.diagnostics import format_location
from ..errors import Report, ViolationKind
from ..lanes import WARP, WARPGROUP
from ..memory import Bytes, rows_of, take_rows
from .mbarriers import MBarrier
from .vector_clocks import NEVER, VectorClocks
from .wgmma_groups import WgmmaGroups

#: The thread of an access that has not happened.
_NO_THREAD = -1

#: Bytes of the unit in which the tensor core reads shared memory.
_UNIT = 16


class Shadow:
    """The access history of shared memory, in arrays with an item for each byte, and its checks.

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
        self.reader = np.full(size, _NO_THREAD, np.int16)
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

    def start_copy(self, rows: np.ndarray, size: int, op: int) -> None:
        """Note that `cp.async` of rows of `size` bytes has begun."""
        rows_of(self.copying, size)[rows] = True
        rows_of(self.write_op, size)[rows] = op

    # -- quick checks ---------------------------------------------------------------------------------

    def may_read_units(self, threads: slice, units: np.ndarray) -> bool:
        """Return whether the async proxy may read units of 16 bytes for each of some threads."""
        written, copying, writer, epoch = (
            take_rows(array, _UNIT, units)
            for array in (self.written, self.copying, self.writer, self.write_epoch)
        )
        if not written.all() or np.count_nonzero(copying):
            return False
        first = writer[0, 0]
        if (writer == first).all():
            return bool(epoch.max() <= self._clocks.proxied[threads, first].min())
        proxied = self._clocks.proxied[threads].min(axis=0)
        return bool((epoch <= proxied[writer]).all())

    def may_read(self, threads: np.ndarray, rows: np.ndarray, size: int) -> bool:
        """Return whether threads may read rows of `size` bytes, one each or all the same one."""
        written, copying, writer, epoch = (
            take_rows(array, size, rows)
            for array in (self.written, self.copying, self.writer, self.write_epoch)
        )
        if not written.all() or np.count_nonzero(copying):
            return False
        first = writer[:, :1]
        if np.count_nonzero(writer != first):
            return False
        late = epoch.max(axis=1) > self._clocks.seen[threads, first[:, 0]]
        return not np.count_nonzero(late)

    def may_write_in_bulk(self, thread: int, rows: np.ndarray, size: int) -> bool:
        """Return whether a bulk copy of a thread may write rows of `size` bytes."""
        first, last = int(rows.min()), int(rows.max())
        if last - first >= 2 * len(rows) or not _are_distinct(rows, first, last):
            return False
        span = slice(first * size, (last + 1) * size)
        if self._is_in_flight(np.array([thread]), lambda array: array[span]):
            return False
        seen, proxied = self._clocks.seen[thread], self._clocks.proxied[thread]
        # Threads need a proxy fence after their accesses, but mbarriers and bulk copies do not.
        fenced = seen.copy()
        fenced[: self._clocks.threads] = np.minimum(seen, proxied)[: self._clocks.threads]
        writer = self.writer[span]
        if (writer == writer[0]).all():
            writer = writer[:1]
        if (self.written[span] & (self.write_epoch[span] > fenced[writer])).any():
            return False
        reader, epoch = self.reader[span], self.read_epoch[span]
        if (reader == _NO_THREAD).all():
            return True
        latest = np.where(self.read_in_bulk[span], seen[reader], fenced[reader])
        return not ((reader != _NO_THREAD) & (epoch > latest)).any()

    def may_write(self, threads: np.ndarray, rows: np.ndarray, size: int) -> bool:
        """Return whether threads may write rows of `size` bytes, one each or all by one thread."""
        first, last = int(rows.min()), int(rows.max())
        if len(threads) != len(rows) or not _are_distinct(rows, first, last):
            return False

        def take(array: np.ndarray) -> np.ndarray:
            return take_rows(array, size, rows)

        if self._is_in_flight(threads, take):
            return False
        # Mostly the bytes of a row have one history, that of its first byte.
        seen = self._clocks.seen
        writer = take(self.writer)
        if np.count_nonzero(writer != writer[:, :1]):
            return False
        late = take(self.write_epoch).max(axis=1) > seen[threads, writer[:, 0]]
        if np.count_nonzero(late) and np.count_nonzero(late & take(self.written).any(axis=1)):
            return False
        reader = take(self.reader)
        if np.count_nonzero(reader != reader[:, :1]):
            return False
        reader = reader[:, 0]
        late = take(self.read_epoch).max(axis=1) > seen[threads, reader]
        return not np.count_nonzero(late & (reader != _NO_THREAD))

    def _is_in_flight(self, threads: np.ndarray, take: Callable[[np.ndarray], np.ndarray]) -> bool:
        """Return whether, for the clocks of some threads, an instruction may still read bytes (wgmma,
        bulk copies, tcgen05) or write them (`cp.async`). `take` selects these bytes of an array."""
        if self.tcgen05_reads is not None or np.count_nonzero(take(self.copying)):
            return True
        if self._bulk_readers and np.count_nonzero(take(self.bulk_reads)):
            return True
        first = self._threads.start
        for warpgroup in self._wgmma_readers:
            # Groups complete in order: the last is the latest to complete.
            group = take(self.wgmma_reads[warpgroup]).max()
            for warp in range(warpgroup * 4, warpgroup * 4 + 4) if group else ():
                waited = self._groups.waited_at(warp, group)
                if (
                    waited == NEVER
                    or (waited > self._clocks.seen[threads, first + warp * WARP]).any()
                ):
                    return True
        return False

    # -- complete checks ------------------------------------------------------------------------------

    def check_write(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Check that `threads` may write rows of `size` bytes."""
        if not self.may_write(threads, rows, size):
            self._check_write(threads, rows, size, report)

    def _check_write(
        self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report
    ) -> None:
        """Report the violations of writes of rows of `size` bytes."""
        if len(rows) > 1 and len(np.unique(rows)) < len(rows):
            values, counts = np.unique(rows, return_counts=True)
            where = self._describe_range(values[counts > 1][:, None], size)
            report(ViolationKind.RACE, f"several threads write {where} at the same time")
        thread = threads[:, None]
        copying = take_rows(self.copying, size, rows)
        if copying.any():
            report(
                ViolationKind.COPY_IN_FLIGHT,
                f"writes {self._describe_bytes(rows, copying)}, which "
                f"{self._describe_writer(rows, copying, True)} may still be writing: "
                "smem.copy_wait (cp.async.wait_group) is missing before it",
            )
        seen = self._clocks.seen
        writer = take_rows(self.writer, size, rows)
        unseen = take_rows(self.written, size, rows) & ~copying
        unseen &= take_rows(self.write_epoch, size, rows) > seen[thread, writer]
        if unseen.any():
            self._report_unseen("writes", threads, rows, unseen, report)
        reader = take_rows(self.reader, size, rows)
        unseen = (reader != _NO_THREAD) & (
            take_rows(self.read_epoch, size, rows) > seen[thread, reader]
        )
        if unseen.any():
            report(
                ViolationKind.RACE,
                f"writes {self._describe_bytes(rows, unseen)}, which "
                f"{self._describe_thread(reader[unseen][0])} may still be reading: "
                f"{self.describe_barrier(threads)} is missing between them",
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
                f"a bulk copy writes {self._describe_bytes(rows, unfenced)}, which "
                f"{self._describe_writer(rows, unfenced)} wrote: smem.fence (fence.proxy.async) "
                "is missing "
                "between them",
            )
        reader, epoch = (take_rows(a, size, rows) for a in (self.reader, self.read_epoch))
        by_thread = (reader != _NO_THREAD) & ~take_rows(self.read_in_bulk, size, rows)
        unfenced = by_thread & self._is_unfenced(thread, reader, epoch)
        if unfenced.any():
            report(
                ViolationKind.UNFENCED,
                f"a bulk copy writes {self._describe_bytes(rows, unfenced)}, which "
                f"{self._describe_thread(reader[unfenced][0])} read: smem.fence "
                "(fence.proxy.async) is missing "
                "between them",
            )

    def _is_unfenced(self, thread: int, others: np.ndarray, epochs: np.ndarray) -> np.ndarray:
        """Return which accesses of others happen before those of a thread, without a proxy fence."""
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
            pending = np.any([epochs == NEVER for epochs in waited], axis=0)
            if pending.any():
                report(
                    ViolationKind.OVERWRITTEN,
                    f"writes {self._describe_bytes(rows, (by_byte > 0) & pending[:, None])}, "
                    "which a wgmma of "
                    f"warpgroup {warpgroup} may still be reading: smem.wait (wgmma.wait_group) is "
                    "missing before it",
                )
                continue
            unseen = np.any(
                [
                    epochs > self._clocks.seen[threads, first + warp * WARP]
                    for epochs, warp in zip(waited, warps, strict=True)
                ],
                axis=0,
            )
            if unseen.any():
                report(
                    ViolationKind.OVERWRITTEN,
                    f"writes {self._describe_bytes(rows, (by_byte > 0) & unseen[:, None])}, which "
                    "a wgmma of "
                    f"warpgroup {warpgroup} may still be reading: that warpgroup has waited for it, "
                    f"but {self.describe_barrier(threads)} is missing after the wait",
                )

    def _check_bulk_reads(self, rows: np.ndarray, size: int, report: Report) -> None:
        """Check that no bulk copy may still read bytes that are written."""
        reads = take_rows(self.bulk_reads, size, rows)
        if reads.any():
            where = format_location(self._locations[self._bulk_readers[reads[reads > 0][0]]])
            report(
                ViolationKind.OVERWRITTEN,
                f"writes {self._describe_bytes(rows, reads > 0)}, which the bulk copy at {where} "
                "may still be "
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
        column, commit, op = (take_rows(array, size, rows) for array in reads)
        unseen = (column != _NO_THREAD) & (commit > self._clocks.seen[threads[:, None], column])
        if unseen.any():
            missing = "a wait for the mbarrier of its tcgen05.commit (mbarrier.try_wait) is"
            if (commit == self._clocks.epoch[column])[unseen].any():
                missing = "tcgen05.commit, and a wait for its mbarrier, are"
            report(
                ViolationKind.OVERWRITTEN,
                f"writes {self._describe_bytes(rows, unseen)}, which the "
                f"{self._tcgen05_readers[op[unseen][0]]} at "
                f"{format_location(self._locations[op[unseen][0]])} may still be reading: {missing} "
                "missing before it",
            )

    def _report_unseen(
        self, verb: str, threads: np.ndarray, rows: np.ndarray, unseen: np.ndarray, report: Report
    ) -> None:
        """Report an access that does not happen after the write of its bytes."""
        size = unseen.shape[1]
        bulk = unseen & (take_rows(self.writer, size, rows) >= self._clocks.threads)
        if bulk.any():
            self._report_bulk(verb, rows, bulk, report)
        if (unseen := unseen & ~bulk).any():
            report(
                ViolationKind.RACE,
                f"{verb} {self._describe_bytes(rows, unseen)}, which "
                f"{self._describe_writer(rows, unseen)} wrote: "
                f"{self.describe_barrier(threads)} is missing between them",
            )

    def _report_bulk(self, verb: str, rows: np.ndarray, bulk: np.ndarray, report: Report) -> None:
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
            f"{verb} {self._describe_bytes(rows, bulk)}, which "
            f"{self._describe_writer(rows, bulk)} may still be "
            f"writing: {missing}",
        )

    def check_read(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Check that `threads` may read rows of `size` bytes, and note the reads."""
        is_one = len(rows) > 0 and _is_one_row(rows)
        if not len(rows) or not self.may_read(threads, rows[:1] if is_one else rows, size):
            self._check_read(threads, rows, size, report)
        if is_one:
            threads, rows = threads[-1:], rows[-1:]
        thread = threads[:, None]
        rows_of(self.reader, size)[rows] = thread
        rows_of(self.read_epoch, size)[rows] = self._clocks.epoch[thread]
        rows_of(self.read_in_bulk, size)[rows] = False

    def _check_read(self, threads: np.ndarray, rows: np.ndarray, size: int, report: Report) -> None:
        """Report the violations of reads of rows of `size` bytes."""
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
        positions: np.ndarray,
        units: np.ndarray | None,
        report: Report,
    ) -> None:
        """Check that wgmma of a warpgroup may read bytes, and note the reads.

        Args:
            warpgroup: its number in the CTA.
            group: the wgmma group of the instruction.
            positions: positions in shared memory, one for each byte read.
            units: the numbers of the units of 16 bytes that these fill; None if they fill no whole units.
            report: reports violations.
        """
        self._wgmma_readers.add(warpgroup)
        first = self._threads.start + warpgroup * WARPGROUP
        threads = slice(first, first + WARPGROUP)
        if units is None:
            self._check_async_read("wgmma", threads, positions, report)
            self.wgmma_reads[warpgroup, positions] = group
            return
        if not self.may_read_units(threads, units):
            self._check_async_read("wgmma", threads, positions, report)
        rows_of(self.wgmma_reads[warpgroup], _UNIT)[units] = group

    def check_tcgen05_read(
        self, name: str, thread: int, column: int, positions: np.ndarray, op: int, report: Report
    ) -> None:
        """Check that a tcgen05 instruction of a thread may read bytes, and note the reads.

        Args:
            name: of the instruction, "tcgen05.mma" or "tcgen05.cp".
            thread: the thread that issues it, by its number in the cluster.
            column: of the thread's commits in `VectorClocks`.
            positions: positions in shared memory, one for each byte read.
            op: the number of the instruction.
            report: reports violations.
        """
        self._check_async_read(name, slice(thread, thread + 1), positions, report)
        self._tcgen05_readers[op] = name
        if self.tcgen05_reads is None:
            self.tcgen05_reads = np.full((3, len(self.written)), _NO_THREAD, np.int32)
        self.tcgen05_reads[:, positions] = [[column], [self._clocks.epoch[column]], [op]]

    def start_bulk_read(
        self, thread: int, copy: int, positions: np.ndarray, op: int, report: Report
    ) -> None:
        """Check that a bulk copy of a thread may read bytes, and note the reads.

        Args:
            thread: the thread that issues it.
            copy: the number of the copy, from 1.
            positions: positions in shared memory, one for each byte read.
            op: the number of the instruction.
            report: reports violations.
        """
        self._check_async_read("bulk copy", slice(thread, thread + 1), positions, report)
        self.bulk_reads[positions] = copy
        self._bulk_readers[copy] = op

    def finish_bulk_read(self, thread: int, copy: int, positions: np.ndarray) -> None:
        """Note that a thread has waited for its bulk copy: the copy's reads become the thread's."""
        mine = positions[self.bulk_reads[positions] == copy]
        self.bulk_reads[mine] = 0
        self.reader[mine] = thread
        self.read_epoch[mine] = self._clocks.epoch[thread]
        self.read_in_bulk[mine] = True
        del self._bulk_readers[copy]

    def _check_async_read(
        self, name: str, threads: slice, positions: np.ndarray, report: Report
    ) -> None:
        """Check that an instruction of some threads may read bytes by the async proxy."""
        copying = self.copying[positions]
        self._check_arrived(positions, copying, report)
        written = self.written[positions]
        if not written.all():
            unwritten = ~written & ~copying
            if unwritten.any():
                self._report_unwritten(positions, unwritten, report)
        seen, proxied = self._clocks.seen_by_all(threads)
        writer, epoch = self.writer[positions], self.write_epoch[positions]
        unordered = (epoch > proxied[writer]) & written & ~copying
        if unordered.any():
            bulk = unordered & (writer >= self._clocks.threads)
            if bulk.any():
                self._report_bulk(f"{name} reads", positions, bulk, report)
            if (unordered := unordered & ~bulk).any():
                barrier = self.describe_barrier(np.array([threads.start]))
                self._report_unordered(
                    name, positions, unordered, writer, epoch, seen, barrier, report
                )

    def _report_unordered(
        self,
        name: str,
        positions: np.ndarray,
        unordered: np.ndarray,
        writer: np.ndarray,
        epoch: np.ndarray,
        seen: np.ndarray,
        barrier: str,
        report: Report,
    ) -> None:
        """Report an asynchronous read that does not happen after ordinary writes, or lacks a proxy
        fence."""
        writing_op = self._describe_writer(positions, unordered)
        reads = (
            f"{name} reads {self._describe_bytes(positions, unordered)}, which {writing_op} wrote"
        )
        unseen = unordered & (epoch > seen[writer])
        if not unseen.any():
            missing = "smem.fence (fence.proxy.async) is missing between the write and the"
            report(ViolationKind.UNFENCED, f"{reads}: {missing} {name}")
        elif (epoch <= self._clocks.proxied[writer, writer])[unseen].all():
            report(ViolationKind.RACE, f"{reads}: {barrier} is missing after smem.fence")
        else:
            missing = f"smem.fence (fence.proxy.async) and {barrier} are missing between them"
            report(ViolationKind.UNFENCED, f"{reads}: {missing}")

    def _check_arrived(self, rows: np.ndarray, copying: np.ndarray, report: Report) -> None:
        if copying.any():
            report(
                ViolationKind.COPY_IN_FLIGHT,
                f"reads {self._describe_bytes(rows, copying)}, which "
                f"{self._describe_writer(rows, copying, True)} may "
                "not have copied yet: smem.copy_commit and smem.copy_wait (cp.async.commit_group, "
                "cp.async.wait_group), then smem.fence and gpu.barrier, are missing before it",
            )

    def _report_unwritten(self, rows: np.ndarray, unwritten: np.ndarray, report: Report) -> None:
        report(
            ViolationKind.UNINITIALISED,
            f"reads {self._describe_bytes(rows, unwritten)} of shared memory, which nothing has written",
        )

    # -- descriptions for messages --------------------------------------------------------------------

    def _describe_bytes(self, rows: np.ndarray, bad: np.ndarray) -> str:
        """Describe the bytes of `bad`; `rows` are positions, or rows of the same number of bytes as
        `bad`."""
        if bad.ndim == 1:
            return self._describe_range(rows[bad], 1)
        size = bad.shape[1]
        return self._describe_range((rows[:, None] * size + np.arange(size))[bad], 1)

    def _describe_range(self, positions: np.ndarray, size: int) -> str:
        first = self._memory.base + int(positions.min()) * size
        last = self._memory.base + int(positions.max()) * size + size - 1
        count = len(np.unique(positions)) * size
        span = f"from {first:#x} to {last:#x}"
        return f"{count} bytes {span}" if last - first + 1 != count else f"the bytes {span}"

    def _describe_writer(self, rows: np.ndarray, bad: np.ndarray, copying: bool = False) -> str:
        """Describe the op that wrote the first of the bad bytes."""
        size = bad.shape[1] if bad.ndim == 2 else 1
        op = take_rows(self.write_op, size, rows).reshape(bad.shape)[bad][0]
        where = format_location(self._locations[op])
        if copying:
            return f"the copy at {where}"
        thread = take_rows(self.writer, size, rows).reshape(bad.shape)[bad][0]
        if thread >= self._clocks.threads:
            return f"the bulk copy at {where}"
        return f"{self._describe_thread(thread)} at {where}"

    def _describe_thread(self, thread: int) -> str:
        """Describe a thread, which is given by its number in the cluster."""
        rank, index = divmod(int(thread), len(self._threads))
        if thread in self._threads:
            return f"thread {index}"
        return f"thread {index} of CTA {rank} of the cluster"

    def describe_barrier(self, threads: np.ndarray) -> str:
        """Describe the barrier that orders the CTA's threads before threads that access its memory."""
        if int(threads[0]) in self._threads:
            return "gpu.barrier"
        return "an arrival at their mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait,"


def _is_one_row(rows: np.ndarray) -> bool:
    """Return whether all rows are equal; often all threads read one row, such as an mbarrier."""
    return rows[0] == rows[-1] and bool((rows == rows[0]).all())


def _are_distinct(rows: np.ndarray, first: int, last: int) -> bool:
    """Return whether rows from a first to a last are distinct."""
    if last - first > 64 * len(rows):
        return len(np.unique(rows)) == len(rows)
    marked = np.zeros(last - first + 1, bool)
    marked[rows - first] = True
    return int(np.count_nonzero(marked)) == len(rows)
