"""What is known of a kernel, and what following its partitions has recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ....dialect.effects import Completion
from ....dialect.irtypes import Op
from ....dialect.op import effects_of
from ....dialect.ops import CreatePipelineOp, ProducerAcquireOp
from ....dialect.smem import Smem
from ....ir.subtiles import chain_of
from ....ir.walk import gather, walk
from ...order.declared_effects import accessed_tiles, pending_of
from ...order.registers import Registers
from ..intervals import Intervals
from ..values import Values
from .ops import Ops, is_behind, partition_of
from .partition import Partition
from .pipeline_sides import PipelineSide
from .pipeline_use import Bodies, PipelineUse
from .ranks import Ranks
from .state import Read, Reader, State, Write
from .tile_rectangles import TileRectangle

_Access = TypeVar("_Access", Read, Write)


class Arrival(NamedTuple):
    """An `smem.producer_commit` or `smem.consumer_release`.

    Attributes:
        pipeline_side: the pipeline, and the side that arrives.
        pipeline_index: its pipeline index, if it is a constant.
        lag: how many indices were taken since, and including, it.
        participants: how many threads commit it, or warpgroups release it; None if not known.
        written: the rectangles of its stage that were written before.
        unfenced: those written by the threads themselves without a fence: the tile, and the op.
        certain: whether some run is known to reach it in this state.
    """

    partition: Partition
    op: Op
    pipeline_side: PipelineSide
    pipeline_index: int | None
    lag: int
    participants: int | None
    written: frozenset[TileRectangle]
    unfenced: frozenset[tuple[Op, Op]]
    certain: bool


class TileAccess(NamedTuple):
    """An access of a tile.

    Attributes:
        by: what reads it; None for a write.
        certain: whether some run is known to reach it in this state.
        epoch: how many barriers of the cluster came before.
        remote: whether it is a read of another CTA's tile.
    """

    partition: Partition
    op: Op
    rectangle: TileRectangle
    by: Reader | None
    certain: bool
    epoch: int = 0
    remote: bool = False

    @property
    def by_threads(self) -> bool:
        """Whether the threads themselves read or write, and have done so when the op is over."""
        in_bulk = self.writes and self.rectangle.pipeline_side is not None
        return self.by is Reader.THREADS or (self.writes and not in_bulk)

    @property
    def writes(self) -> bool:
        """Whether it is a write."""
        return self.by is None


@dataclass
class Kernel:
    """A function with pipelines or partitions.

    Attributes:
        ops: its ops.
        positions: those of all ops, in the order of the program.
        values: its integers.
        use: how its threads use pipelines.
        registers: the ops that write registers which its mma read.
        furthest: one more than the largest number of groups that a wait leaves pending.
        filling_pipelines: for each tile without stages, the pipeline that its loads count for.
        written: the tiles that any op writes.
        loaded: the tiles that bulk loads write, each with one such load.
        exchanged: the tiles that several partitions access, or that threads write behind a wait of a
            producer.
        arrivals, accesses: those of all paths.
        taken: the pipeline sides that each partition takes, with the most indices that it holds while it
            waits.
        cluster_barriers: for each partition, the states in which it reaches barriers of the cluster.
        ends: for each partition, the states in which it ends.
        known: what is known of integers wherever partitions run: by assumptions, and branches around
            them.
    """

    function: Op
    ops: Ops
    positions: dict[Op, int]
    values: Values
    use: PipelineUse
    registers: Registers
    furthest: int
    filling_pipelines: dict[Op, CreatePipelineOp]
    written: set[Op]
    loaded: dict[Op, Op]
    exchanged: set[Op]
    arrivals: dict[Arrival, None] = field(default_factory=dict)
    accesses: dict[TileAccess, None] = field(default_factory=dict)
    taken: dict[tuple[Partition, PipelineSide], int] = field(default_factory=dict)
    cluster_barriers: dict[Partition, list[State]] = field(default_factory=dict)
    ends: dict[Partition, list[State]] = field(default_factory=dict)
    known: Intervals = field(default_factory=Intervals)
    _bodies: Bodies = field(default_factory=list)

    def set_bodies(self, bodies: Bodies) -> None:
        """Set the partitions with their ops; what is known of integers before has been noted."""
        self._bodies = bodies
        self.use.set_bodies(bodies, self.ops, self.values, self.known)

    @property
    def deadlock(self) -> str:
        """Why threads may wait for each other; empty if they do not."""
        return self.use.deadlock(self._bodies, self.ops, self.values, self.known)

    @property
    def ranks(self) -> Ranks:
        """The pipeline indices that ops take."""
        return self.use.ranks

    @staticmethod
    def of(function: Op, use: PipelineUse) -> Kernel:
        """Return what is known of a function before its ops are followed.

        Args:
            function: the function.
            use: how its threads use pipelines.
        """
        groups = (Completion.WGMMA_GROUP, Completion.BULK_GROUP)
        waits, accesses = gather(
            function,
            [op for op in Smem.operations if op.effects.awaits in groups],
            [op for op in Smem.operations if op.effects.accesses],
        )
        filling_pipelines, written, loaded, exchanged = {}, set(), {}, set()
        partitions: dict[Op, int | None] = {}
        for op in accesses:
            for tile, access in accessed_tiles(op):
                allocation, partition = chain_of(tile, op)[0], partition_of(op)
                if partitions.setdefault(allocation, partition) != partition:
                    exchanged.add(allocation)
                if access.writes and access.completion is Completion.MBARRIER:
                    filling_pipelines[tile.owner] = op.pipeline.owner
                    loaded[allocation] = op
                elif access.writes and is_behind(op, ProducerAcquireOp):
                    exchanged.add(allocation)
                if access.writes:
                    written.add(allocation)
        furthest = 1 + max(map(pending_of, waits), default=0)
        return Kernel(
            function,
            Ops(),
            {op.operation: position for position, op in enumerate(walk(function))},
            Values(function),
            use,
            Registers(function),
            furthest,
            filling_pipelines,
            written,
            loaded,
            exchanged,
        )

    def in_order(self, accesses: Iterable[_Access]) -> list[_Access]:
        """Return accesses in the order of the program, so that findings come in the same order in each
        run of the process."""
        return sorted(accesses, key=lambda access: self.positions[access.op.operation])

    def pipelines(self) -> list[CreatePipelineOp]:
        """Return the function's pipelines."""
        return list(walk(self.function, CreatePipelineOp))

    def loads(self, pipeline: CreatePipelineOp) -> list[Op]:
        """Return the ops whose bytes count for a pipeline, such as `smem.tma_load`."""
        users = (use.owner for use in pipeline.pipeline.uses)
        return [op for op in users if effects_of(op).completion is Completion.MBARRIER]

    def shares_loads(self, pipeline: CreatePipelineOp) -> bool:
        """Whether the CTAs of a cluster load stages of a pipeline together."""
        return any(op.multicast is not None for op in self.loads(pipeline))
