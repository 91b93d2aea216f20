"""The abstract state of a partition: its acquired stages, and accesses that may not be complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple, TypeVar

from ....bindings.irtypes import Op
from ....dialect.ops import FenceOp, PartitionOp, TmaCommitOp, TmaWaitOp, WaitOp, WarpgroupBarrierOp
from ....ir.op_address import OpIdentity
from ...order.needs import Need
from ..polynomials import Symbol, Variable, number
from ..tile_slices import AxisSlice
from ..values import SymbolicValues
from .ops import PipelineSide

#: Iterations after which the start of an access in a loop is forgotten.
_PAST = 4


class TileRectangle(NamedTuple):
    """A rectangle of a stage of a tile.

    Attributes:
        allocation: the `smem.alloc`, or an op that writes registers which an mma reads.
        pipeline_side: the pipeline of the stage, and the side that takes it; None without a pipeline.
        lag: how many indices of the pipeline the partition has taken since that of the stage, including
            it.
        shift: how many indices earlier a producer commits the stage: a tile whose stage is
            index % stages may have fewer stages than the pipeline.
        slices: those of stages, rows and columns.
        past: how many iterations of loops ended since the access.
    """

    allocation: Op
    pipeline_side: PipelineSide | None
    lag: int
    shift: int
    slices: tuple[AxisSlice, AxisSlice, AxisSlice]
    past: int = 0

    def is_covered(self, others: Iterable[TileRectangle]) -> bool:
        """Whether it is known to be in others: in one, or in several that are side by side.

        Stages of a pipeline count as the same.
        """
        others = [other for other in others if other.allocation == self.allocation]
        covering = [(other.slices, other._covered_dims(self)) for other in others]
        if any(all(dims) for _, dims in covering):
            return True
        # Those that contain it along the other dimensions, and a part of it along this one.
        for along in range(1, len(self.slices)):
            parts = [
                slices[along]
                for slices, dims in covering
                if all(covered for dim, covered in enumerate(dims) if dim != along)
            ]
            if parts and self.slices[along].is_covered(parts):
                return True
        return False

    def _covered_dims(self, other: TileRectangle) -> list[bool]:
        """Return for each dimension whether it is known to contain another rectangle."""
        pairs = zip(self.slices, other.slices, strict=True)
        stage, *sides = [mine.is_whole or mine.equals(theirs) for mine, theirs in pairs]
        return [stage or self.pipeline_side is not None, *sides]

    @property
    def same_in_cluster(self) -> bool:
        """Whether threads of the same number take the same rectangle in all CTAs of a cluster."""
        return all(
            axis_slice.start is not None and axis_slice.start.same_in_cluster
            for axis_slice in self.slices
        )

    def overlaps(self, other: TileRectangle) -> bool | None:
        """Whether both have bytes in common; None if not known.

        Both must be without a pipeline, or in the same stage of one.
        """
        if self.allocation != other.allocation:
            return False
        sides = [a.overlaps(b) for a, b in zip(self.slices, other.slices, strict=True)]
        return False if False in sides else None if None in sides else True

    def has_same_stage(self, other: TileRectangle) -> bool:
        """Whether both are in the stage of one pipeline index, or both without a pipeline."""
        mine, theirs = (
            rectangle.pipeline_side and (rectangle.pipeline_side, rectangle.lag + rectangle.shift)
            for rectangle in (self, other)
        )
        return mine == theirs

    def has_same_pipeline(self, other: TileRectangle) -> bool:
        """Whether both are of one tile, and in stages of the same pipeline, or both without one."""
        return self.allocation == other.allocation and self.pipeline_side == other.pipeline_side

    def equals(self, other: TileRectangle) -> bool:
        """Whether both are known to be the same bytes."""
        pairs = zip(self.slices, other.slices, strict=True)
        return self.allocation == other.allocation and all(
            mine.equals(theirs) for mine, theirs in pairs
        )

    def is_same(self, other: TileRectangle) -> bool:
        """Whether both are known to be the same bytes, in the same stage."""
        return self.equals(other) and self.has_same_stage(other)

    def is_disjoint_between(self, other: TileRectangle, symbol: Symbol) -> bool:
        """Whether the rectangles of two warpgroups, numbered by `symbol`, have no bytes in common."""
        pairs = zip(self.slices, other.slices, strict=True)
        return any(a.is_disjoint_between(b, symbol) for a, b in pairs)

    def of_warpgroup(self, values: SymbolicValues, symbol: Symbol, warpgroup: int) -> TileRectangle:
        """Return the rectangle of one warpgroup, with its number for the symbol of all of them."""
        starts = (
            None if e.start is None else values.substitute(e.start, symbol, number(warpgroup))
            for e in self.slices
        )
        pairs = zip(self.slices, starts, strict=True)
        return self._replace(slices=tuple(e._replace(start=start) for e, start in pairs))

    def without_variables(self) -> TileRectangle:
        """Return the rectangle without the starts that change while a partition runs."""
        slices = (
            e
            if e.start is None or all(map(_is_partition, e.start.varies))
            else e._replace(start=None)
            for e in self.slices
        )
        return self._replace(slices=tuple(slices), past=0)

    def outside_loop(self, loop: OpIdentity) -> TileRectangle:
        """Return the rectangle without the starts that change with a loop."""
        slices = (
            e if e.start is None or loop not in e.start.varies else e._replace(start=None)
            for e in self.slices
        )
        return self._replace(slices=tuple(slices))

    def of_iteration_before(
        self, loop: OpIdentity, count: Symbol, values: SymbolicValues
    ) -> TileRectangle:
        """Return the rectangle as seen from the next iteration, as far as it is known there.

        Args:
            loop: the loop.
            count: how many of its iterations were run.
            values: the integers of the function.
        """
        if self == (outside := self.outside_loop(loop)):
            return self
        if self.past == _PAST:
            return outside
        before = count.polynomial - number(1)
        slices = (
            e if e.start is None else e._replace(start=values.substitute(e.start, count, before))
            for e in self.slices
        )
        return self._replace(slices=tuple(slices), past=self.past + 1)


def _is_partition(variable: Variable) -> bool:
    return isinstance(variable, OpIdentity) and isinstance(variable.op, PartitionOp)


class Reader(Enum):
    """What reads a tile: the tensor cores, the threads themselves, or a bulk store."""

    MMA, THREADS, BULK = range(3)

    # Enum hashes names, in Python.
    __hash__ = object.__hash__


class PendingWrite(NamedTuple):
    """A write of a tile that may not be visible to all.

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

    def missing(self, reader: Reader) -> list[Need]:
        """Return the ops that are missing between the write and a read."""
        fences = [] if self.fenced or reader is Reader.THREADS else [Need(FenceOp)]
        return [*fences, *([] if self.past_barrier else [Need(WarpgroupBarrierOp)])]


