"""Pipeline indices: each is taken after the one before, and its stage passed on after its accesses."""

from __future__ import annotations

from ....dialect.irtypes import Op
from ....dialect.ops import CreatePipelineOp, ElectOp, FenceOp, WarpgroupBarrierOp
from ...order.needs import Need, listed
from ...order.report import at
from ..polynomials import Polynomial, number
from .findings import Findings, Order
from .kernel import Arrival, Event, Kernel, Turn, stages_of
from .pipeline_sides import PipelineSide, Side, pipeline_side_of
from .state import PipelineState, Read, Reader, State, Write
from .threads import Threads

#: The remark about a pipeline index that may not be the next one.
NOT_NEXT = "it is not known whether its pipeline index is the next one"


class PipelineIndices:
    """The pipeline indices that a partition takes.

    Args:
        kernel: its arrivals, events and held indices are recorded in it.
        threads: the threads that execute the ops.
        pipeline_sides: those that the partition takes.
        findings: receives errors and remarks.
    """

    def __init__(
        self,
        kernel: Kernel,
        threads: Threads,
        pipeline_sides: list[PipelineSide],
        findings: Findings,
    ) -> None:
        self._kernel = kernel
        self._threads = threads
        self._pipeline_sides = pipeline_sides
        self._findings = findings

    # The next one.

    def expect(self, op: Op, state: State, index: Polynomial) -> bool:
        """Check that a pipeline index is the next one, or one that is held.

        A producer may take the first indices without acquiring those before: their stages are empty.
        A warpgroup of a consumer may skip the indices that other warpgroups take.

        Returns:
            Whether it is the next one, or not known not to be.
        """
        pipeline_side = pipeline, side = pipeline_side_of(op)
        before = state.pipeline_state(pipeline_side)
        if self._is_first_chunk(op, state, index):
            return True
        ahead = (index - before.next_index).constant
        if ahead is None:
            self._findings.remark(op, NOT_NEXT, state)
        elif ahead > 0:
            first = side is Side.PRODUCER and index.constant is not None
            if first and (index.constant or 0) <= stages_of(pipeline):
                state.pipelines[pipeline_side] = before._replace(
                    next_index=index, held=before.held + ahead
                )
                return True
            is_chunk_over = before.chunk is not None and before.in_chunk == before.chunk
            if is_chunk_over and ahead == self._of_other_warpgroups(before):
                self._check_phase(op, before, ahead, state)
                state.pipelines[pipeline_side] = before._replace(next_index=index, in_chunk=0)
                return True
            self._findings.remark(op, f"it skips {_indices(ahead)}", state)
        elif ahead < -before.held:
            fix = "give it the next index"
            message = f"takes a pipeline index again that is already {side.arrived}; {fix}"
            # Indices that are 2 * stages apart have the same stage and the same phase parity.
            differs = ahead % (2 * stages_of(pipeline)) != 0
            self._findings.error(op, message, state.certain and differs, state)
        return ahead is None or ahead >= 0

    def _of_other_warpgroups(self, taken: PipelineState) -> int:
        """Return how many indices other warpgroups take between two chunks of one warpgroup."""
        return ((self._threads.partition.warpgroups or 1) - 1) * (taken.chunk or 0)

    def _is_first_chunk(self, op: Op, state: State, index: Polynomial) -> bool:
        """Whether an index begins a warpgroup's first chunk, where the warpgroups alternate.

        The first warpgroup begins with index 0, the next one after the chunk of the first, and so on.
        """
        pipeline_side = _, side = pipeline_side_of(op)
        before, symbol = state.pipeline_state(pipeline_side), self._threads.partition.symbol
        if side is not Side.CONSUMER or before != PipelineState() or symbol is None:
            return False
        split = index.split(symbol)
        if split is None or split[0] <= 0 or split[1].constant != 0:
            return False
        first = PipelineState(index, chunk=split[0])
        self._check_phase(op, first, self._of_other_warpgroups(first), state)
        state.pipelines[pipeline_side] = first
        return True

    def _check_phase(self, op: Op, taken: PipelineState, ahead: int, state: State) -> None:
        """Check that the previous phase of an mbarrier is complete: a wait distinguishes two phases.

        If the chunks of all warpgroups fill the stages in whole rounds, each stage has one warpgroup,
        which has waited for the previous phase itself.
        """
        pipeline = pipeline_side_of(op).pipeline
        if stages_of(pipeline) % (ahead + (taken.chunk or 0)) == 0:
            return
        if self._kernel.loads(pipeline):
            reason = f"it skips {_indices(ahead)}, whose loads may complete later"
            self._findings.remark(op, reason, state)
        elif ahead >= stages_of(pipeline):
            self._findings.error(
                op,
                f"may pass too early: its warpgroup skips {_indices(ahead)} of other warpgroups, and the "
                f"{at(pipeline)} has {_stages(pipeline)}, so that the previous phase may not be "
                f"complete; give it {ahead + 1} stages or more",
                state.certain,
                state,
            )

    # Waits.

    def wait(self, op: Op, state: State) -> None:
        """Follow an `smem.producer_acquire` or `smem.consumer_wait`."""
        pipeline_side = pipeline, side = pipeline_side_of(op)
        index = self._kernel.values.of(op.index)
        if not self.expect(op, state, index):
            return
        held = state.pipeline_state(pipeline_side).held
        if held >= stages_of(pipeline):
            self._findings.error(
                op,
                f"waits forever: the {_indices(held)} before it {'is' if held == 1 else 'are'} not "
                f"{side.arrived}, and the {at(pipeline)} has {_stages(pipeline)}; put {side.arrive_name} "
                "of one of them before it",
                state.certain,
                state,
            )
        self._check_not_own(op, state, index)
        self._record(op, True, pipeline_side, index, state)
        key, most = (self._threads.partition, pipeline_side), self._kernel.held
        most[key] = max(most.get(key, 0), held)
        state.take(pipeline_side, index + number(1))

    def _record(
        self, op: Op, waits: bool, pipeline_side: PipelineSide, index: Polynomial, state: State
    ) -> None:
        """Record how far the partition is in each pipeline at an event, equal events once."""
        begun = {side: taken for side, taken in state.pipelines.items() if taken != PipelineState()}
        ahead = {side: (taken.next_index - index).constant for side, taken in begun.items()}
        turns = {
            side: Turn(taken.chunk, taken.in_chunk, taken.held)
            for side, taken in begun.items()
            if taken.chunk is not None
        }
        event = Event(self._threads.partition, op, waits, pipeline_side, ahead, turns)
        if event not in self._kernel.events:
            self._kernel.events.append(event)

    def _check_not_own(self, op: Op, state: State, index: Polynomial) -> None:
        """Check that a partition does not wait for an arrival that it executes itself later."""
        pipeline, side = pipeline_side_of(op)
        other = PipelineSide(pipeline, side.other)
        if other not in self._pipeline_sides:
            return
        taken = state.pipeline_state(other)
        arrived = taken.next_index - number(taken.held)
        needed = index if side is Side.CONSUMER else index - number(stages_of(pipeline))
        ahead = (arrived - needed).constant
        if ahead is None:
            reason = f"it is not known whether its stage is {side.other.arrived}"
            self._findings.remark(op, reason, state)
        elif ahead <= 0:
            message = f"waits forever: its stage is {side.other.arrived} later, by the same threads"
            self._findings.error(
                op, f"{message}; put {side.other.arrive_name} before it", state.certain, state
            )

    # Arrivals.

    def arrive(self, op: Op, state: State) -> None:
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
        index = self._kernel.values.of(op.index)
        self._record(op, False, pipeline_side, index, state)
        taken = state.pipeline_state(pipeline_side)
        if lag < taken.held:
            self._findings.remark(op, f"an earlier stage is not {side.arrived} yet", state)
        if taken.chunk is not None:
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
            index.constant,
            lag,
            count,
            written,
            unfenced,
            state.certain,
        )
        self._kernel.arrivals[arrival] = None

    def _lag(self, op: Op, state: State) -> int | None:
        """Return how many indices were taken since, and including, an arrival's; None if not held."""
        pipeline_side = pipeline, side = pipeline_side_of(op)
        taken, index = state.pipeline_state(pipeline_side), self._kernel.values.of(op.index)
        if (
            side is Side.PRODUCER
            and index.constant is not None
            and index.constant < stages_of(pipeline)
        ):
            # The stages of the first indices are empty: they need not be acquired.
            ahead = (index - taken.next_index).constant
            if ahead is not None and ahead >= 0:
                self.expect(op, state, index + number(1))
                taken = state.pipeline_state(pipeline_side)
                self._kernel.held.setdefault((self._threads.partition, pipeline_side), 0)
        lag = (taken.next_index - index).constant
        # Indices that are all shifted by the same number may be right, because stages repeat.
        certain = state.certain and not taken.held
        if lag is None:
            self._findings.remark(op, "its pipeline index is not known", state)
        elif lag <= 0:
            message = (
                f"{side.arrives} a pipeline index before {side.wait_name} of that index; put the wait "
                "before it"
            )
            self._findings.error(op, message, certain, state)
        elif lag > taken.held:
            fix = "give it the next index"
            message = f"{side.arrives} a pipeline index that is already {side.arrived}; {fix}"
            self._findings.error(op, message, certain, state)
        else:
            return lag
        return None

    def _check_complete(self, op: Op, writes: list[Write], reads: list[Read], state: State) -> None:
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
        self, op: Op, unfenced: list[Write] | list[Read], verb: str, state: State
    ) -> None:
        """Check that threads have fenced their own accesses of a stage that a bulk load overwrites.

        The load writes by the async proxy (`docs/decisions/0004-fences-after-reads.md`).
        """
        arrives = pipeline_side_of(op).side.arrives
        for access in unfenced:
            load = self._kernel.loaded.get(access.rectangle.allocation)
            if load is not None:
                self._findings.error(
                    op,
                    f"{arrives} a stage {verb} by the {at(access.op)}, which the {at(load)} overwrites "
                    f"by the async proxy; put {FenceOp.OPERATION_NAME} between them",
                    state.certain,
                    state,
                    Order(access.op, (Need(FenceOp),)),
                )

    def _report_incomplete(
        self, op: Op, access: Read | Write, verb: str, needs: list[Need], state: State
    ) -> None:
        arrives = pipeline_side_of(op).side.arrives
        message = f"{arrives} a stage that may still be {verb} by the {at(access.op)}"
        fix = f"put {listed(needs)} between them"
        order = Order(access.op, tuple(needs))
        self._findings.error(op, f"{message}; {fix}", state.certain, state, order)


def _indices(count: int) -> str:
    return f"{count} pipeline {'indices' if count > 1 else 'index'}"


def _stages(pipeline: CreatePipelineOp) -> str:
    count = stages_of(pipeline)
    return f"{count} stage{'s' if count > 1 else ''}"
