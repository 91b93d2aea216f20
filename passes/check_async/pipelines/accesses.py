"""Reads and writes of tiles by a partition: of acquired stages, and of tiles without a pipeline."""

from __future__ import annotations

from ....bindings.irtypes import Op, Value
from ....dialect.effects import Access, Completion, Proxy, Scope
from ....dialect.ops import ElectOp, FenceOp, LoadOp, WarpgroupBarrierOp, WarpSpecializeOp
from ...order.needs import CLUSTER_BARRIER, Need, needs_text
from ...order.report import label
from ..polynomials import number
from ..tile_slices import AxisSlice
from .findings import Findings, MissingSync
from .kernel import KernelAnalysis, PartitionRecord, TileAccess
from .ops import Side, stages_of
from .partition import ActiveThreads
from .state import ExposedAccess, PartitionState, PendingRead, PendingWrite, Reader, TileRectangle
from .tile_resolver import TileResolver

#: What reads a tile, by its proxy and its completion.
_READERS = {
    (Proxy.GENERIC, Completion.AT_ONCE): Reader.THREADS,
    (Proxy.ASYNC, Completion.WGMMA_GROUP): Reader.MMA,
    (Proxy.ASYNC, Completion.BULK_GROUP): Reader.BULK,
}

#: How tiles are written: by the threads' stores, and by bulk copies.
_WRITES = ((Proxy.GENERIC, Completion.AT_ONCE), (Proxy.ASYNC, Completion.MBARRIER))

#: The age of a new read: an mma is a group, a bulk store is in one once the group is committed.
_AGES = {Reader.THREADS: None, Reader.MMA: 0, Reader.BULK: -1}


