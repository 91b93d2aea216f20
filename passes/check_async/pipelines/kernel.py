"""What is known of a kernel before its ops are followed, and what is noted on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....dialect.effects import Completion
from ....dialect.op import effects_of
from ....dialect.ops import CreatePipelineOp
from ....dialect.smem import Smem
from ....ir.subtiles import chain_of
from ....ir.walk import gather, walk
from ..declared import accessed_tiles, pending_of
from ..polynomials import Symbol
from ..registers import Registers
from ..values import Values
from .ops import Ops
from .spots import Spot, Turning
from .state import Reader


@dataclass(frozen=True, eq=False)
class Partition:
    """Threads that run the same ops: those of a partition, of one warp of its warpgroups, or of the block.

    Attributes:
        op: the `smem.partition`, or the function; of the threads of one warp, their `smem.elect`.
        warpgroups: how many they are; None if that is not known.
        whole: whether they are all threads of the block.
        first: whether the block's first warpgroup is one of them.
        symbol: which of the partition's warpgroups it is; None if all are the block's.
    """

    op: Any
    warpgroups: int | None
    whole: bool
    first: bool
    symbol: Symbol | None


class Handover(NamedTuple):
    """An `smem.producer_commit` or `smem.consumer_release`.

    Attributes:
        turning: the pipeline, and the side that hands a step on.
        step: the step, if it is a constant.
        ago: how many steps began since, and with, it.
        arrivals: how many threads commit it, or warpgroups release it; None if that is not known.
        written: the parts of its stage that were written before.
        unfenced: of those by the threads' own writes, which are not fenced: the tile, and the op.
        certain: whether some run does it so.
    """

    partition: Partition
    op: Any
    turning: Turning
    step: int | None
    ago: int
    arrivals: int | None
    written: frozenset[Spot]
    unfenced: frozenset[tuple[Any, Any]]
    certain: bool


class Event(NamedTuple):
    """A wait for a step of a pipeline, or its handover.

    Attributes:
        waits: which of both.
        turning: the pipeline, and the side that the partition takes.
        ahead: for each side of a pipeline that the partition has begun to take before, how far the step that it
            takes next is beyond the event's own; None if that is not the same number in each run.
    """

    partition: Partition
    op: Any
    waits: bool
    turning: Turning
    ahead: dict[Turning, int | None]


class TileAccess(NamedTuple):
    """An access of a tile.

    Attributes:
        by: what reads it; None for a write.
    """

    partition: Partition
    op: Any
    spot: Spot
    by: Reader | None
    certain: bool

    @property
    def writes(self) -> bool:
        """Whether it is a write."""
        return self.by is None


@dataclass
class Kernel:
    """A function with pipelines or partitions.

    Attributes:
        ops: its ops.
        values: its integers.
        registers: the ops that write registers which its mma read.
        furthest: one more than the largest number of groups that a wait leaves pending.
        fills: for each tile without stages, the pipeline by which it is loaded.
        written: the tiles that anything writes.
        loaded: those that bulk loads write, with one that does.
        handovers, accesses: what was found on all paths.
        events: the waits and handovers of all partitions.
        held: for each partition and side of a pipeline, the most steps that it holds while it waits for one.
        ends: for each partition the states in which it ends.
    """

    function: Any
    ops: Ops
    values: Values
    registers: Registers
    furthest: int
    fills: dict[Any, Any]
    written: set[Any]
    loaded: dict[Any, Any]
    handovers: dict[Handover, None] = field(default_factory=dict)
    accesses: dict[TileAccess, None] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    held: dict[tuple[Partition, Turning], int] = field(default_factory=dict)
    ends: dict[Partition, list[Any]] = field(default_factory=dict)

    @staticmethod
    def of(function: Any) -> Kernel:
        """What is known of a function."""
        groups = (Completion.WGMMA_GROUP, Completion.BULK_GROUP)
        waits, writes = gather(
            function,
            [op for op in Smem.operations if op.effects.awaits in groups],
            [op for op in Smem.operations if any(a.writes for a in op.effects.accesses)],
        )
        fills, written, loaded = {}, set(), {}
        for op in writes:
            for tile, access in accessed_tiles(op):
                if access.writes and access.completion is Completion.MBARRIER:
                    fills[tile.owner] = op.pipeline.owner
                    loaded[chain_of(tile, op)[0]] = op
                if access.writes:
                    written.add(chain_of(tile, op)[0])
        furthest = 1 + max(map(pending_of, waits), default=0)
        return Kernel(
            function,
            Ops(),
            Values(function),
            Registers(function),
            furthest,
            fills,
            written,
            loaded,
        )

    def pipelines(self) -> list[CreatePipelineOp]:
        """The function's pipelines."""
        return list(walk(self.function, CreatePipelineOp))

    def loads(self, pipeline: CreatePipelineOp) -> list[Any]:
        """The ops whose bytes count for a pipeline, such as `smem.tma_load`."""
        users = (use.owner for use in pipeline.pipeline.uses)
        return [op for op in users if effects_of(op).completion is Completion.MBARRIER]

    def shares_loads(self, pipeline: CreatePipelineOp) -> bool:
        """Whether blocks of a cluster load stages of a pipeline together."""
        return any(op.multicast is not None for op in self.loads(pipeline))


def stages_of(pipeline: CreatePipelineOp) -> int:
    """How many stages a pipeline has."""
    return pipeline.stages.value
