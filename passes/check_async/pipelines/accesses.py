"""What reads and writes tiles: of a stage while its step is held, of other bytes when nothing else
does."""

from __future__ import annotations

from typing import Any

from ....dialect.effects import Access, Completion, Proxy, Scope
from ....dialect.ops import ElectOp, WarpgroupBarrierOp, WarpSpecializeOp
from ..extents import Extent
from ..polynomials import number
from ..report import at, listed
from .findings import Findings
from .kernel import Kernel, TileAccess, stages_of
from .places import Places
from .spots import Side, Spot
from .state import Read, Reader, State, Write
from .threads import Threads

#: What reads a tile, by the way and by what tells that it is over.
_READERS = {
    (Proxy.GENERIC, Completion.AT_ONCE): Reader.THREADS,
    (Proxy.ASYNC, Completion.WGMMA_GROUP): Reader.MMA,
    (Proxy.ASYNC, Completion.BULK_GROUP): Reader.BULK,
}

#: The ways in which tiles are written: by the threads' own stores, and in bulk.
_WRITES = ((Proxy.GENERIC, Completion.AT_ONCE), (Proxy.ASYNC, Completion.MBARRIER))

#: The age of a read when it begins: an mma is a group, bulk stores are in one once that is closed.
_AGES = {Reader.THREADS: None, Reader.MMA: 0, Reader.BULK: -1}


