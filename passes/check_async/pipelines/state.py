"""The abstract state of a partition: the stages that it holds, and accesses that may not be complete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple, TypeVar

from ....bindings.irtypes import Op
from ....dialect.ops import FenceOp, TmaCommitOp, TmaWaitOp, WaitOp, WarpgroupBarrierOp
from ....ir.op_address import OpIdentity
from ...order.needs import Need
from ..polynomials import Symbol
from ..values import Values
from .pipeline_sides import PipelineSide
from .tile_rectangles import TileRectangle


class Reader(Enum):
    """What reads a tile: the tensor cores, the threads themselves, or a bulk store."""

    MMA, THREADS, BULK = range(3)

    # Enum hashes names, in Python.
    __hash__ = object.__hash__


class Write(NamedTuple):
    """A write of a tile.

    Attributes:
        fenced: whether its threads have executed `smem.fence` since.
        past_barrier: whether a barrier of its threads came since.
        in_bulk: whether it is a bulk load, which is complete when a consumer has waited for its stage.
    """

    op: Op
    rectangle: TileRectangle
    fenced: bool = False
    past_barrier: bool = False
    in_bulk: bool = False

    def missing(self, by: Reader) -> list[Need]:
        """Return the ops that are missing between the write and a read, in any order."""
        fences = [] if self.fenced or by is Reader.THREADS else [Need(FenceOp)]
        return [*fences, *([] if self.past_barrier else [Need(WarpgroupBarrierOp)])]


class Read(NamedTuple):
    """A read of a tile that may not be complete.

    Attributes:
        age: how many groups of mma, or of bulk stores, came after its own; -1 if its own is not
            committed, None if the read was waited for.
        scope: the scope of the `smem.elect` around a bulk store.
        fenced, past_barrier: whether its threads have executed `smem.fence`, and a barrier, since.
    """

    op: Op
    rectangle: TileRectangle
    by: Reader
    age: int | None
    scope: str = ""
    fenced: bool = False
    past_barrier: bool = False

    @property
    def is_unfenced(self) -> bool:
        """Whether a later bulk load of the same stage may be performed before the read."""
        by_threads = self.by is Reader.THREADS and self.rectangle.pipeline_side is not None
        return by_threads and not self.fenced

    @property
    def missing(self) -> list[Need]:
        """The ops that would wait for the read."""
        if self.age is None:
            return []
        if self.by is Reader.MMA:
            return [Need(WaitOp, self.age)]
        commit = [Need(TmaCommitOp)] if self.age < 0 else []
        return [*commit, Need(TmaWaitOp, max(self.age, 0), elected=True, read=True)]


class Exposed(NamedTuple):
    """An access by a warpgroup of a partition that others of the partition are not ordered after.

    Attributes:
        rectangle: without what changes while the partition runs.
        by: what reads it; None for a write.
        in_bulk: whether it is a bulk load.
        past_barrier: whether a barrier of all of them came since, but no fence before that: a write that
            the tensor cores and bulk copies may not see.
    """

    op: Op
    rectangle: TileRectangle
    by: Reader | None
    in_bulk: bool = False
    past_barrier: bool = False

    @property
    def is_async(self) -> bool:
        """Whether it is by the async proxy."""
        return self.in_bulk or self.by in (Reader.MMA, Reader.BULK)


_Access = TypeVar("_Access", Read, Write)


#: The attributes of a state that say what was written.
_FILLED = ("filled", "filled_by_all", "filled_in_cluster", "filled_by_each")


@dataclass
class State:
    """The abstract state at a point of a path.

    Attributes:
        furthest: no wait distinguishes ages beyond it.
        pipelines: how many indices of each pipeline it has taken and not passed on, in the order in which
            it has taken one of them last.
        writes, reads: the accesses that may not be complete.
        filled: what was written of tiles without a pipeline.
        filled_by_all: what of these threads of the same number have written in every CTA of the cluster.
        filled_in_cluster: what of that was written before the last barrier of the cluster.
        filled_by_each: what each of the partition's warpgroups has written.
        exposed: accesses of other warpgroups of the partition that may not be over.
        epoch: how many barriers of the cluster came before.
        known: whether everything on the path so far is known.
        reported: whether a remark about the path was given.
        forked: whether the path is one of several, so that possibly no run takes it.
    """

    furthest: int
    pipelines: dict[PipelineSide, int] = field(default_factory=dict)
    writes: frozenset[Write] = frozenset()
    reads: frozenset[Read] = frozenset()
    filled: frozenset[TileRectangle] = frozenset()
    filled_by_all: frozenset[TileRectangle] = frozenset()
    filled_in_cluster: frozenset[TileRectangle] = frozenset()
    filled_by_each: frozenset[TileRectangle] = frozenset()
    epoch: int = 0
    known: bool = True
    reported: bool = False
    forked: bool = field(default=False, compare=False)
    exposed: frozenset[Exposed] = field(default=frozenset(), compare=False)

    @property
    def certain(self) -> bool:
        """Whether some run is known to take the path."""
        return self.known and not self.forked

    def copy(self) -> State:
        """Return a copy that can be changed independently."""
        return replace(self, pipelines=dict(self.pipelines))

    def held(self, pipeline_side: PipelineSide) -> int:
        """Return how many indices the partition has taken and not committed or released."""
        return self.pipelines.get(pipeline_side, 0)

    # Pipelines.

    def take(self, pipeline_side: PipelineSide) -> None:
        """Take a pipeline index; all earlier ones lag by one more."""
        held = self.pipelines.pop(pipeline_side, 0)
        self.pipelines[pipeline_side] = held + 1

        def lagging(access: _Access) -> _Access:
            rectangle = access.rectangle
            if rectangle.pipeline_side != pipeline_side:
                return access
            return access._replace(rectangle=rectangle._replace(lag=rectangle.lag + 1))

        self.writes = frozenset(map(lagging, self.writes))
        self.reads = frozenset(map(lagging, self.reads))

    def arrive(self, pipeline_side: PipelineSide, lag: int) -> tuple[list[Write], list[Read]]:
        """Commit or release a stage.

        Returns:
            The accesses of the stage, which the state no longer contains.
        """
        self.pipelines[pipeline_side] = self.held(pipeline_side) - 1
        if not self.pipelines[pipeline_side]:
            del self.pipelines[pipeline_side]

        def is_own(access: Read | Write) -> bool:
            rectangle = access.rectangle
            return (
                rectangle.pipeline_side == pipeline_side and rectangle.lag + rectangle.shift == lag
            )

        writes = [write for write in self.writes if is_own(write)]
        reads = [read for read in self.reads if is_own(read)]
        self.writes -= frozenset(writes)
        self.reads -= frozenset(reads)
        return writes, reads

    # Accesses, and what orders them.

    def start_group(self, by: Reader) -> None:
        """Close a group of reads; earlier groups become one older."""
        self._replace_ages(by, lambda age: min(age + 1, self.furthest))

    def wait(self, by: Reader, pending: int) -> None:
        """Complete all groups of reads but the latest `pending`."""
        self._replace_ages(by, lambda age: None if age >= pending else age)

    def _replace_ages(self, by: Reader, change: Callable[[int], int | None]) -> None:
        self.reads = frozenset(
            read if read.by is not by or read.age is None else read._replace(age=change(read.age))
            for read in self.reads
        )

    def fence(self) -> None:
        """Fence the threads' own accesses."""
        self._update_writes(fenced=True)
        self.reads = frozenset(read._replace(fenced=True) for read in self.reads)

    def barrier(self) -> None:
        """Order the accesses of all threads that execute the barrier."""
        self._update_writes(past_barrier=True)
        self.reads = frozenset(
            read if read.age is not None else read._replace(past_barrier=True)
            for read in self.reads
            if read.age is not None or read.is_unfenced
        )

    def barrier_of_all(self) -> None:
        """Order the accesses of all warpgroups of the partition."""
        in_flight = {read.op for read in self.reads if read.age is not None}
        unfenced = {write.op for write in self.writes if not write.fenced}
        self.exposed = frozenset(
            each._replace(past_barrier=each.op in unfenced)
            for each in self.exposed
            if each.in_bulk or each.op in (unfenced if each.by is None else in_flight)
        )
        self.barrier()

    def cluster_barrier(self) -> None:
        """Order the accesses of all threads of the cluster."""
        self.barrier_of_all()
        self.filled_in_cluster = self.filled_by_all
        self.epoch += 1

    def _update_writes(self, **changes: bool) -> None:
        updated = [write._replace(**changes) for write in self.writes]
        self.writes = frozenset(
            w
            for w in updated
            if not (w.fenced and w.past_barrier) or w.rectangle.pipeline_side is not None
        )

    # Loops.

    def forget_loop(self, loop: OpIdentity) -> None:
        """Forget the starts that change with a loop: they are known only inside an iteration."""
        self._forget_filled(loop)
        self._replace_rectangles(lambda each: each.outside_loop(loop))

    def next_iteration(self, loop: OpIdentity, count: Symbol, values: Values) -> None:
        """Let the starts that change with a loop be those of the iteration before.

        Args:
            loop: the loop.
            count: how many of its iterations were run.
            values: the integers of the function.
        """
        self._forget_filled(loop)
        self._replace_rectangles(lambda each: each.of_iteration_before(loop, count, values))

    def _forget_filled(self, loop: OpIdentity) -> None:
        for filled in _FILLED:
            outside = frozenset(each.outside_loop(loop) for each in getattr(self, filled))
            setattr(self, filled, outside)

    def _replace_rectangles(self, change: Callable[[TileRectangle], TileRectangle]) -> None:
        self.writes = frozenset(w._replace(rectangle=change(w.rectangle)) for w in self.writes)
        self.reads = frozenset(r._replace(rectangle=change(r.rectangle)) for r in self.reads)