class Accesses:
    """The accesses of tiles by a partition.

    Args:
        kernel: the function.
        threads: the threads that execute the ops.
        tiles: finds the rectangles of tiles.
        others: compares the accesses of different warpgroups of the partition.
        recorded: receives the accesses.
        findings: receives errors and remarks.
    """

    def __init__(
        self,
        kernel: KernelAnalysis,
        threads: ActiveThreads,
        tiles: TileResolver,
        others: OtherWarpgroups,
        recorded: PartitionRecord,
        findings: Findings,
    ) -> None:
        self._kernel = kernel
        self._threads = threads
        self._tiles = tiles
        self._others = others
        self._recorded = recorded
        self._findings = findings

    def follows(self, op: Op) -> bool:
        """Whether all accesses of tiles by an op can be followed."""
        return all(
            _mechanism(access) in (_WRITES if access.writes else _READERS)
            for _, access in self._kernel.ops.tiles(op)
        )

    def access(self, op: Op, state: PartitionState) -> None:
        """Follow an op that `follows` accepts: its reads, then its writes."""
        tiles = self._kernel.ops.tiles(op)
        if not tiles or not self._has_needed_threads(op, state):
            return
        reads = [
            (tile, _READERS[_mechanism(access)]) for tile, access in tiles if not access.writes
        ]
        if any(reader is Reader.MMA for _, reader in reads):
            state.start_group(Reader.MMA)
        for tile, reader in reads:
            if isinstance(op, LoadOp) and op.rank is not None:
                self._read_remotely(op, tile, state)
            else:
                self._read(op, tile, reader, state)
        if any(reader is Reader.MMA for _, reader in reads):
            registers = map(_registers_of, self._kernel.registers.writers_for(op))
            state.reads |= {
                PendingRead(op, written_registers, Reader.MMA, 0) for written_registers in registers
            }
        for tile, access in tiles:
            if access.writes and access.proxy is Proxy.GENERIC:
                self._write_by_threads(op, tile, state)
            elif access.writes:
                self._load(op, tile, state)

    def define(self, op: Op, state: PartitionState) -> None:
        """Check that no mma in flight may read the registers that an op writes."""
        for read in self._kernel.in_order(state.reads):
            if read.rectangle.allocation == op and read.age is not None:
                message = f"writes registers that the {label(read.op)} may still be reading"
                fix = f"put {needs_text(read.missing)} between them"
                sync = MissingSync(read.op, tuple(read.missing))
                self._findings.error(op, f"{message}; {fix}", state.certain, state, sync)

    def _has_needed_threads(self, op: Op, state: PartitionState) -> bool:
        """Check that all threads that its accesses need execute an op."""
        partition, scope = self._threads.partition, op.effects.scope
        if scope >= Scope.CTA and not partition.whole and partition.warpgroups is not None:
            shared = "a copy" if any(access.writes for access in op.effects.accesses) else "it"
            self._findings.error(
                op,
                f"is executed by {partition.warpgroups} of the CTA's warpgroups, but all threads of the "
                f"CTA share {shared}; put it before the {WarpSpecializeOp.OPERATION_NAME}",
                state.certain,
                state,
            )
        if scope >= Scope.CTA and self._threads.is_divergent:
            reason = "some warpgroups may not execute it, but all threads of the CTA must"
            self._findings.remark(op, reason, state)
            return False
        if not self._threads.scope:
            return True
        if scope >= Scope.WARPGROUP:
            reason = "one thread executes it, but whole warpgroups must"
            self._findings.remark(op, reason, state)
            return False
        if any(access.proxy is Proxy.GENERIC for _, access in self._kernel.ops.tiles(op)):
            reason = "reads and writes by one elected thread itself are not followed"
            self._findings.remark(op, reason, state)
            return False
        return True

    # Writes.

    def _write_by_threads(self, op: Op, tile: Value, state: PartitionState) -> None:
        rectangle = self._tiles.rectangle(op, tile, state)
        if rectangle is not None:
            self._write(rectangle, PendingWrite(op, rectangle), state)

    def _load(self, op: Op, tile: Value, state: PartitionState) -> None:
        """Follow a bulk load: its bytes count for a pipeline index."""
        count = self._threads.count
        if count != 1:
            threads = "an unknown number of" if count is None else count
            reason = f"it is executed by {threads} threads, each of which loads the tile"
            self._findings.remark(op, reason, state)
        rectangle = self._tiles.rectangle(op, tile, state, loads=True)
        if rectangle is None:
            return
        if rectangle.pipeline_side is None or rectangle.pipeline_side.side is not Side.PRODUCER:
            reason = (
                f"its stage is not that of a {Side.PRODUCER.wait_name}; load what that acquires"
            )
            self._findings.remark(op, reason, state)
            return
        self._check_counts(op, rectangle, state)
        write = PendingWrite(op, rectangle, fenced=True, past_barrier=True, in_bulk=True)
        self._write(rectangle, write, state)

    def _check_counts(self, op: Op, rectangle: TileRectangle, state: PartitionState) -> None:
        """Check that the bytes of a load count for the stage that it writes."""
        assert rectangle.pipeline_side is not None
        written, pipeline = rectangle.pipeline_side.pipeline, op.pipeline.owner
        if written != pipeline:
            self._findings.error(
                op,
                f"writes a stage of the {label(written)}, but its bytes count for the {label(pipeline)}; "
                "take both from one pipeline",
                state.certain,
                state,
            )
            return
        lag = self._kernel.relative_indices.lag_of(
            op, op.index, rectangle.pipeline_side, self._threads.iteration
        )
        if lag is None:
            reason = "it is not known for which pipeline index its bytes count"
            self._findings.remark(op, reason, state)
        elif lag != rectangle.lag:
            self._findings.error(
                op,
                "writes the stage of one pipeline index, but its bytes count for the index "
                f"{abs(lag - rectangle.lag)} {'before' if lag > rectangle.lag else 'after'} it; give it "
                f"the index of the {Side.PRODUCER.wait_name}",
                state.certain and (lag - rectangle.lag) % stages_of(pipeline) != 0,
                state,
            )

    def _write(self, rectangle: TileRectangle, write: PendingWrite, state: PartitionState) -> None:
        if rectangle.pipeline_side is not None and not self._check_acquired(
            write.op, rectangle, "writes", state
        ):
            return
        if not write.in_bulk:
            for read in self._kernel.in_order(state.reads):
                overlaps = rectangle.has_same_stage(read.rectangle) and rectangle.overlaps(
                    read.rectangle
                )
                if overlaps is not False and (read.missing or not read.past_barrier):
                    needs = [*read.missing, Need(WarpgroupBarrierOp)]
                    self._race(write.op, read, "overwrites", needs, overlaps is True, state)
        if rectangle.pipeline_side is None:
            state.filled |= {rectangle}
            if self._threads.same_in_cluster and rectangle.same_in_cluster:
                state.filled_by_all |= {rectangle}
            if not self._threads.is_divergent:
                state.filled_by_each |= {rectangle}
        for earlier in self._kernel.in_order(state.writes):
            self._check_rewritten(earlier, write, state)
        # What comes after this write in order also comes after earlier ones of the same bytes.
        earlier_writes = {x for x in state.writes if x.past_barrier and not x.in_bulk}
        same = {x for x in earlier_writes if x.rectangle.is_same(rectangle)}
        state.writes = state.writes - same | {write}
        self._record(write.op, rectangle, None, state, in_bulk=write.in_bulk)

    def _check_rewritten(
        self, earlier: PendingWrite, write: PendingWrite, state: PartitionState
    ) -> None:
        """Check that two writes of the same bytes are in order (WAW).

        An op that is executed again writes the same bytes by the same thread, so in order. Bulk loads are
        not ordered.
        """
        overlaps = earlier.rectangle.has_same_stage(write.rectangle) and earlier.rectangle.overlaps(
            write.rectangle
        )
        is_repeated = earlier.op == write.op and earlier.rectangle.equals(write.rectangle)
        if overlaps is False or (not earlier.in_bulk and (earlier.past_barrier or is_repeated)):
            return
        if earlier.in_bulk:
            self._race(write.op, earlier, "overwrites", [], overlaps is True, state)
            return
        reason = (
            f"it may overwrite the {label(earlier.rectangle.allocation)} before the {label(earlier.op)} "
            f"is over; put {WarpgroupBarrierOp.OPERATION_NAME} between them"
        )
        sync = MissingSync(earlier.op, (Need(WarpgroupBarrierOp),))
        self._findings.remark(write.op, reason, state, sync)

    # Reads.

    def _read(self, op: Op, tile: Value, reader: Reader, state: PartitionState) -> None:
        in_bulk = reader is Reader.BULK
        if in_bulk and not self._threads.scope:
            reason = f"it is not in an {ElectOp.OPERATION_NAME}"
            reason = f"{reason}: each thread that executes it stores the tile"
            self._findings.remark(op, reason, state)
        rectangle = self._tiles.rectangle(op, tile, state)
        if rectangle is None:
            return
        if rectangle.pipeline_side is not None and not self._check_acquired(
            op, rectangle, "reads", state
        ):
            return
        self._check_order(op, rectangle, reader, state)
        if rectangle.pipeline_side is None and not self._is_filled(rectangle, state):
            allocation = label(rectangle.allocation)
            reason = f"it is not known whether what it reads of the {allocation} was written before"
            fix = "write all of it before"
            if self._threads.partition.warpgroups != 1:
                fix = "each warpgroup must write what it reads"
            self._findings.remark(op, f"{reason}; {fix}", state)
        state.reads |= {
            PendingRead(
                op, rectangle, reader, _AGES[reader], self._threads.scope if in_bulk else ""
            )
        }
        self._record(op, rectangle, reader, state)

    def _check_order(
        self, op: Op, rectangle: TileRectangle, reader: Reader, state: PartitionState
    ) -> None:
        """Check that earlier writes of the bytes by the partition are visible to a read (RAW)."""
        for write in self._kernel.in_order(state.writes):
            if write.in_bulk and write.rectangle.pipeline_side is not None:
                continue
            overlaps = write.rectangle.has_same_stage(rectangle) and rectangle.overlaps(
                write.rectangle
            )
            needs = write.missing(reader) if overlaps is not False else []
            if needs:
                self._race(op, write, "reads", needs, overlaps is True, state)

    def _read_remotely(self, op: LoadOp, tile: Value, state: PartitionState) -> None:
        """Follow a load from another CTA of the cluster. Its threads execute the same ops."""
        rectangle = self._tiles.rectangle(op, tile, state)
        if rectangle is None:
            return
        remote_tile = f"{label(rectangle.allocation)} of another CTA"
        if rectangle.pipeline_side is not None:
            reason = f"it reads a stage of the {remote_tile}, whose pipeline indices are not known"
            self._findings.remark(op, reason, state)
            return
        if not state.epoch:
            message = f"reads the {remote_tile}, which may not have written it"
            fix = f"put {CLUSTER_BARRIER} before the load"
            self._findings.error(op, f"{message}; {fix}", state.certain, state)
        elif not rectangle.is_covered(state.filled_in_cluster):
            written = f"every CTA has written what it reads of the {remote_tile}"
            reason = f"it is not known whether {written} before the last barrier of the cluster"
            self._findings.remark(op, reason, state)
        self._record(op, rectangle, Reader.THREADS, state, remote=True)

    def _is_filled(self, rectangle: TileRectangle, state: PartitionState) -> bool:
        """Whether the threads, or all warpgroups of the partition together, have written a rectangle.

        `OtherWarpgroups` checks that the writes of other warpgroups come before.
        """
        if rectangle.is_covered(state.filled):
            return True
        symbol, count = self._threads.partition.symbol, self._threads.partition.warpgroups
        if symbol is None or count is None:
            return False
        values = self._kernel.values

        def warpgroup_parts(filled_rectangle: TileRectangle) -> list[TileRectangle]:
            return [
                filled_rectangle.of_warpgroup(values, symbol, warpgroup)
                for warpgroup in range(count)
            ]

        filled = [
            part
            for filled_rectangle in state.filled_by_each
            for part in warpgroup_parts(filled_rectangle)
        ]
        return all(part.is_covered(filled) for part in warpgroup_parts(rectangle))

    # Both.

    def _record(
        self,
        op: Op,
        rectangle: TileRectangle,
        reader: Reader | None,
        state: PartitionState,
        remote: bool = False,
        in_bulk: bool = False,
    ) -> None:
        recorded_rectangle = rectangle.without_variables()
        partition = self._threads.partition
        if partition.symbol is not None and partition.warpgroups != 1 and not remote:
            self._others.expose(ExposedAccess(op, recorded_rectangle, reader, in_bulk), state)
        access = TileAccess(
            partition, op, recorded_rectangle, reader, state.certain, state.epoch, remote
        )
        self._recorded.accesses[access] = None

    def _race(
        self,
        op: Op,
        other: PendingWrite | PendingRead,
        verb: str,
        needs: list[Need],
        overlaps: bool,
        state: PartitionState,
    ) -> None:
        """Report an access that begins before an earlier one is complete. If `needs` is empty, the
        earlier one is a bulk load, for which a consumer waits."""
        message = (
            f"{verb} the {label(other.rectangle.allocation)} before the {label(other.op)} is over"
        )
        fix = needs_text(needs) if needs else f"{Side.CONSUMER.wait_name} of its stage"
        sync = MissingSync(other.op, tuple(needs))
        if overlaps:
            message = f"{message}; put {fix} between them"
            self._findings.error(op, message, state.certain, state, sync)
        else:
            self._findings.remark(
                op,
                f"it is not known whether it shares bytes with the {label(other.op)}, which is not over",
                state,
                sync,
            )

    def _check_acquired(
        self, op: Op, rectangle: TileRectangle, verb: str, state: PartitionState
    ) -> bool:
        """Check that an accessed stage is acquired: waited for, and not committed or released."""
        assert rectangle.pipeline_side is not None
        pipeline, side = rectangle.pipeline_side
        outstanding, stages = state.outstanding(rectangle.pipeline_side), stages_of(pipeline)
        if not 1 <= rectangle.lag <= outstanding - rectangle.shift:
            is_past = rectangle.lag > 0
            when = f"is already {side.arrived}" if is_past else "is not waited for"
            fix = (
                f"put it before the {side.arrive_name}"
                if is_past
                else f"put {side.wait_name} before it"
            )
            # The stage may be that of an outstanding index.
            holds = any((rectangle.lag - lag) % stages == 0 for lag in range(1, outstanding + 1))
            certain = state.certain and not holds
            self._findings.error(op, f"{verb} a stage that {when}; {fix}", certain, state)
            return False
        is_read_back = verb == "reads" and side is Side.PRODUCER
        if is_read_back and self._least_index(op, rectangle) < stages:
            reason = (
                f"its pipeline index may be one of the first {stages}, whose stages no consumer has "
                "written before"
            )
            self._findings.remark(op, reason, state)
        return True

    def _least_index(self, op: Op, rectangle: TileRectangle) -> int:
        """Return a lower bound of the pipeline index whose stage an op accesses."""
        relative_indices, side = self._kernel.relative_indices, rectangle.pipeline_side
        iteration = self._threads.iteration
        assert side is not None
        lags = {
            x: relative_indices.lag_of(op, x, side, iteration)
            for x in self._kernel.ops.stage_indices(op)
        }
        least = [
            (relative_indices.least(op, index, iteration) or 0) + lag - rectangle.lag
            for index, lag in lags.items()
            if lag is not None
        ]
        return min(least, default=0)