class PendingRead(NamedTuple):
    """A read of a tile that may not be complete.

    Attributes:
        age: how many groups of mma, or of bulk stores, came after its group; -1 if that is not committed,
            None if the read was waited for.
        scope: the scope of the `smem.elect` around a bulk store.
        fenced, past_barrier: whether its threads have executed `smem.fence`, and a barrier, since.
    """

    op: Op
    rectangle: TileRectangle
    reader: Reader
    age: int | None
    scope: str = ""
    fenced: bool = False
    past_barrier: bool = False

    @property
    def is_unfenced(self) -> bool:
        """Whether a later bulk load of the same stage may be performed before the read."""
        by_threads = self.reader is Reader.THREADS and self.rectangle.pipeline_side is not None
        return by_threads and not self.fenced

    @property
    def missing(self) -> list[Need]:
        """The missing ops that wait for the read."""
        if self.age is None:
            return []
        if self.reader is Reader.MMA:
            return [Need(WaitOp, self.age)]
        commit = [Need(TmaCommitOp)] if self.age < 0 else []
        return [*commit, Need(TmaWaitOp, max(self.age, 0), elected=True, read=True)]


class ExposedAccess(NamedTuple):
    """An access by a warpgroup of a partition to which accesses by other warpgroups have no order yet.

    Attributes:
        rectangle: without starts that change while the partition runs.
        reader: what reads it; None for a write.
        in_bulk: whether it is a bulk load.
        past_barrier: whether a barrier of all warpgroups came since, without a fence before it: the write
            may not be visible to tensor cores and bulk copies.
    """

    op: Op
    rectangle: TileRectangle
    reader: Reader | None
    in_bulk: bool = False
    past_barrier: bool = False

    @property
    def is_async(self) -> bool:
        """Whether it is by the async proxy."""
        return self.in_bulk or self.reader in (Reader.MMA, Reader.BULK)


_Access = TypeVar("_Access", PendingRead, PendingWrite)


#: The attributes of a state with written rectangles.
_FILLED = ("filled", "filled_by_all", "filled_in_cluster", "filled_by_each")


