"""Steps of pipelines: each is taken after the one before, and handed on once its accesses are over."""

from __future__ import annotations

from typing import Any

from ....dialect.ops import ElectOp, FenceOp, WarpgroupBarrierOp
from ..polynomials import Polynomial, number
from ..report import at, listed
from .findings import Findings
from .kernel import Event, Handover, Kernel, stages_of
from .spots import Side, Turning, turning_of
from .state import Read, Reader, State, Turn, Write
from .threads import Threads

#: Said of a step of which it is not known whether it comes next.
NOT_NEXT = "it is not known whether its step is the one after the last"


class Steps:
    """The steps that an partition takes.

    Args:
        kernel: where what is handed on, and held, is noted.
        threads: who executes the ops.
        turnings: the sides of pipelines that the partition takes.
        findings: takes what is wrong, or not known.
    """

    def __init__(
        self, kernel: Kernel, threads: Threads, turnings: list[Turning], findings: Findings
    ) -> None:
        self._kernel = kernel
        self._threads = threads
        self._turnings = turnings
        self._findings = findings

    # The next one.

    def expect(self, op: Any, state: State, step: Polynomial) -> bool:
        """Checks that a step is the next one, or one that is held; whether it is the next one.

        A producer may take the first steps without having acquired those before: their stages are empty.
        A warpgroup of a consumer may leave out the steps that are others' turn.
        """
        turning = pipeline, side = turning_of(op)
        turn = state.turn(turning)
        if self._is_first_share(op, state, step):
            return True
        ahead = (step - turn.next).constant
        if ahead is None:
            self._findings.unknown(op, NOT_NEXT, state)
        elif ahead > 0:
            first = side is Side.PRODUCER and step.constant is not None
            if first and (step.constant or 0) <= stages_of(pipeline):
                state.turns[turning] = turn._replace(next=step, held=turn.held + ahead)
                return True
            in_turn = turn.share is not None and turn.taken == turn.share
            if in_turn and ahead == self._of_others(turn):
                self._check_phase(op, turning, ahead, state)
                state.turns[turning] = turn._replace(next=step, taken=0)
                return True
            self._findings.unknown(op, f"it leaves out {_steps(ahead)}", state)
        elif ahead < -turn.held:
            message = f"takes a step again that is {side.ended}; put the next step there"
            # Steps that far apart have the same stage, and phases that no wait tells apart.
            differs = ahead % (2 * stages_of(pipeline)) != 0
            self._findings.wrong(op, message, state.certain and differs, state)
        return ahead is None or ahead >= 0

    def _of_others(self, turn: Turn) -> int:
        """The steps between two turns of a warpgroup."""
        return ((self._threads.partition.warpgroups or 1) - 1) * (turn.share or 0)

    def _is_first_share(self, op: Any, state: State, step: Polynomial) -> bool:
        """Whether a step is a warpgroup's first where each takes some in its turn: the first warpgroup
        begins with step 0, the next one after the steps of that, and so on."""
        turning = _, side = turning_of(op)
        turn, symbol = state.turn(turning), self._threads.partition.symbol
        if side is not Side.CONSUMER or turn != Turn() or symbol is None:
            return False
        split = step.split(symbol)
        if split is None or split[0] <= 0 or split[1].constant != 0:
            return False
        turn = Turn(step, share=split[0])
        self._check_phase(op, turning, self._of_others(turn), state)
        state.turns[turning] = turn
        return True

    def _check_phase(self, op: Any, turning: Turning, ahead: int, state: State) -> None:
        """Checks that the phase before the one that is waited for is over: waits tell two phases
        apart."""
        pipeline = turning[0]
        if self._kernel.loads(pipeline):
            reason = f"it leaves out {_steps(ahead)}, whose loads may arrive later"
            self._findings.unknown(op, reason, state)
        elif ahead >= stages_of(pipeline):
            self._findings.wrong(
                op,
                f"may pass too early: its warpgroup leaves out {_steps(ahead)} of others, and the "
                f"{at(pipeline)} has {_stages(pipeline)}, so that the phase before may not be over; give it "
                f"{ahead + 1} stages or more",
                state.certain,
                state,
            )

    # Begun and handed on.

    def begin(self, op: Any, state: State) -> None:
        """`smem.producer_acquire` or `smem.consumer_wait`."""
        turning = pipeline, side = turning_of(op)
        step = self._kernel.values.of(op.step)
        if not self.expect(op, state, step):
            return
        turn = state.turn(turning)
        if turn.held >= stages_of(pipeline):
            self._findings.wrong(
                op,
                f"waits for ever: {_steps(turn.held)} before it {'is' if turn.held == 1 else 'are'} "
                f"not {side.ended}, as many as the {at(pipeline)} has stages; put {side.ends} of one "
                "before it",
                state.certain,
                state,
            )
        self._expect_of_itself(op, state, step)
        self._note(op, True, turning, step, state)
        key, held = (self._threads.partition, turning), self._kernel.held
        held[key] = max(held.get(key, 0), turn.held)
        state.begin(turning, step, number(1))

    def _note(self, op: Any, waits: bool, turning: Turning, step: Polynomial, state: State) -> None:
        """Notes how far the partition is in each pipeline at an event; paths that come again are noted once."""
        begun = {t: turn for t, turn in state.turns.items() if turn != Turn()}
        ahead = {t: (turn.next - step).constant for t, turn in begun.items()}
        event = Event(self._threads.partition, op, waits, turning, ahead)
        if event not in self._kernel.events:
            self._kernel.events.append(event)

    def _expect_of_itself(self, op: Any, state: State, step: Polynomial) -> None:
        """Checks that what a partition waits for is not what it does itself later."""
        pipeline, side = turning_of(op)
        other = pipeline, side.other
        if other not in self._turnings:
            return
        turn = state.turn(other)
        done = turn.next - number(turn.held)
        before = step if side is Side.CONSUMER else step - number(stages_of(pipeline))
        ahead = (done - before).constant
        if ahead is None:
            reason = f"it is not known whether its stage is {side.other.ended}"
            self._findings.unknown(op, reason, state)
        elif ahead <= 0:
            message = f"waits for ever: its stage is {side.other.ended} later, by the same threads"
            self._findings.wrong(
                op, f"{message}; put {side.other.ends} before it", state.certain, state
            )

    def hand_on(self, op: Any, state: State) -> None:
        """`smem.producer_commit` or `smem.consumer_release`."""
        turning = _, side = turning_of(op)
        count = self._threads.count
        if side is Side.CONSUMER:
            count = self._threads.partition.warpgroups
            if self._threads.scope:
                message = "is executed by one thread, but all threads of a warpgroup release a step"
                behind = f"put it behind the {ElectOp.OPERATION_NAME}"
                self._findings.wrong(op, f"{message}; {behind}", state.certain, state)
        ago = self._ago(op, state)
        if ago is None:
            return
        self._note(op, False, turning, self._kernel.values.of(op.step), state)
        turn = state.turn(turning)
        if ago < turn.held:
            self._findings.unknown(op, f"an earlier step is not {side.ended} yet", state)
        if turn.share is not None:
            count = 1
        writes, reads = state.end(turning, ago)
        self._check_over(op, writes, reads, state)
        unfenced = frozenset((w.spot.allocation, w.op) for w in writes if not w.fenced)
        written = frozenset(w.spot.fixed()._replace(ago=0) for w in writes)
        step, partition = self._kernel.values.of(op.step).constant, self._threads.partition
        made = Handover(partition, op, turning, step, ago, count, written, unfenced, state.certain)
        self._kernel.handovers[made] = None

    def _ago(self, op: Any, state: State) -> int | None:
        """How long ago the step began that an op hands on; None if it cannot be handed on."""
        turning = pipeline, side = turning_of(op)
        turn, step = state.turn(turning), self._kernel.values.of(op.step)
        if (
            side is Side.PRODUCER
            and step.constant is not None
            and step.constant < stages_of(pipeline)
        ):
            # The stages of the first steps are empty: they need not be acquired.
            ahead = (step - turn.next).constant
            if ahead is not None and ahead >= 0:
                self.expect(op, state, step + number(1))
                turn = state.turn(turning)
                self._kernel.held.setdefault((self._threads.partition, turning), 0)
        ago = (turn.next - step).constant
        # Steps that are all handed on late, or early, by as many may be right: pipelines go round.
        alone = state.certain and not turn.held
        if ago is None:
            self._findings.unknown(op, "it is not known which step that is", state)
        elif ago <= 0:
            message = (
                f"hands on a step that has not begun; put {side.begins} of that step before it"
            )
            self._findings.wrong(op, message, alone, state)
        elif ago > turn.held:
            message = f"hands on a step that is {side.ended} already; put the next step there"
            self._findings.wrong(op, message, alone, state)
        else:
            return ago
        return None

    def _check_over(self, op: Any, writes: list[Write], reads: list[Read], state: State) -> None:
        """Checks that the accesses of a stage that is handed on are over."""
        barrier = [WarpgroupBarrierOp.OPERATION_NAME]
        for write in writes:
            if self._threads.scope and not write.met:
                self._not_over(op, write, "written", barrier, state)
        for read in reads:
            if read.age is not None:
                self._not_over(op, read, "read", read.missing, state)
            elif self._threads.scope and read.by is not Reader.BULK and not read.met:
                self._not_over(op, read, "read", barrier, state)
        self._check_fenced(op, [w for w in writes if not w.fenced], "written", state)
        self._check_fenced(op, [r for r in reads if r.is_unfenced], "read", state)

    def _check_fenced(self, op: Any, unfenced: list[Any], verb: str, state: State) -> None:
        """Checks that threads have fenced their own accesses of a stage that a bulk load overwrites, by
        the async proxy (`docs/decisions/0004-fences-after-reads.md`)."""
        for access in unfenced:
            load = self._kernel.loaded.get(access.spot.allocation)
            if load is not None:
                self._findings.wrong(
                    op,
                    f"hands on a step {verb} by the {at(access.op)}, for the {at(load)} to overwrite by "
                    f"the async proxy; put {FenceOp.OPERATION_NAME} between them",
                    state.certain,
                    state,
                )

    def _not_over(
        self, op: Any, access: Read | Write, verb: str, needs: list[str], state: State
    ) -> None:
        message = f"hands on a step that may still be {verb} by the {at(access.op)}"
        put = f"{message}; put {listed(needs)} between them"
        self._findings.wrong(op, put, state.certain, state)


def _steps(count: int) -> str:
    return f"{count} step{'s' if count > 1 else ''}"


def _stages(pipeline: Any) -> str:
    count = stages_of(pipeline)
    return f"{count} stage{'s' if count > 1 else ''}"
