"""What a partition has done up to a point: steps of pipelines, and accesses that are not over."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

from ....dialect.ops import ElectOp, FenceOp, TmaCommitOp, TmaWaitOp, WaitOp, WarpgroupBarrierOp
from ..polynomials import Polynomial
from ..report import wait_for
from .spots import Spot, Turning


class Turn(NamedTuple):
    """Where a partition is in a pipeline.

    Attributes:
        next: the step that it takes next.
        held: how many of those before it has not handed on.
        share: how many steps in a row each of its warpgroups takes in its turn; None if all take all.
        taken: how many of them this warpgroup has taken in this turn.
    """

    next: Polynomial = Polynomial()
    held: int = 0
    share: int | None = None
    taken: int = 0

    def holds_stage_of(self, ago: int, stages: int) -> bool:
        """Whether a step that began so long ago, and is not held, has the stage of one that is."""
        return any((ago - held) % stages == 0 for held in range(1, self.held + 1))


class Reader(Enum):
    """What reads a tile: the tensor cores, the threads themselves, or a bulk store."""

    MMA, THREADS, BULK = range(3)


class Write(NamedTuple):
    """A write of a tile.

    Attributes:
        fenced: whether its threads have executed `smem.fence` since.
        met: whether a barrier of its threads came since.
        in_bulk: whether it is a bulk load, which is over when a consumer has waited for its step.
    """

    op: Any
    spot: Spot
    fenced: bool = False
    met: bool = False
    in_bulk: bool = False

    def missing(self, by: Reader) -> list[str]:
        """The ops that are missing between it and a read, in any order."""
        fences = [] if self.fenced or by is Reader.THREADS else [FenceOp.OPERATION_NAME]
        return [*fences, *([] if self.met else [WarpgroupBarrierOp.OPERATION_NAME])]


class Read(NamedTuple):
    """A read of a tile that may not be over.

    Attributes:
        age: how many groups of mma, or of bulk stores, came after its own; -1 if that is not closed, and
            None if it is waited for.
        scope: the scope of the `smem.elect` of a bulk store.
        fenced, met: whether its threads have executed `smem.fence`, and come to a barrier, since.
    """

    op: Any
    spot: Spot
    by: Reader
    age: int | None
    scope: str = ""
    fenced: bool = False
    met: bool = False

    @property
    def is_unfenced(self) -> bool:
        """Whether a bulk load of the same stage may yet come before it."""
        by_threads = self.by is Reader.THREADS and self.spot.turning is not None
        return by_threads and not self.fenced

    @property
    def missing(self) -> list[str]:
        """The ops that would wait for it."""
        if self.age is None:
            return []
        if self.by is Reader.MMA:
            return [wait_for(WaitOp, self.age)]
        commit = [TmaCommitOp.OPERATION_NAME] if self.age < 0 else []
        wait = f"{wait_for(TmaWaitOp, max(self.age, 0))} in {ElectOp.OPERATION_NAME}"
        return [*commit, wait]


@dataclass
class State:
    """A point of a path.

    Attributes:
        turns: where the partition is in each pipeline.
        filled: what was written of tiles of which no pipeline gives the stages.
        furthest: ages beyond it are the same to every wait.
        known: whether all that was done on the path is known.
        told: whether what is not known was said.
        forked: whether the path is one of several, of which no run may take this one.
    """

    furthest: int
    turns: dict[Turning, Turn] = field(default_factory=dict)
    writes: frozenset[Write] = frozenset()
    reads: frozenset[Read] = frozenset()
    filled: frozenset[Spot] = frozenset()
    known: bool = True
    told: bool = False
    forked: bool = field(default=False, compare=False)

    @property
    def certain(self) -> bool:
        """Whether some run is known to take the path."""
        return self.known and not self.forked

    def copy(self) -> State:
        """The same state, to be changed apart."""
        return replace(self, turns=dict(self.turns))

    def turn(self, turning: Turning) -> Turn:
        """Where the partition is in a pipeline."""
        return self.turns.get(turning, Turn())

    # Steps of pipelines.

    def begin(self, turning: Turning, step: Polynomial, one: Polynomial) -> None:
        """A step begins; those before are one longer ago."""
        turn = self.turn(turning)
        taken = 0 if turn.share is None else turn.taken + 1
        self.turns[turning] = Turn(step + one, turn.held + 1, turn.share, taken)

        def later(access: Any) -> Any:
            spot = access.spot
            own = spot.turning == turning
            return access._replace(spot=spot._replace(ago=spot.ago + 1)) if own else access

        self.writes = frozenset(map(later, self.writes))
        self.reads = frozenset(map(later, self.reads))

    def end(self, turning: Turning, ago: int) -> tuple[list[Write], list[Read]]:
        """A step is handed on; gives the accesses of its stage, which are no longer followed."""
        turn = self.turn(turning)
        self.turns[turning] = turn._replace(held=turn.held - 1)

        def is_own(access: Any) -> bool:
            spot = access.spot
            return spot.turning == turning and spot.ago + spot.late == ago

        writes = [write for write in self.writes if is_own(write)]
        reads = [read for read in self.reads if is_own(read)]
        self.writes -= frozenset(writes)
        self.reads -= frozenset(reads)
        return writes, reads

    # Accesses, and what orders them.

    def start_group(self, by: Reader) -> None:
        """A group of reads is closed; those before are one older."""
        self._replace_reads(by, lambda age: min(age + 1, self.furthest))

    def wait(self, by: Reader, pending: int) -> None:
        """All but the latest groups are over."""
        self._replace_reads(by, lambda age: None if age >= pending else age)

    def _replace_reads(self, by: Reader, change: Any) -> None:
        self.reads = frozenset(
            read if read.by is not by or read.age is None else read._replace(age=change(read.age))
            for read in self.reads
        )

    def fence(self) -> None:
        """The threads' own accesses are fenced."""
        self._settle(fenced=True)
        self.reads = frozenset(read._replace(fenced=True) for read in self.reads)

    def barrier(self) -> None:
        """All threads that write and read know what the others have done."""
        self._settle(met=True)
        self.reads = frozenset(
            read if read.age is not None else read._replace(met=True)
            for read in self.reads
            if read.age is not None or read.is_unfenced
        )

    def _settle(self, **what: bool) -> None:
        settled = [write._replace(**what) for write in self.writes]
        self.writes = frozenset(
            w for w in settled if not (w.fenced and w.met) or w.spot.turning is not None
        )

    # Loops.

    def leaves(self, loop: Any) -> None:
        """What changes with a loop is not known outside of an iteration."""
        self.filled = frozenset(spot.without(loop) for spot in self.filled)
        self.writes = frozenset(w._replace(spot=w.spot.without(loop)) for w in self.writes)
        self.reads = frozenset(r._replace(spot=r.spot.without(loop)) for r in self.reads)