@dataclass
class PartitionState:
    """The abstract state of a partition at a point of a path.

    Attributes:
        furthest: no wait distinguishes ages beyond it.
        pipelines: how many indices of each pipeline are outstanding; the pipeline of the last wait is
            last.
        writes, reads: the accesses that may not be complete.
        filled: the written rectangles of tiles without a pipeline.
        filled_by_all: those that threads of the same number have written in every CTA of the cluster.
        filled_in_cluster: of `filled_by_all`, those written before the last barrier of the cluster.
        filled_by_each: those that each warpgroup of the partition has written.
        exposed: accesses by other warpgroups of the partition that may not be complete.
        epoch: how many barriers of the cluster came before.
        known: whether everything on the path so far is known.
        reported: whether a remark about the path was emitted.
        forked: whether the path is one of several, so that possibly no run takes it.
    """

    furthest: int
    pipelines: dict[PipelineSide, int] = field(default_factory=dict)
    writes: frozenset[PendingWrite] = frozenset()
    reads: frozenset[PendingRead] = frozenset()
    filled: frozenset[TileRectangle] = frozenset()
    filled_by_all: frozenset[TileRectangle] = frozenset()
    filled_in_cluster: frozenset[TileRectangle] = frozenset()
    filled_by_each: frozenset[TileRectangle] = frozenset()
    epoch: int = 0
    known: bool = True
    reported: bool = False
    forked: bool = field(default=False, compare=False)
    exposed: frozenset[ExposedAccess] = field(default=frozenset(), compare=False)

    @property
    def certain(self) -> bool:
        """Whether some run is known to take the path."""
        return self.known and not self.forked

    def copy(self) -> PartitionState:
        """Return a copy that can be changed independently."""
        return replace(self, pipelines=dict(self.pipelines))

    def outstanding(self, pipeline_side: PipelineSide) -> int:
        """Return how many indices of a pipeline side are taken, and not committed or released."""
        return self.pipelines.get(pipeline_side, 0)

    # Pipelines.

    def acquire(self, pipeline_side: PipelineSide) -> None:
        """Take a pipeline index; the lag of all earlier ones rises by one."""
        outstanding = self.pipelines.pop(pipeline_side, 0)
        self.pipelines[pipeline_side] = outstanding + 1

        def lagging(access: _Access) -> _Access:
            rectangle = access.rectangle
            if rectangle.pipeline_side != pipeline_side:
                return access
            return access._replace(rectangle=rectangle._replace(lag=rectangle.lag + 1))

        self.writes = frozenset(map(lagging, self.writes))
        self.reads = frozenset(map(lagging, self.reads))

    def arrive(
        self, pipeline_side: PipelineSide, lag: int
    ) -> tuple[list[PendingWrite], list[PendingRead]]:
        """Commit or release a stage.

        Returns:
            The accesses of the stage, which the state no longer contains.
        """
        self.pipelines[pipeline_side] = self.outstanding(pipeline_side) - 1
        if not self.pipelines[pipeline_side]:
            del self.pipelines[pipeline_side]

        def is_own(access: PendingRead | PendingWrite) -> bool:
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

    def start_group(self, reader: Reader) -> None:
        """Close a group of reads; the age of earlier groups rises by one."""
        self._replace_ages(reader, lambda age: min(age + 1, self.furthest))

    def wait(self, reader: Reader, pending: int) -> None:
        """Complete all groups of reads but the latest `pending`."""
        self._replace_ages(reader, lambda age: None if age >= pending else age)

    def _replace_ages(self, reader: Reader, change: Callable[[int], int | None]) -> None:
        self.reads = frozenset(
            read
            if read.reader is not reader or read.age is None
            else read._replace(age=change(read.age))
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
            access._replace(past_barrier=access.op in unfenced)
            for access in self.exposed
            if access.in_bulk or access.op in (unfenced if access.reader is None else in_flight)
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
        """Forget starts that change with a loop: they are known only inside an iteration."""
        self._forget_filled(loop)
        self._replace_rectangles(lambda rectangle: rectangle.outside_loop(loop))

    def next_iteration(self, loop: OpIdentity, count: Symbol, values: SymbolicValues) -> None:
        """Express starts that change with a loop as those of the previous iteration.

        Args:
            loop: the loop.
            count: how many of its iterations were run.
            values: the integers of the function.
        """
        self._forget_filled(loop)
        self._replace_rectangles(
            lambda rectangle: rectangle.of_iteration_before(loop, count, values)
        )

    def _forget_filled(self, loop: OpIdentity) -> None:
        for filled in _FILLED:
            outside = frozenset(rectangle.outside_loop(loop) for rectangle in getattr(self, filled))
            setattr(self, filled, outside)

    def _replace_rectangles(self, change: Callable[[TileRectangle], TileRectangle]) -> None:
        self.writes = frozenset(w._replace(rectangle=change(w.rectangle)) for w in self.writes)
        self.reads = frozenset(r._replace(rectangle=change(r.rectangle)) for r in self.reads)
