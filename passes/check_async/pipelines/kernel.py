"""A kernel with pipelines or partitions: its integers, its use of pipelines, and records of its
partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ....bindings.irtypes import Block, Op
from ....dialect.effects import Completion
from ....dialect.op import effects_of
from ....dialect.ops import CreatePipelineOp, PartitionOp, ProducerAcquireOp, TransposeOp
from ....dialect.smem import Smem
from ....ir.op_address import op_address
from ....ir.subtiles import chain_of
from ....ir.walk import gather, walk
from ...order.effects import RegisterWriters, accessed_tiles, pending_of
from ..intervals import Intervals
from ..values import SymbolicValues
from .deadlocks import find_deadlock
from .findings import Findings
from .instructions import RoundRobins, ThreadProgram, thread_programs
from .ops import OpTable, PipelineSide, comes_after, partition_of
from .partition import Partition
from .relative_indices import RelativeIndices
from .state import ExposedAccess, PartitionState, PendingRead, PendingWrite, Reader, TileRectangle

_Access = TypeVar("_Access", PendingRead, PendingWrite, ExposedAccess)


class Arrival(NamedTuple):
    """An `smem.producer_commit` or `smem.consumer_release`.

    Attributes:
        pipeline_side: the pipeline, and the side that arrives.
        pipeline_index: its pipeline index, if it is a constant.
        lag: how many indices were taken since this one, including it.
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
        reader: what reads it; None for a write.
        certain: whether some run is known to reach it in this state.
        epoch: how many barriers of the cluster came before.
        remote: whether it is a read of another CTA's tile.
    """

    partition: Partition
    op: Op
    rectangle: TileRectangle
    reader: Reader | None
    certain: bool
    epoch: int = 0
    remote: bool = False

    @property
    def by_threads(self) -> bool:
        """Whether the threads themselves read or write, and have done so when the op is over."""
        in_bulk = self.writes and self.rectangle.pipeline_side is not None
        return self.reader is Reader.THREADS or (self.writes and not in_bulk)

    @property
    def writes(self) -> bool:
        """Whether it is a write."""
        return self.reader is None


@dataclass
class PartitionRecord:
    """What the walks of partitions have recorded.

    Attributes:
        arrivals, accesses: those of all paths.
        most_outstanding: for each partition and pipeline side that it takes, the most indices that are
            outstanding while it waits.
        cluster_barriers: for each partition, the states in which it reaches barriers of the cluster.
        ends: for each partition, the states in which it ends.
    """

    arrivals: dict[Arrival, None] = field(default_factory=dict)
    accesses: dict[TileAccess, None] = field(default_factory=dict)
    most_outstanding: dict[tuple[Partition, PipelineSide], int] = field(default_factory=dict)
    cluster_barriers: dict[Partition, list[PartitionState]] = field(default_factory=dict)
    ends: dict[Partition, list[PartitionState]] = field(default_factory=dict)

    def add(self, others: PartitionRecord) -> None:
        """Add the record of another partition."""
        self.arrivals |= others.arrivals
        self.accesses |= others.accesses
        self.most_outstanding |= others.most_outstanding
        self.cluster_barriers |= others.cluster_barriers
        self.ends |= others.ends


class PartitionWalk(NamedTuple):
    """The findings and the record of a walk of a partition.

    Attributes:
        before: the states in which it began.
    """

    before: list[PartitionState]
    findings: Findings
    recorded: PartitionRecord


class KernelAnalysis:
    """A function with pipelines or partitions, while synchronization is inserted into it.

    Args:
        function: the function.
        block: its block.
        furthest: groups are told apart up to this many groups back, even if no wait leaves as many
            pending.

    Attributes:
        values: its integers.
        use: how its threads of execution use pipelines.
        furthest: one more than the largest number of groups that a wait leaves pending.
        filling_pipelines: for each tile without stages, the pipeline that its loads count for.
        written: the tiles that any op writes.
        loaded: the tiles that bulk loads write, each with one such load.
        exchanged: the tiles that several partitions access, or that threads write after a producer's
            wait.
        ops: its ops, as they are now.
        registers: the ops that write registers which its mma read.
        recorded: the records of its partitions.
        known: what is known of integers wherever partitions run: by assumptions, and branches around
            them.
    """

    def __init__(self, function: Op, block: Block, furthest: int = 1) -> None:
        self.function = function
        self.block = block
        self.values = SymbolicValues(function)
        self.use = PipelineUse()
        self.filling_pipelines: dict[Op, CreatePipelineOp] = {}
        self.written: set[Op] = set()
        self.loaded: dict[Op, Op] = {}
        self.exchanged: set[Op] = set()
        groups = (Completion.WGMMA_GROUP, Completion.BULK_GROUP)
        waits, accesses = gather(
            function,
            [op for op in Smem.operations if op.effects.awaits in groups],
            [op for op in Smem.operations if op.effects.accesses],
        )
        self._gather_tiles(accesses)
        self.furthest = max(furthest, 1 + max(map(pending_of, waits), default=0))
        self._positions = {op_address(op): position for position, op in enumerate(walk(function))}
        self._bodies: Bodies = []
        #: By the address of the `smem.partition`; None outside of these.
        self._walks: dict[int | None, dict[Partition, PartitionWalk]] = {}
        self.reset()

    def _gather_tiles(self, accesses: list[Op]) -> None:
        partitions: dict[Op, int | None] = {}
        for op in accesses:
            for tile, access in accessed_tiles(op):
                (allocation, chain), partition = chain_of(tile, op), partition_of(op)
                if partitions.setdefault(allocation, partition) != partition:
                    self.exchanged.add(allocation)
                if access.writes and access.completion is Completion.MBARRIER:
                    if all(isinstance(view, TransposeOp) for view in chain):
                        self.filling_pipelines[allocation] = op.pipeline.owner
                    self.loaded[allocation] = op
                elif access.writes and comes_after(op, ProducerAcquireOp):
                    self.exchanged.add(allocation)
                if access.writes:
                    self.written.add(allocation)

    # While synchronization is inserted and removed.

    def reset(self) -> None:
        """Forget what depends on synchronization, but for walks of partitions."""
        self.ops = OpTable()
        self.registers = RegisterWriters(self.function)
        self.recorded = PartitionRecord()
        self.known = Intervals()

    def invalidate(self, op: Op) -> None:
        """Forget the walks that an inserted, removed or changed op concerns."""
        self._walks.pop(partition_of(op), None)

    def walks_in(self, partition: Partition) -> dict[Partition, PartitionWalk]:
        """Return the walks of the threads in the `smem.partition` of a partition."""
        op = partition.op
        address = op_address(op) if isinstance(op.opview, PartitionOp) else partition_of(op)
        return self._walks.setdefault(address, {})

    # Pipelines.

    def set_bodies(self, bodies: Bodies) -> None:
        """Set the partitions with their ops; what is known of integers before has been noted."""
        self._bodies = bodies
        self.use.set_bodies(bodies, self.ops, self.values, self.known)

    @property
    def deadlock(self) -> str:
        """Why threads may wait for each other; empty if they do not."""
        return self.use.deadlock(self._bodies, self.ops, self.values, self.known)

    @property
    def relative_indices(self) -> RelativeIndices:
        """The pipeline indices that ops take."""
        return self.use.relative_indices

    def position(self, op: Op) -> int:
        """Return the position of an op in the original program."""
        return self._positions[op_address(op)]

    def in_order(self, accesses: Iterable[_Access]) -> list[_Access]:
        """Return accesses in program order, so that findings come in the same order in each process."""
        return sorted(accesses, key=lambda access: self.position(access.op))

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


#: Partitions with their ops.
Bodies = list[tuple[Partition, list[Op]]]


class PipelineUse:
    """How the threads of execution of a function use pipelines.

    Attributes:
        programs: those of the threads of execution.
        round_robins: where warpgroups take pipeline indices round-robin.
    """

    def __init__(self) -> None:
        self.programs: list[ThreadProgram] = []
        self.round_robins: RoundRobins = {}
        self._relative_indices: RelativeIndices | None = None
        self._deadlock: str | None = None

    def set_bodies(
        self, bodies: Bodies, ops: OpTable, values: SymbolicValues, known: Intervals
    ) -> None:
        """Set the ops of each partition, once.

        Args:
            bodies: the partitions with their ops.
            ops: facts about ops.
            values: the integers of the function.
            known: what is known of integers before.
        """
        if self._relative_indices is None:
            self.programs, self.round_robins = thread_programs(bodies, ops, values)
            self._relative_indices = RelativeIndices(
                self.programs, values, known, self.round_robins
            )

    @property
    def relative_indices(self) -> RelativeIndices:
        """The pipeline indices that ops take."""
        assert self._relative_indices is not None
        return self._relative_indices

    def deadlock(
        self, bodies: Bodies, ops: OpTable, values: SymbolicValues, known: Intervals
    ) -> str:
        """Return why threads may wait for each other; empty if they do not.

        Args:
            bodies, ops, values, known: as for `set_bodies`, of the function as it is now.
        """
        if self._deadlock is None:
            programs, round_robins = thread_programs(bodies, ops, values)
            self._deadlock = find_deadlock(programs, values, known, round_robins)
        return self._deadlock