class Accesses:
    """The accesses of tiles by an partition.

    Args:
        kernel: where they are noted.
        threads: who executes the ops.
        places: finds the tiles.
        findings: takes what is wrong, or not known.
    """

    def __init__(
        self, kernel: Kernel, threads: Threads, places: Places, findings: Findings
    ) -> None:
        self._kernel = kernel
        self._threads = threads
        self._places = places
        self._findings = findings

    def follows(self, op: Any) -> bool:
        """Whether all accesses of tiles by an op are of kinds that are followed."""
        return all(
            _way(access) in (_WRITES if access.writes else _READERS)
            for _, access in self._kernel.ops.tiles(op)
        )

    def access(self, op: Any, state: State) -> None:
        """Takes an op that `follows` takes: what it reads, then what it writes."""
        tiles = self._kernel.ops.tiles(op)
        if not tiles or not self._is_by_enough(op, state):
            return
        reads = [(tile, _READERS[_way(access)]) for tile, access in tiles if not access.writes]
        if any(by is Reader.MMA for _, by in reads):
            state.start_group(Reader.MMA)
        for tile, by in reads:
            self._read(op, tile, by, state)
        if any(by is Reader.MMA for _, by in reads):
            spots = map(_registers_of, self._kernel.registers.of(op))
            state.reads |= {Read(op, spot, Reader.MMA, 0) for spot in spots}
        for tile, access in tiles:
            if access.writes and access.proxy is Proxy.GENERIC:
                self._write_by_threads(op, tile, state)
            elif access.writes:
                self._load(op, tile, state)

    def define(self, op: Any, state: State) -> None:
        """Takes an op that writes registers which an mma reads: no mma may still be reading them."""
        for read in state.reads:
            if read.spot.allocation == op and read.age is not None:
                message = f"writes registers that the {at(read.op)} may still be reading"
                put = f"{message}; put {listed(read.missing)} between them"
                self._findings.wrong(op, put, state.certain, state)

    def _is_by_enough(self, op: Any, state: State) -> bool:
        """Whether all threads execute an op that its accesses need."""
        partition, scope = self._threads.partition, op.effects.scope
        if scope >= Scope.BLOCK and not partition.whole and partition.warpgroups is not None:
            shared = "a copy" if any(access.writes for access in op.effects.accesses) else "it"
            self._findings.wrong(
                op,
                f"is executed by {partition.warpgroups} of the block's warpgroups, but all threads of the "
                f"block share {shared}; put it before the {WarpSpecializeOp.OPERATION_NAME}",
                state.certain,
                state,
            )
        if not self._threads.scope:
            return True
        if scope >= Scope.WARPGROUP:
            reason = "one thread executes it, where whole warpgroups must"
            self._findings.unknown(op, reason, state)
            return False
        if any(access.proxy is Proxy.GENERIC for _, access in self._kernel.ops.tiles(op)):
            reason = "what one thread reads and writes itself is not followed"
            self._findings.unknown(op, reason, state)
            return False
        return True

    # Writes.

    def _write_by_threads(self, op: Any, tile: Any, state: State) -> None:
        spot = self._places.spot(op, tile, state)
        if spot is not None:
            self._write(spot, Write(op, spot), state)

    def _load(self, op: Any, tile: Any, state: State) -> None:
        """A bulk load, whose bytes count for a step of a pipeline."""
        count = self._threads.count
        if count != 1:
            who = "an unknown number of" if count is None else count
            reason = f"it is executed by {who} threads, each of which loads the tile"
            self._findings.unknown(op, reason, state)
        spot = self._places.spot(op, tile, state, loads=True)
        if spot is None:
            return
        if spot.turning is None or spot.turning[1] is not Side.PRODUCER:
            reason = f"its stage is not that of a {Side.PRODUCER.begins}"
            self._findings.unknown(op, reason, state)
            return
        self._check_counts(op, spot, state)
        self._write(spot, Write(op, spot, fenced=True, met=True, in_bulk=True), state)

    def _check_counts(self, op: Any, spot: Spot, state: State) -> None:
        """Checks that the bytes of a load count for the stage that it writes."""
        assert spot.turning is not None
        pipeline = op.pipeline.owner
        if spot.turning[0] != pipeline:
            self._findings.wrong(
                op,
                f"writes a stage of the {at(spot.turning[0])}, but its bytes count for the {at(pipeline)}; "
                "take both from one pipeline",
                state.certain,
                state,
            )
            return
        ago = (state.turn(spot.turning).next - self._kernel.values.of(op.step)).constant
        if ago is None:
            self._findings.unknown(op, "it is not known for which step its bytes count", state)
        elif ago != spot.ago:
            self._findings.wrong(
                op,
                f"writes the stage of one step, but its bytes count for the one {abs(ago - spot.ago)} "
                f"{'before' if ago > spot.ago else 'after'} it; give it the step of the "
                f"{Side.PRODUCER.begins}",
                state.certain and (ago - spot.ago) % stages_of(pipeline) != 0,
                state,
            )

    def _write(self, spot: Spot, write: Write, state: State) -> None:
        if spot.turning is None:
            for read in state.reads:
                meets = read.spot.turning is None and spot.meets(read.spot)
                if meets is not False:
                    needs = [*read.missing, WarpgroupBarrierOp.OPERATION_NAME]
                    self._clash(write.op, read, "overwrites", needs, meets is True, state)
            state.filled |= {spot}
        elif not self._is_held(write.op, spot, "writes", state):
            return
        for earlier in state.writes:
            self._check_rewritten(earlier, write, state)
        state.writes |= {write}
        self._note(write.op, spot, None, state)

    def _check_rewritten(self, earlier: Write, write: Write, state: State) -> None:
        """Checks that bytes are not written by two ops at a time: an op gives each thread the same again,
        which it writes in order, and bulk loads are in no order."""
        meets = earlier.spot.is_of_same_stage(write.spot) and earlier.spot.meets(write.spot)
        again = earlier.op == write.op and earlier.spot.is_same(write.spot)
        if meets is False or (not earlier.in_bulk and (earlier.met or again)):
            return
        if earlier.in_bulk:
            needs = [f"{Side.CONSUMER.begins} of its step"]
            self._clash(write.op, earlier, "overwrites", needs, meets is True, state)
            return
        reason = (
            f"it may overwrite the {at(earlier.spot.allocation)} before the {at(earlier.op)} is over; put "
            f"{WarpgroupBarrierOp.OPERATION_NAME} between them"
        )
        self._findings.unknown(write.op, reason, state)

    # Reads.

    def _read(self, op: Any, tile: Any, by: Reader, state: State) -> None:
        in_bulk = by is Reader.BULK
        if in_bulk and not self._threads.scope:
            which = f"it is not in an {ElectOp.OPERATION_NAME}"
            reason = f"{which}: each thread that executes it stores the tile"
            self._findings.unknown(op, reason, state)
        spot = self._places.spot(op, tile, state)
        if spot is None:
            return
        if spot.turning is None:
            self._check_written(op, spot, by, state)
        elif not self._is_held(op, spot, "reads", state):
            return
        state.reads |= {Read(op, spot, by, _AGES[by], self._threads.scope if in_bulk else "")}
        self._note(op, spot, by, state)

    def _check_written(self, op: Any, spot: Spot, by: Reader, state: State) -> None:
        """Checks that what is read, of no pipeline's stage, is written, and that this is over."""
        for write in state.writes:
            meets = write.spot.turning is None and spot.meets(write.spot)
            needs = write.missing(by) if meets is not False else []
            if needs:
                self._clash(op, write, "reads", needs, meets is True, state)
        if not any(filled.covers(spot) for filled in state.filled):
            reason = f"it is not known whether what it reads of the {at(spot.allocation)} was written before"
            self._findings.unknown(op, reason, state)

    # Both.

    def _note(self, op: Any, spot: Spot, by: Reader | None, state: State) -> None:
        noted = TileAccess(self._threads.partition, op, spot.fixed(), by, state.certain)
        self._kernel.accesses[noted] = None

    def _clash(
        self, op: Any, other: Write | Read, does: str, needs: list[str], meets: bool, state: State
    ) -> None:
        message = f"{does} the {at(other.spot.allocation)} before the {at(other.op)} is over"
        put = f"{message}; put {listed(needs)} between them"
        if meets:
            self._findings.wrong(op, put, state.certain, state)
        else:
            self._findings.unknown(
                op,
                f"it is not known whether it shares bytes with the {at(other.op)}, which is not over",
                state,
            )

    def _is_held(self, op: Any, spot: Spot, verb: str, state: State) -> bool:
        """Checks that an access is of a stage that its threads have waited for, and not handed on."""
        assert spot.turning is not None
        pipeline, side = spot.turning
        turn, stages = state.turn(spot.turning), stages_of(pipeline)
        if not 1 <= spot.ago <= turn.held - spot.late:
            when = f"is {side.ended} already" if spot.ago > 0 else "is not waited for"
            put = (
                f"put it before the {side.ends}" if spot.ago > 0 else f"put {side.begins} before it"
            )
            certain = state.certain and not turn.holds_stage_of(spot.ago, stages)
            self._findings.wrong(op, f"{verb} a stage that {when}; {put}", certain, state)
            return False
        if verb == "reads" and side is Side.PRODUCER:
            released = (turn.next - number(spot.ago + stages)).least
            if released is None or released < 0:
                reason = (
                    "its stage may be of the first steps, before which no consumer has written it"
                )
                self._findings.unknown(op, reason, state)
        return True


def _registers_of(writer: Any) -> Spot:
    """The registers that an op writes for an mma."""
    one = Extent(number(0), 1, 1)
    return Spot(writer, None, 0, 0, (one, one, one))


def _way(access: Access) -> tuple[Proxy, Completion]:
    return access.proxy, access.completion
