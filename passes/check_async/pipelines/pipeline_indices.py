"""Pipeline indices: each is taken after the previous one, and its stage passed on after its accesses."""

from __future__ import annotations

from ....bindings.irtypes import Op
from ....dialect.ops import CreatePipelineOp, ElectOp, FenceOp, WarpgroupBarrierOp
from ...order.needs import Need, needs_text
from ...order.report import label
from .findings import Findings, MissingSync
from .kernel import Arrival, KernelAnalysis, PartitionRecord
from .ops import PipelineSide, Side, pipeline_side_of, stages_of
from .partition import ActiveThreads
from .state import PartitionState, PendingRead, PendingWrite, Reader

#: The remark about a pipeline index that may not be the next one.
NOT_NEXT = "it is not known whether its pipeline index is the next one"


class PipelineIndices:
    """The pipeline indices that a partition takes.

    Args:
        kernel: the function.
        threads: the threads that execute the ops.
        pipeline_sides: those that the partition takes.
        recorded: receives the arrivals, and how many indices are outstanding.
        findings: receives errors and remarks.
    """

    def __init__(
        self,
        kernel: KernelAnalysis,
        threads: ActiveThreads,
        pipeline_sides: list[PipelineSide],
        recorded: PartitionRecord,
        findings: Findings,
    ) -> None:
        self._kernel = kernel
        self._recorded = recorded
        self._relative_indices = kernel.relative_indices
        self._threads = threads
        self._pipeline_sides = pipeline_sides
        self._findings = findings

    # Waits.

    def wait(self, op: Op, state: PartitionState) -> None:
        """Follow an `smem.producer_acquire` or `smem.consumer_wait`."""
        pipeline_side = pipeline, side = pipeline_side_of(op)
        if not self._is_next(op, state):
            return
        outstanding = state.outstanding(pipeline_side)
        if outstanding >= stages_of(pipeline):
            self._findings.error(
                op,
                f"waits forever: the {_indices(outstanding)} before it "
                f"{'is' if outstanding == 1 else 'are'} not {side.arrived}, and the {label(pipeline)} "
                f"has {_stages(pipeline)}; put {side.arrive_name} of one of them before it",
                state.certain,
                state,
            )
        self._check_not_own(op, state)
        self._note_outstanding(pipeline_side, outstanding)
        state.acquire(pipeline_side)

    def _note_outstanding(self, pipeline_side: PipelineSide, outstanding: int) -> None:
        key, most = (self._threads.partition, pipeline_side), self._recorded.most_outstanding
        most[key] = max(most.get(key, 0), outstanding)

    def _is_next(self, op: Op, state: PartitionState) -> bool:
        """Check that the pipeline index of a wait is the next one, or an outstanding one.

        A producer may take the first indices without acquiring those before: their stages are empty.
        A warpgroup of a consumer may skip the indices that other warpgroups take.

        Returns:
            Whether it may be the next one.
        """
        pipeline_side = pipeline, side = pipeline_side_of(op)
        ahead = self._relative_indices.ahead(op, self._threads.iteration)
        outstanding = state.outstanding(pipeline_side)
        if ahead is None:
            self._findings.remark(op, self._on_runs(NOT_NEXT, op), state)
        elif ahead > 0:
            if self._relative_indices.is_initial(op, self._threads.iteration):
                state.pipelines[pipeline_side] = outstanding + ahead
            else:
                self._findings.remark(
                    op, f"it skips {_indices(ahead)}; give it the next one", state
                )
        elif ahead < -outstanding:
            fix = "give it the next index"
            message = f"takes a pipeline index again that is already {side.arrived}; {fix}"
            # Indices that are 2 * stages apart have the same stage and the same phase parity.
            differs = ahead % (2 * stages_of(pipeline)) != 0
            self._findings.error(op, message, state.certain and differs, state)
        elif ahead == 0 and self._relative_indices.begins_chunk(op):
            self._check_phase(op, state)
        return ahead is None or ahead >= 0

    def _check_phase(self, op: Op, state: PartitionState) -> None:
        """Check that the previous phase of an mbarrier is complete: a wait distinguishes two phases.

        If the chunks of all warpgroups fill the stages in whole rounds, each stage has one warpgroup,
        which has waited for the previous phase itself.
        """
        pipeline_side = pipeline, _ = pipeline_side_of(op)
        chunk, skipped = self._kernel.use.round_robins[self._threads.partition, pipeline_side]
        if stages_of(pipeline) % (skipped + chunk) == 0:
            return
        if self._kernel.loads(pipeline):
            reason = f"it skips {_indices(skipped)}, whose loads may complete later"
            self._findings.remark(op, reason, state)
        elif skipped >= stages_of(pipeline):
            self._findings.error(
                op,
                f"may pass too early: its warpgroup skips {_indices(skipped)} of other warpgroups, and "
                f"the {label(pipeline)} has {_stages(pipeline)}, so that the previous phase may not be "
                f"complete; give it {skipped + 1} stages or more",
                state.certain,
                state,
            )

    def _check_not_own(self, op: Op, state: PartitionState) -> None:
        """Check that a partition does not wait for an arrival that it executes itself later."""
        pipeline, side = pipeline_side_of(op)
        if PipelineSide(pipeline, side.other) not in self._pipeline_sides:
            return
        ahead = self._relative_indices.arrivals_by_itself(op, self._threads.iteration)
        if ahead is None:
            reason = f"it is not known whether its stage is {side.other.arrived}"
            self._findings.remark(op, self._on_runs(reason, op), state)
        elif ahead <= 0:
            message = f"waits forever: its stage is {side.other.arrived} later, by the same threads"
            self._findings.error(
                op, f"{message}; put {side.other.arrive_name} before it", state.certain, state
            )

    # Arrivals.

    def arrive(self, op: Op, state: PartitionState) -> None:
        """Follow an `smem.producer_commit` or `smem.consumer_release`."""
        pipeline_side = _, side = pipeline_side_of(op)
        count = self._threads.count
        if side is Side.CONSUMER:
            count = self._threads.partition.warpgroups
            if self._threads.scope:
                message = (
                    "is executed by one thread, but all threads of a warpgroup release a stage"
                )
                after = f"put it after the {ElectOp.OPERATION_NAME}"
                self._findings.error(op, f"{message}; {after}", state.certain, state)
        lag = self._lag(op, state)
        if lag is None:
            return
        if lag < state.outstanding(pipeline_side):
            earlier = state.outstanding(pipeline_side) - lag
            reason = f"{_indices(earlier)} before its own {'is' if earlier == 1 else 'are'} not"
            fix = f"put {side.arrive_name} of each index in the order of the waits"
            self._findings.remark(op, f"{reason} {side.arrived} yet; {fix}", state)
        if (self._threads.partition, pipeline_side) in self._kernel.use.round_robins:
            count = 1
        writes, reads = state.arrive(pipeline_side, lag)
        in_order = self._kernel.in_order
        self._check_complete(op, in_order(writes), in_order(reads), state)
        unfenced = frozenset((w.rectangle.allocation, w.op) for w in writes if not w.fenced)
        written = frozenset(w.rectangle.without_variables()._replace(lag=0) for w in writes)
        arrival = Arrival(
            self._threads.partition,
            op,
            pipeline_side,
            self._kernel.values.polynomial(op.index).constant,
            lag,
            count,
            written,
            unfenced,
            state.certain,
        )
        self._recorded.arrivals[arrival] = None

    def _lag(self, op: Op, state: PartitionState) -> int | None:
        """Return how many indices were taken since that of an arrival, including it; None if it is not
        outstanding."""
        pipeline_side = _, side = pipeline_side_of(op)
        if (
            without_wait := self._relative_indices.indices_without_wait(op, self._threads.iteration)
        ) is not None:
            # The stages of the first indices are empty: they need not be acquired.
            state.pipelines[pipeline_side] = state.outstanding(pipeline_side) + without_wait
            self._note_outstanding(pipeline_side, 0)
        lag = self._relative_indices.lag(op, self._threads.iteration)
        outstanding = state.outstanding(pipeline_side)
        # Indices that are all shifted by the same number may be right, because stages repeat.
        certain = state.certain and not outstanding
        if lag is None:
            self._findings.remark(op, self._on_runs("its pipeline index is not known", op), state)
        elif lag <= 0:
            message = (
                f"{side.arrives} a pipeline index before {side.wait_name} of that index; put the wait "
                "before it"
            )
            self._findings.error(op, self._on_runs(message, op, certain), certain, state)
        elif lag > outstanding:
            fix = "give it the next index"
            message = f"{side.arrives} a pipeline index that is already {side.arrived}; {fix}"
            self._findings.error(op, self._on_runs(message, op, certain), certain, state)
        else:
            return lag
        return None

    def _on_runs(self, reason: str, op: Op, certain: bool = False) -> str:
        """Append the runs on which the index of an op is not known to a reason, if these are not all."""
        runs = "" if certain else self._relative_indices.unknown_runs(op)
        return f"{reason} {runs}".rstrip()

    def _check_complete(
        self, op: Op, writes: list[PendingWrite], reads: list[PendingRead], state: PartitionState
    ) -> None:
        """Check that the accesses of a committed or released stage are complete."""
        barrier = [Need(WarpgroupBarrierOp)]
        for write in writes:
            if self._threads.scope and not write.past_barrier:
                self._report_incomplete(op, write, "written", barrier, state)
        for read in reads:
            if read.age is not None:
                self._report_incomplete(op, read, "read", read.missing, state)
            elif self._threads.scope and read.reader is not Reader.BULK and not read.past_barrier:
                self._report_incomplete(op, read, "read", barrier, state)
        self._check_fenced(op, [w for w in writes if not w.fenced], "written", state)
        self._check_fenced(op, [r for r in reads if r.is_unfenced], "read", state)

    def _check_fenced(
        self,
        op: Op,
        unfenced: list[PendingWrite] | list[PendingRead],
        verb: str,
        state: PartitionState,
    ) -> None:
        """Check that threads have fenced their own accesses of a stage that a bulk load overwrites.

        The load writes by the async proxy (`docs/why/order-and-proofs.md`).
        """
        arrives = pipeline_side_of(op).side.arrives
        for access in unfenced:
            load = self._kernel.loaded.get(access.rectangle.allocation)
            if load is not None:
                self._findings.error(
                    op,
                    f"{arrives} a stage {verb} by the {label(access.op)}, which the {label(load)} "
                    f"overwrites by the async proxy; put {FenceOp.OPERATION_NAME} between them",
                    state.certain,
                    state,
                    MissingSync(access.op, (Need(FenceOp),)),
                )

    def _report_incomplete(
        self,
        op: Op,
        access: PendingRead | PendingWrite,
        verb: str,
        needs: list[Need],
        state: PartitionState,
    ) -> None:
        arrives = pipeline_side_of(op).side.arrives
        message = f"{arrives} a stage that may still be {verb} by the {label(access.op)}"
        fix = f"put {needs_text(needs)} between them"
        sync = MissingSync(access.op, tuple(needs))
        self._findings.error(op, f"{message}; {fix}", state.certain, state, sync)


def _indices(count: int) -> str:
    return f"{count} pipeline {'indices' if count > 1 else 'index'}"


def _stages(pipeline: CreatePipelineOp) -> str:
    count = stages_of(pipeline)
    return f"{count} stage{'s' if count > 1 else ''}"
