"""Steps of rings: each is taken after the one before, and handed on once its accesses are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..forms import Form, number
from ..report import at, listed, wait_for
from .kernel import Commit, Release, stages_of
from .spots import Side
from .state import Read, Reader, State, Turn

if TYPE_CHECKING:
    from .walker import Walker

#: Said of a step of which it is not known whether it comes next.
NOT_NEXT = "it is not known whether its step is the one after the last"


def expect(walker: Walker, op: Any, state: State, turn: Turn, step: Form) -> int | None:
    """Checks that a step is the next one, or one that is held; how many come between, if known."""
    ahead = (step - turn.next).constant
    if ahead is None:
        walker.findings.unknown(op, NOT_NEXT, state)
    elif ahead > 0:
        walker.findings.unknown(op, f"it leaves out {_steps(ahead)}", state)
    elif ahead < -turn.held:
        side = walker.kernel.turning(op)[1]
        message = f"takes a step again that is {side.ended}; put the next step there"
        walker.findings.wrong(op, message, state.certain)
    return ahead


def begin(walker: Walker, op: Any, state: State) -> None:
    """`smem.producer_acquire` or `smem.consumer_wait`."""
    turning = ring, side = walker.kernel.turning(op)
    step = walker.kernel.values.of(op.operands[1])
    turn = state.turn(turning)
    ahead = expect(walker, op, state, turn, step)
    if ahead is not None and -turn.held <= ahead < 0:
        return
    if turn.held >= stages_of(ring):
        walker.findings.wrong(
            op,
            f"waits for ever: {_steps(turn.held)} before it {'is' if turn.held == 1 else 'are'} not "
            f"{side.ended}, as many as the {at(ring)} has stages; put {side.ends} of one before it",
            state.certain,
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
        walker.findings.unknown(op, f"it is not known whether its stage is {side.other.ended}", state)
    elif ahead <= 0:
        message = f"waits for ever: its stage is {side.other.ended} later, by the same threads"
        walker.findings.wrong(op, f"{message}; put {side.other.ends} before it", state.certain)


def _ago(walker: Walker, op: Any, state: State) -> int | None:
    """How long ago the step began that an op hands on; None if it cannot be handed on."""
    turning = _, side = walker.kernel.turning(op)
    turn = state.turn(turning)
    ago = (turn.next - walker.kernel.values.of(op.operands[1])).constant
    if ago is None:
        walker.findings.unknown(op, "it is not known which step that is", state)
    elif ago <= 0:
        message = f"hands on a step that has not begun; put {side.begins} of that step before it"
        walker.findings.wrong(op, message, state.certain)
    elif ago > turn.held:
        message = f"hands on a step that is {side.ended} already; put the next step there"
        walker.findings.wrong(op, message, state.certain)
    else:
        return ago
    return None


def _in_order(walker: Walker, op: Any, state: State, ago: int) -> None:
    turning = _, side = walker.kernel.turning(op)
    if ago < state.turn(turning).held:
        walker.findings.unknown(op, f"an earlier step is not {side.ended} yet", state)


def commit(walker: Walker, op: Any, state: State) -> None:
    """`smem.producer_commit`."""
    ago = _ago(walker, op, state)
    if ago is None:
        return
    _in_order(walker, op, state, ago)
    turning = walker.kernel.turning(op)
    writes, _ = state.end(turning, ago)
    for write in writes:
        if walker.scope and not write.met:
            message = f"comes before the {at(write.op)} is over"
            needs = "put smem.warpgroup_barrier between them"
            walker.findings.wrong(op, f"{message}; {needs}", state.certain)
    unfenced = frozenset((w.spot.root, w.op) for w in writes if not w.fenced)
    written = frozenset(w.spot._replace(ago=0) for w in writes)
    made = Commit(walker.agent, op, walker.threads, written, unfenced, state.certain)
    walker.kernel.commits[made] = None


def release(walker: Walker, op: Any, state: State) -> None:
    """`smem.consumer_release`."""
    if walker.scope:
        message = "is executed by one thread, but all threads of a warpgroup release a step together"
        walker.findings.wrong(op, f"{message}; put it behind the smem.elect", state.certain)
    ago = _ago(walker, op, state)
    if ago is None:
        return
    turning = walker.kernel.turning(op)
    _, reads = state.end(turning, ago)
    for read in reads:
        if read.age is not None:
            message = f"releases a step that the {at(read.op)} may still read"
            needs = f"put {missing(read)} between them"
            walker.findings.wrong(op, f"{message}; {needs}", state.certain)
    made = Release(walker.agent, op, walker.agent.warpgroups, state.certain)
    walker.kernel.releases[made] = None
    held = state.turn(turning).held + 1
    if ago < held:
        walker.findings.unknown(op, "an earlier step is not released yet", state)


def missing(read: Read) -> str:
    """What would wait for a read that is not over."""
    if read.age is None:
        return ""
    if read.by is Reader.MMA:
        return wait_for("smem.wait", read.age)
    needs = ["smem.tma_commit"] if read.age < 0 else []
    return listed([*needs, f"{wait_for('smem.tma_wait', max(read.age, 0))} in smem.elect"])


def _steps(count: int) -> str:
    return f"{count} step{'s' if count > 1 else ''}"