def _registers_of(writer: Op) -> TileRectangle:
    """Return the registers that an op writes for an mma, as a rectangle of one element."""
    element = AxisSlice(number(0), 1, 1)
    return TileRectangle(writer, None, 0, 0, (element, element, element))


def _mechanism(access: Access) -> tuple[Proxy, Completion]:
    return access.proxy, access.completion


class OtherWarpgroups:
    """Compares accesses of different warpgroups of a partition: they run the same ops at their own pace.

    Args:
        kernel: the function.
        threads: those of the partition.
        findings: receives remarks.
    """

    def __init__(self, kernel: KernelAnalysis, threads: ActiveThreads, findings: Findings) -> None:
        self._kernel = kernel
        self._threads = threads
        self._findings = findings

    def expose(self, access: ExposedAccess, state: PartitionState) -> None:
        """Check that an access comes after those of the same bytes by other warpgroups, and expose it to
        later ones. The other warpgroups execute the same op."""
        if (
            self._threads.partition,
            access.rectangle.pipeline_side,
        ) in self._kernel.use.round_robins:
            return
        for earlier in (access, *self._kernel.in_order(state.exposed - {access})):
            self._check(earlier, access, state)
        state.exposed |= {access}

    def check_branches(
        self, then_accesses: frozenset[ExposedAccess], else_accesses: frozenset[ExposedAccess]
    ) -> None:
        """Check accesses in the two branches of an `scf.if` of which each warpgroup takes one."""
        for first in self._kernel.in_order(then_accesses):
            for second in self._kernel.in_order(else_accesses):
                self._check(first, second, None)

    def _check(
        self, earlier: ExposedAccess, later: ExposedAccess, state: PartitionState | None
    ) -> None:
        partition = self._threads.partition
        writes = [access for access in (later, earlier) if access.reader is None]
        is_past = earlier.past_barrier and not later.is_async
        if not writes or is_past or not earlier.rectangle.has_same_pipeline(later.rectangle):
            return
        assert partition.symbol is not None
        if earlier.rectangle.is_disjoint_between(later.rectangle, partition.symbol):
            return
        conflicting = earlier if writes[0] is later else later
        reason = (
            "another warpgroup of its partition may access the same bytes by the "
            f"{label(conflicting.op)}"
        )
        if earlier is later or state is None or partition.warpgroups is None or earlier.in_bulk:
            self._findings.remark(writes[0].op, reason, state)
            return
        needs = self._needs_between(earlier, later, partition.warpgroups, state)
        sync = MissingSync(earlier.op, needs, before=later.op)
        reason = f"{reason}; put {needs_text(needs)} between them"
        self._findings.remark(writes[0].op, reason, state, sync)

    def _needs_between(
        self, earlier: ExposedAccess, later: ExposedAccess, warpgroups: int, state: PartitionState
    ) -> tuple[Need, ...]:
        """Return the missing ops between accesses by several warpgroups of a partition."""
        waits = [
            need
            for read in self._kernel.in_order(state.reads)
            if read.op == earlier.op and earlier.reader is not None
            for need in read.missing
        ]
        fences = [Need(FenceOp)] if earlier.reader is None and later.is_async else []
        barrier = Need(WarpgroupBarrierOp, warpgroups=warpgroups)
        return (*dict.fromkeys(waits), *fences, barrier)
