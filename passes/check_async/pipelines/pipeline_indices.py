"""Pipeline indices: each is taken after the one before, and its stage passed on after its accesses."""

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
        recorded: receives the arrivals, and how many indices are held.
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
        self._ranks = kernel.ranks
        self._threads = threads
        self._pipeline_sides = pipeline_sides
        self._findings = findings

    # Waits.

    def wait(self, op: Op, state: PartitionState) -> None:
        """Follow an `smem.producer_acquire` or `smem.consumer_wait`."""
        pipeline_side = pipeline, side = pipeline_side_of(op)
        if not self._is_next(op, state):
            return
        held = state.held(pipeline_side)
        if held >= stages_of(pipeline):
            self._findings.error(
                op,
                f"waits forever: the {_indices(held)} before it {'is' if held == 1 else 'are'} not "
                f"{side.arrived}, and the {label(pipeline)} has {_stages(pipeline)}; put "
                f"{side.arrive_name} of one of them before it",
                state.certain,
                state,
            )
        self._check_not_own(op, state)
        self._note_held(pipeline_side, held)
        state.take(pipeline_side)

    def _note_held(self, pipeline_side: PipelineSide, held: int) -> None:
        key, most = (self._threads.partition, pipeline_side), self._recorded.taken
        most[key] = max(most.get(key, 0), held)

    def _is_next(self, op: Op, state: PartitionState) -> bool:
        """Check that the pipeline index of a wait is the next one, or one that is held.

        A producer may take the first indices without acquiring those before: their stages are empty.
        A warpgroup of a consumer may skip the indices that other warpgroups take.

        Returns:
            Whether it is the next one, or not known not to be.
        """
        pipeline_side = pipeline, side = pipeline_side_of(op)
        ahead, held = self._ranks.ahead(op, self._threads.iteration), state.held(pipeline_side)
        if ahead is None:
            self._findings.remark(op, self._on_runs(NOT_NEXT, op), state)
        elif ahead > 0:
            if self._ranks.is_initial(op, self._threads.iteration):
                state.pipelines[pipeline_side] = held + ahead
            else:
                self._findings.remark(
                    op, f"it skips {_indices(ahead)}; give it the next one", state
                )
        elif ahead < -held:
            fix = "give it the next index"
            message = f"takes a pipeline index again that is already {side.arrived}; {fix}"
            # Indices that are 2 * stages apart have the same stage and the same phase parity.
            differs = ahead % (2 * stages_of(pipeline)) != 0
            self._findings.error(op, message, state.certain and differs, state)
        elif ahead == 0 and self._ranks.begins_chunk(op):
            self._check_phase(op, state)
        return ahead is None or ahead >= 0

    def _check_phase(self, op: Op, state: PartitionState) -> None:
        """Check that the previous phase of an mbarrier is complete: a wait distinguishes two phases.

        If the chunks of all warpgroups fill the stages in whole rounds, each stage has one warpgroup,
        which has waited for the previous phase itself.
        """
        pipeline_side = pipeline, _ = pipeline_side_of(op)
        chunk, others = self._kernel.use.turns[self._threads.partition, pipeline_side]
        if stages_of(pipeline) % (others + chunk) == 0:
            return
        if self._kernel.loads(pipeline):
            reason = f"it skips {_indices(others)}, whose loads may complete later"
            self._findings.remark(op, reason, state)
        elif others >= stages_of(pipeline):
            self._findings.error(
                op,
                f"may pass too early: its warpgroup skips {_indices(others)} of other warpgroups, and "
                f"the {label(pipeline)} has {_stages(pipeline)}, so that the previous phase may not be "
                f"complete; give it {others + 1} stages or more",
                state.certain,
                state,
            )

    def _check_not_own(self, op: Op, state: PartitionState) -> None:
        """Check that a partition does not wait for an arrival that it executes itself later."""
        pipeline, side = pipeline_side_of(op)
        if PipelineSide(pipeline, side.other) not in self._pipeline_sides:
            return
        ahead = self._ranks.arrivals_by_itself(op, self._threads.iteration)
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
        if lag < state.held(pipeline_side):
            earlier = state.held(pipeline_side) - lag
            reason = f"{_indices(earlier)} before its own {'is' if earlier == 1 else 'are'} not"
            fix = f"put {side.arrive_name} of each index in the order of the waits"
            self._findings.remark(op, f"{reason} {side.arrived} yet; {fix}", state)
        if (self._threads.partition, pipeline_side) in self._kernel.use.turns:
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
        """Return how many indices were taken since, and including, an arrival's; None if not held."""
        pipeline_side = _, side = pipeline_side_of(op)
        if (
            without_wait := self._ranks.indices_without_wait(op, self._threads.iteration)
        ) is not None:
            # The stages of the first indices are empty: they need not be acquired.
            state.pipelines[pipeline_side] = state.held(pipeline_side) + without_wait
            self._note_held(pipeline_side, 0)
        lag, held = self._ranks.lag(op, self._threads.iteration), state.held(pipeline_side)
        # Indices that are all shifted by the same number may be right, because stages repeat.
        certain = state.certain and not held
        if lag is None:
            self._findings.remark(op, self._on_runs("its pipeline index is not known", op), state)
        elif lag <= 0:
            message = (
                f"{side.arrives} a pipeline index before {side.wait_name} of that index; put the wait "
                "before it"
            )
            self._findings.error(op, self._on_runs(message, op, certain), certain, state)
        elif lag > held:
            fix = "give it the next index"
            message = f"{side.arrives} a pipeline index that is already {side.arrived}; {fix}"
            self._findings.error(op, self._on_runs(message, op, certain), certain, state)
        else:
            return lag
        return None

    def _on_runs(self, reason: str, op: Op, certain: bool = False) -> str:
        """Return a reason with the runs on which the index of an op is not known, if not on all."""
        runs = "" if certain else self._ranks.unknown_runs(op)
        return f"{reason} {runs}".rstrip()

    def _check_complete(
        self, op: Op, writes: list[PendingWrite], reads: list[PendingRead], state: PartitionState
    ) -> None:
        """Check that the accesses of a stage that is committed or released are complete."""
        barrier = [Need(WarpgroupBarrierOp)]
        for write in writes:
            if self._threads.scope and not write.past_barrier:
                self._report_incomplete(op, write, "written", barrier, state)
        for read in reads:
            if read.age is not None:
                self._report_incomplete(op, read, "read", read.missing, state)
            elif self._threads.scope and read.by is not Reader.BULK and not read.past_barrier:
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
        order = MissingSync(access.op, tuple(needs))
        self._findings.error(op, f"{message}; {fix}", state.certain, state, order)


def _indices(count: int) -> str:
    return f"{count} pipeline {'indices' if count > 1 else 'index'}"


def _stages(pipeline: CreatePipelineOp) -> str:
    count = stages_of(pipeline)
    return f"{count} stage{'s' if count > 1 else ''}"
