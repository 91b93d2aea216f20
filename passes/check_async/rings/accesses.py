"""What reads and writes tiles, and what puts that in order among the threads of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....dialect.bindings import ir
from ....dialect.types import TileType
from ..forms import number
from ..report import at, listed
from .kernel import Access, stages_of
from .spots import Side, Spot
from .state import Read, Reader, State, Write
from .steps import is_of_held, missing

if TYPE_CHECKING:
    from .walker import Walker


# Writes.


def load_tile(walker: Walker, op: Any, state: State) -> None:
    """`smem.tma_load`."""
    if walker.threads != 1:
        count = "an unknown number of" if walker.threads is None else walker.threads
        reason = f"it is executed by {count} threads, each of which loads the tile"
        walker.findings.unknown(op, reason, state)
    spot = walker.spot(op, op.operands[1], state)
    if spot is None:
        return
    if spot.turning is None or spot.turning[1] is not Side.PRODUCER:
        reason = f"its stage is not that of a {Side.PRODUCER.begins}"
        walker.findings.unknown(op, reason, state)
        return
    _counts_for(walker, op, spot, state)
    _write(walker, op, spot, state, Write(op, spot, fenced=True, met=True))


def _counts_for(walker: Walker, op: Any, spot: Spot, state: State) -> None:
    """Checks that the bytes of a load count for the stage that it writes."""
    assert spot.turning is not None
    ring = op.operands[2].owner.operation
    if spot.turning[0] != ring:
        walker.findings.wrong(
            op,
            f"writes a stage of the {at(spot.turning[0])}, but its bytes count for the {at(ring)}; "
            "take both from one ring",
            state.certain,
            state,
        )
        return
    ago = (state.turn(spot.turning).next - walker.kernel.values.of(op.operands[3])).constant
    if ago is None:
        walker.findings.unknown(op, "it is not known for which step its bytes count", state)
    elif ago != spot.ago:
        walker.findings.wrong(
            op,
            f"writes the stage of one step, but its bytes count for the one {abs(ago - spot.ago)} "
            f"{'before' if ago > spot.ago else 'after'} it; give it the step of the "
            f"{Side.PRODUCER.begins}",
            state.certain and (ago - spot.ago) % stages_of(ring) != 0,
            state,
        )


def store(walker: Walker, op: Any, state: State) -> None:
    """`smem.store`, to a tile."""
    if isinstance(op.operands[1].type, TileType):
        _write_by_threads(walker, op, state)


def copy(walker: Walker, op: Any, state: State) -> None:
    """`smem.copy`."""
    if not walker.agent.whole and walker.agent.warpgroups is not None:
        walker.findings.wrong(
            op,
            f"is executed by {walker.agent.warpgroups} of the block's warpgroups, but all threads of "
            "the block share a copy; put it before the smem.roles",
            state.certain,
            state,
        )
    load(walker, op, state)
    _write_by_threads(walker, op, state)


def _write_by_threads(walker: Walker, op: Any, state: State) -> None:
    if walker.scope:
        walker.findings.unknown(op, "one thread executes it, where whole warpgroups must", state)
        return
    spot = walker.spot(op, op.operands[1], state)
    if spot is not None:
        _write(walker, op, spot, state, Write(op, spot))


def _write(walker: Walker, op: Any, spot: Spot, state: State, write: Write) -> None:
    if spot.turning is None:
        for read in state.reads:
            meets = read.spot.turning is None and spot.meets(read.spot)
            if meets is not False:
                needs = [*missing(read), "smem.warpgroup_barrier"]
                _clash(walker, op, read, "overwrites", needs, meets is True, state)
        state.filled |= {spot}
    elif not _is_held(walker, op, spot, "writes", state):
        return
    state.writes |= {write}
    walker.kernel.accesses[Access(walker.agent, op, spot.fixed(), True, state.certain)] = None


# Reads.


def multiply(walker: Walker, op: Any, state: State) -> None:
    """`smem.mma` and its like."""
    if walker.scope:
        walker.findings.unknown(op, "one thread executes it, where whole warpgroups must", state)
        return
    state.start_group(Reader.MMA)
    for tile in op.operands:
        if isinstance(tile.type, TileType):
            _read(walker, op, tile, Reader.MMA, 0, state)


def load(walker: Walker, op: Any, state: State) -> None:
    """`smem.load`, or the first half of `smem.copy`, of a tile."""
    if not isinstance(op.operands[0].type, TileType):
        return
    if walker.scope:
        walker.findings.unknown(op, "one thread executes it, where whole warpgroups must", state)
        return
    _read(walker, op, op.operands[0], Reader.THREADS, None, state)


def store_tile(walker: Walker, op: Any, state: State) -> None:
    """`smem.tma_store`."""
    if not walker.scope:
        reason = "it is not in an smem.elect: each thread that executes it stores the tile"
        walker.findings.unknown(op, reason, state)
    _read(walker, op, op.operands[0], Reader.BULK, -1, state)


def _read(walker: Walker, op: Any, tile: Any, by: Reader, age: int | None, state: State) -> None:
    spot = walker.spot(op, tile, state)
    if spot is None:
        return
    if spot.turning is None:
        for write in state.writes:
            meets = write.spot.turning is None and spot.meets(write.spot)
            needs = _needs(write, by) if meets is not False else []
            if needs:
                _clash(walker, op, write, "reads", needs, meets is True, state)
        if not any(filled.covers(spot) for filled in state.filled):
            reason = (
                f"it is not known whether what it reads of the {at(spot.root)} was written before"
            )
            walker.findings.unknown(op, reason, state)
    elif not _is_held(walker, op, spot, "reads", state):
        return
    state.reads |= {Read(op, spot, by, age, walker.scope if by is Reader.BULK else "")}
    walker.kernel.accesses[Access(walker.agent, op, spot.fixed(), False, state.certain)] = None


def _needs(write: Write, by: Reader) -> list[str]:
    """What is missing between a write and a read of it, in any order."""
    fenced = write.fenced or by is Reader.THREADS
    return [*([] if fenced else ["smem.fence"]), *([] if write.met else ["smem.warpgroup_barrier"])]


def _clash(
    walker: Walker,
    op: Any,
    other: Write | Read,
    does: str,
    needs: list[str],
    meets: bool,
    state: State,
) -> None:
    message = f"{does} the {at(other.spot.root)} before the {at(other.op)} is over"
    put = f"{message}; put {listed(needs)} between them"
    if meets:
        walker.findings.wrong(op, put, state.certain, state)
    else:
        walker.findings.unknown(
            op,
            f"it is not known whether it shares bytes with the {at(other.op)}, which is not over",
            state,
        )


def _is_held(walker: Walker, op: Any, spot: Spot, verb: str, state: State) -> bool:
    """Checks that an access is of a stage that its threads have waited for, and not handed on."""
    assert spot.turning is not None
    ring, side = spot.turning
    turn = state.turn(spot.turning)
    if not 1 <= spot.ago <= turn.held - spot.late:
        when = f"is {side.ended} already" if spot.ago > 0 else "is not waited for"
        put = f"put it before the {side.ends}" if spot.ago > 0 else f"put {side.begins} before it"
        certain = state.certain and not is_of_held(ring, turn, spot.ago)
        walker.findings.wrong(op, f"{verb} a stage that {when}; {put}", certain, state)
        return False
    if verb == "reads" and side is Side.PRODUCER:
        released = (turn.next - number(spot.ago + stages_of(ring))).least
        if released is None or released < 0:
            reason = "its stage may be of the first steps, before which no consumer has written it"
            walker.findings.unknown(op, reason, state)
    return True


# What orders them.


def wait(walker: Walker, op: Any, state: State) -> None:
    """`smem.wait`."""
    state.wait(Reader.MMA, _pending(op))


def commit_stores(walker: Walker, op: Any, state: State) -> None:
    """`smem.tma_commit`."""
    if _is_by_all_that_stored(walker, op, state):
        state.start_group(Reader.BULK)


def wait_for_stores(walker: Walker, op: Any, state: State) -> None:
    """`smem.tma_wait`."""
    if _is_by_all_that_stored(walker, op, state):
        state.wait(Reader.BULK, _pending(op))


def _is_by_all_that_stored(walker: Walker, op: Any, state: State) -> bool:
    """Whether the threads that wait for bulk stores, or close their groups, are those that began them."""
    if walker.agent.warpgroups == 1 or not walker.scope:
        return True
    stored = [read for read in state.reads if read.by is Reader.BULK]
    if all(read.scope == walker.scope for read in stored):
        return True
    walker.findings.unknown(op, "other threads than those that stored may execute it", state)
    return False


def fence(walker: Walker, op: Any, state: State) -> None:
    """`smem.fence`; what one thread fences is not followed."""
    if walker.scope:
        state.known = False
    else:
        state.fence()


def warpgroup_barrier(walker: Walker, op: Any, state: State) -> None:
    """`smem.warpgroup_barrier`."""
    if walker.scope:
        walker.findings.unknown(op, "one thread executes it, where whole warpgroups must", state)
    elif walker.agent.symbol is None and walker.agent.warpgroups != 1:
        walker.findings.unknown(op, "only threads of one warpgroup meet, but all may write", state)
    else:
        state.barrier()


def block_barrier(walker: Walker, op: Any, state: State) -> None:
    """`gpu.barrier`."""
    if walker.scope or not walker.agent.whole:
        walker.findings.unknown(op, "not all threads of the block execute it", state)
    else:
        state.barrier()


def _pending(op: Any) -> int:
    return ir.IntegerAttr(op.attributes["pending"]).value
