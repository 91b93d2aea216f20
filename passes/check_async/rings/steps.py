"""Steps of rings: each is taken after the one before, and handed on once its accesses are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....dialect.ops import TmaWaitOp, WaitOp
from ..forms import Form, number
from ..report import at, listed, wait_for
from .kernel import Handover, stages_of
from .spots import Side, Turning
from .state import Read, Reader, State, Turn, Write

if TYPE_CHECKING:
    from .walker import Walker

#: Said of a step of which it is not known whether it comes next.
NOT_NEXT = "it is not known whether its step is the one after the last"


def expect(walker: Walker, op: Any, state: State, step: Form) -> bool:
    """Checks that a step is the next one, or one that is held; whether it is the next one.

    A producer may take the first steps without having acquired those before: their stages are empty. A
    warpgroup of a consumer may leave out the steps that are others' turn.
    """
    turning = ring, side = walker.kernel.turning(op)
    turn = state.turn(turning)
    if _is_first_share(walker, op, state, step):
        return True
    ahead = (step - turn.next).constant
    if ahead is None:
        walker.findings.unknown(op, NOT_NEXT, state)
    elif ahead > 0:
        first = side is Side.PRODUCER and step.constant is not None
        if first and (step.constant or 0) <= stages_of(ring):
            state.turns[turning] = turn._replace(next=step, held=turn.held + ahead)
            return True
        if turn.share is not None and (turn.taken, ahead) == (turn.share, _of_others(walker, turn)):
            _check_phase(walker, op, turning, ahead, state)
            state.turns[turning] = turn._replace(next=step, taken=0)
            return True
        walker.findings.unknown(op, f"it leaves out {_steps(ahead)}", state)
    elif ahead < -turn.held:
        message = f"takes a step again that is {side.ended}; put the next step there"
        # Steps that far apart have the same stage, and phases that no wait tells apart.
        differs = ahead % (2 * stages_of(ring)) != 0
        walker.findings.wrong(op, message, state.certain and differs, state)
    return ahead is None or ahead >= 0


def _of_others(walker: Walker, turn: Turn) -> int:
    """The steps between two turns of a warpgroup."""
    return ((walker.agent.warpgroups or 1) - 1) * (turn.share or 0)


def _is_first_share(walker: Walker, op: Any, state: State, step: Form) -> bool:
    """Whether a step is a warpgroup's first where each takes some in its turn: the first warpgroup
    begins with step 0, the next one after the steps of that, and so on."""
    turning = _, side = walker.kernel.turning(op)
    turn, symbol = state.turn(turning), walker.agent.symbol
    if side is not Side.CONSUMER or turn != Turn() or symbol is None:
        return False
    split = step.split(symbol)
    if split is None or split[0] <= 0 or split[1].constant != 0:
        return False
    turn = Turn(step, share=split[0])
    _check_phase(walker, op, turning, _of_others(walker, turn), state)
    state.turns[turning] = turn
    return True


def _check_phase(walker: Walker, op: Any, turning: Turning, ahead: int, state: State) -> None:
    """Checks that the phase before the one that is waited for is over: waits tell two phases apart."""
    ring = turning[0]
    if walker.kernel.loads(ring):
        reason = f"it leaves out {_steps(ahead)}, whose loads may arrive later"
        walker.findings.unknown(op, reason, state)
    elif ahead >= stages_of(ring):
        walker.findings.wrong(
            op,
            f"may pass too early: its warpgroup leaves out {_steps(ahead)} of others, and the "
            f"{at(ring)} has {_stages(ring)}, so that the phase before may not be over; give it "
            f"{ahead + 1} stages or more",
            state.certain,
            state,
        )


def begin(walker: Walker, op: Any, state: State) -> None:
    """`smem.producer_acquire` or `smem.consumer_wait`."""
    turning = ring, side = walker.kernel.turning(op)
    step = walker.kernel.values.of(op.operands[1])
    if not expect(walker, op, state, step):
        return
    turn = state.turn(turning)
    if turn.held >= stages_of(ring):
        walker.findings.wrong(
            op,
            f"waits for ever: {_steps(turn.held)} before it {'is' if turn.held == 1 else 'are'} not "
            f"{side.ended}, as many as the {at(ring)} has stages; put {side.ends} of one before it",
            state.certain,
            state,
        )
    _expect_of_itself(walker, op, state, step)
    held = walker.kernel.held
    held[walker.agent, turning] = max(held.get((walker.agent, turning), 0), turn.held)
    state.begin(turning, step, number(1))


def _expect_of_itself(walker: Walker, op: Any, state: State, step: Form) -> None:
    """Checks that what a role waits for is not what it does itself later."""
    ring, side = walker.kernel.turning(op)
    other = ring, side.other
    if other not in walker.turnings:
        return
    turn = state.turn(other)
    done = turn.next - number(turn.held)
    before = step if side is Side.CONSUMER else step - number(stages_of(ring))
    ahead = (done - before).constant
    if ahead is None:
        reason = f"it is not known whether its stage is {side.other.ended}"
        walker.findings.unknown(op, reason, state)
    elif ahead <= 0:
        message = f"waits for ever: its stage is {side.other.ended} later, by the same threads"
        walker.findings.wrong(
            op, f"{message}; put {side.other.ends} before it", state.certain, state
        )


def hand_on(walker: Walker, op: Any, state: State) -> None:
    """`smem.producer_commit` or `smem.consumer_release`."""
    turning = _, side = walker.kernel.turning(op)
    count = walker.threads
    if side is Side.CONSUMER:
        count = walker.agent.warpgroups
        if walker.scope:
            message = "is executed by one thread, but all threads of a warpgroup release a step"
            walker.findings.wrong(
                op, f"{message}; put it behind the smem.elect", state.certain, state
            )
    ago = _ago(walker, op, state)
    if ago is None:
        return
    turn = state.turn(turning)
    if ago < turn.held:
        walker.findings.unknown(op, f"an earlier step is not {side.ended} yet", state)
    if turn.share is not None:
        count = 1
    writes, reads = state.end(turning, ago)
    for write in writes:
        if walker.scope and not write.met:
            _not_over(walker, op, write, ["smem.warpgroup_barrier"], state)
    for read in reads:
        if read.age is not None:
            _not_over(walker, op, read, missing(read), state)
        elif walker.scope and read.by is not Reader.BULK:
            _not_over(walker, op, read, ["smem.warpgroup_barrier"], state)
    unfenced = frozenset((w.spot.root, w.op) for w in writes if not w.fenced)
    written = frozenset(w.spot.fixed()._replace(ago=0) for w in writes)
    step = walker.kernel.values.of(op.operands[1]).constant
    made = Handover(walker.agent, op, turning, step, ago, count, written, unfenced, state.certain)
    walker.kernel.handovers[made] = None


def _ago(walker: Walker, op: Any, state: State) -> int | None:
    """How long ago the step began that an op hands on; None if it cannot be handed on."""
    turning = ring, side = walker.kernel.turning(op)
    turn, step = state.turn(turning), walker.kernel.values.of(op.operands[1])
    if side is Side.PRODUCER and step.constant is not None and step.constant < stages_of(ring):
        # The stages of the first steps are empty: they need not be acquired.
        ahead = (step - turn.next).constant
        if ahead is not None and ahead >= 0:
            expect(walker, op, state, step + number(1))
            turn = state.turn(turning)
            held = walker.kernel.held
            held.setdefault((walker.agent, turning), 0)
    ago = (turn.next - step).constant
    # Steps that are all handed on late, or early, by as many may be right: rings go round.
    alone = state.certain and not turn.held
    if ago is None:
        walker.findings.unknown(op, "it is not known which step that is", state)
    elif ago <= 0:
        message = f"hands on a step that has not begun; put {side.begins} of that step before it"
        walker.findings.wrong(op, message, alone, state)
    elif ago > turn.held:
        message = f"hands on a step that is {side.ended} already; put the next step there"
        walker.findings.wrong(op, message, alone, state)
    else:
        return ago
    return None


def is_of_held(ring: Any, turn: Turn, ago: int) -> bool:
    """Whether a step that is not held has the stage of one that is."""
    return any((ago - held) % stages_of(ring) == 0 for held in range(1, turn.held + 1))


def _not_over(
    walker: Walker, op: Any, access: Read | Write, needs: list[str], state: State
) -> None:
    verb = "written" if isinstance(access, Write) else "read"
    message = f"hands on a step that may still be {verb} by the {at(access.op)}"
    walker.findings.wrong(op, f"{message}; put {listed(needs)} between them", state.certain, state)


def missing(read: Read) -> list[str]:
    """What would wait for a read."""
    if read.age is None:
        return []
    if read.by is Reader.MMA:
        return [wait_for(WaitOp, read.age)]
    waits = f"{wait_for(TmaWaitOp, max(read.age, 0))} in smem.elect"
    return [*(["smem.tma_commit"] if read.age < 0 else []), waits]


def _steps(count: int) -> str:
    return f"{count} step{'s' if count > 1 else ''}"


def _stages(ring: Any) -> str:
    count = stages_of(ring)
    return f"{count} stage{'s' if count > 1 else ''}"
