"""The sides of a pipeline, producer and consumer, with the ops that wait and arrive on each."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ....bindings.irtypes import Op
from ....dialect.op import SmemOp
from ....dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreatePipelineOp,
    ProducerAcquireOp,
    ProducerCommitOp,
)


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
