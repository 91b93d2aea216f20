"""Facts about the ops of a function: blocks, accesses, and the pipeline sides on which they wait or
arrive."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ....bindings.irtypes import Block, Op, Value
from ....bindings.mlir import ir
from ....dialect.effects import Accessed, Completion
from ....dialect.op import SmemOp
from ....dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreatePipelineOp,
    ElectOp,
    PartitionOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    StageOp,
    WarpSpecializeOp,
)
from ....dialect.smem import Smem
from ....ir.barriers import is_cluster_barrier, is_cta_barrier
from ....ir.kernel import ancestors_of
from ....ir.op_address import op_address
from ....ir.subtiles import chain_of
from ....ir.walk import holds, walk
from ...order.effects import accessed_tiles, has_effect


class Side(Enum):
    """What a partition does with the stages of a pipeline: fill them, or read them.

    Attributes:
        wait_op: the op that waits for the stage of a pipeline index.
        arrive_op: the op that arrives on the stage's mbarrier, which passes the stage to the other side.
        arrives, arrived: the arrive op's verb in the third person, and its past participle.
    """

    PRODUCER = ProducerAcquireOp, ProducerCommitOp, "commits", "committed"
    CONSUMER = ConsumerWaitOp, ConsumerReleaseOp, "releases", "released"

    def __init__(
        self, wait_op: type[SmemOp], arrive_op: type[SmemOp], arrives: str, arrived: str
    ) -> None:
        self.wait_op = wait_op
        self.arrive_op = arrive_op
        self.arrives = arrives
        self.arrived = arrived

    # Enum hashes names, in Python.
    __hash__ = object.__hash__

    @property
    def other(self) -> Side:
        """The side that passes its stages to this one."""
        return Side.CONSUMER if self is Side.PRODUCER else Side.PRODUCER

    @property
    def wait_name(self) -> str:
        """The name of the wait op."""
        return self.wait_op.OPERATION_NAME

    @property
    def arrive_name(self) -> str:
        """The name of the arrive op."""
        return self.arrive_op.OPERATION_NAME


class PipelineSide(NamedTuple):
    """A pipeline, and the side of it that a partition takes."""

    pipeline: CreatePipelineOp
    side: Side


#: The ops that wait for a stage, and those that arrive on its mbarrier.
WAITS = tuple(side.wait_op for side in Side)
ARRIVES = tuple(side.arrive_op for side in Side)


def pipeline_side_of(op: Op) -> PipelineSide:
    """Return the pipeline of a wait or arrive op, and the side that executes it."""
    produces = isinstance(op, (Side.PRODUCER.wait_op, Side.PRODUCER.arrive_op))
    return PipelineSide(op.pipeline.owner, Side.PRODUCER if produces else Side.CONSUMER)


def stages_of(pipeline: CreatePipelineOp) -> int:
    """Return how many stages a pipeline has."""
    return pipeline.stages.value


#: Ops that select the threads which execute their regions.
_DIVISIONS = (ElectOp, WarpSpecializeOp)


class OpTable:
    """Looks up facts about ops, each once: the body of a loop is followed several times."""

    def __init__(self) -> None:
        self._followed: dict[Op, bool] = {}
        self._pipeline_sides: dict[Op, list[PipelineSide]] = {}
        self._blocks: dict[Block, list[Op]] = {}
        self._tiles: dict[Op, list[Accessed]] = {}
        self._stage_indices: dict[Op, tuple[Value, ...]] = {}
        self._effective = tuple(op for op in Smem.operations if op in _DIVISIONS or has_effect(op))

    def ops_in(self, block: Block) -> list[Op]:
        """Return the ops of a block, those of the dialect as op views."""
        if block not in self._blocks:
            views = block.operations
            self._blocks[block] = [op if isinstance(op, SmemOp) else op.operation for op in views]
        return self._blocks[block]

    def body(self, op: Op) -> list[Op]:
        """Return the ops of an op's only region, which has one block."""
        return self.ops_in(op.regions[0].blocks[0])

    def tiles(self, op: Op) -> list[Accessed]:
        """Return the tiles that an op accesses, and how."""
        if op not in self._tiles:
            self._tiles[op] = accessed_tiles(op)
        return self._tiles[op]

    def stage_indices(self, op: Op) -> tuple[Value, ...]:
        """Return the pipeline indices of the stages that an op uses: that of the wait for a stage, or i
        of the stage `i % stages`. A bulk load has one itself."""
        if not isinstance(op, SmemOp):
            return ()
        if op not in self._stage_indices:
            indices = dict.fromkeys(_stage_index(tile.value, op) for tile in self.tiles(op))
            loads = op.effects.completion is Completion.MBARRIER
            indices |= {op.index: None} if loads else {}
            self._stage_indices[op] = tuple(index for index in indices if index is not None)
        return self._stage_indices[op]

    def is_followed(self, op: Op) -> bool:
        """Whether an op, or one inside it, accesses memory, orders accesses or selects threads."""
        if not len(op.regions):
            return isinstance(op, self._effective) or _is_barrier(op)
        if op not in self._followed:
            followed = holds(op, *self._effective) or any(map(_is_barrier, walk(op)))
            self._followed[op] = followed
        return self._followed[op]

    def pipeline_sides(self, op: Op) -> list[PipelineSide]:
        """Return the sides of pipelines that an op, or the ops inside it, wait or arrive on."""
        if not len(op.regions):
            return [pipeline_side_of(op)] if isinstance(op, (*WAITS, *ARRIVES)) else []
        if op not in self._pipeline_sides:
            inner_ops = walk(op, *WAITS, *ARRIVES)
            self._pipeline_sides[op] = list({pipeline_side_of(inner): None for inner in inner_ops})
        return self._pipeline_sides[op]


def _stage_index(tile: Value, user: Op) -> Value | None:
    """Return the pipeline index of the stage that a tile is in; None if not known."""
    for subtile in chain_of(tile, user)[1]:
        if isinstance(subtile, StageOp):
            return index_of(subtile.index)
    return None


def partition_of(op: Op) -> int | None:
    """Return the address of the partition that an op is in; None outside of partitions."""
    outer = (op_address(x) for x in ancestors_of(op) if isinstance(x.opview, PartitionOp))
    return next(outer, None)


def comes_after(op: Op, wanted: type[SmemOp]) -> bool:
    """Whether an op of a class comes before an op, or before one that it is in, in the same block."""
    for outer in (op.operation, *ancestors_of(op)):
        for sibling in outer.block.operations if outer.block is not None else ():
            if sibling.operation == outer:
                break
            if isinstance(sibling, wanted):
                return True
    return False


def index_of(stage: Value) -> Value | None:
    """Return the pipeline index of a stage: that of the wait for it, or i of `i % stages`; else None."""
    owner = stage.owner
    if isinstance(owner, WAITS):
        return owner.index
    is_remainder = not isinstance(owner, ir.Block) and owner.operation.name == "arith.remui"
    return owner.operation.operands[0] if is_remainder else None


def _is_barrier(op: Op) -> bool:
    """Whether an op of another dialect is a barrier of the CTA or of the cluster."""
    return is_cta_barrier(op) or is_cluster_barrier(op)
