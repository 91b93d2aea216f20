"""Parts of tiles that are accessed: in a stage that a pipeline gives, or anywhere else."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from ....dialect.op import SmemOp
from ....dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    PartitionOp,
    ProducerAcquireOp,
    ProducerCommitOp,
)
from ..extents import Extent
from ..polynomials import Symbol


class Side(Enum):
    """What a partition does with the stages of a pipeline: fill them, or read them.

    Attributes:
        begin: the op that waits for a step's stage.
        end: the op that hands a step's stage on.
        ended: what a stage then is.
    """

    PRODUCER = ProducerAcquireOp, ProducerCommitOp, "committed"
    CONSUMER = ConsumerWaitOp, ConsumerReleaseOp, "released"

    def __init__(self, begin: type[SmemOp], end: type[SmemOp], ended: str) -> None:
        self.begin = begin
        self.end = end
        self.ended = ended

    @property
    def other(self) -> Side:
        """The side that gives this one its stages."""
        return Side.CONSUMER if self is Side.PRODUCER else Side.PRODUCER

    @property
    def begins(self) -> str:
        """The name of the op that waits for a step's stage."""
        return self.begin.OPERATION_NAME

    @property
    def ends(self) -> str:
        """The name of the op that hands a step's stage on."""
        return self.end.OPERATION_NAME


#: A partition's side of a pipeline: the `smem.create_pipeline`, and which side.
Turning = tuple[Any, Side]

#: The ops that begin steps, and those that end them.
BEGINS = tuple(side.begin for side in Side)
ENDS = tuple(side.end for side in Side)


def turning_of(op: Any) -> Turning:
    """The pipeline of an op that begins or ends a step, and the side that executes it."""
    produces = isinstance(op, (Side.PRODUCER.begin, Side.PRODUCER.end))
    return op.pipeline.owner, Side.PRODUCER if produces else Side.CONSUMER


class Spot(NamedTuple):
    """A rectangle of a stage of a tile.

    Attributes:
        root: the `smem.alloc`.
        turning: the pipeline that gives the stage, and the side that takes it; None if none does.
        ago: how many steps of the pipeline began since, and with, the stage's own.
        late: how many steps earlier than its own a producer hands the stage on: a tile of which
            step % stages is the stage may have fewer of them than the pipeline.
        extents: stages, rows and columns.
    """

    allocation: Any
    turning: Turning | None
    ago: int
    late: int
    extents: tuple[Extent, Extent, Extent]

    def covers(self, other: Spot) -> bool:
        """Whether all of another, of the same stage if a pipeline gives it, is known to be part of it."""
        pairs = zip(self.extents, other.extents, strict=True)
        stage, *sides = [mine.is_all or mine.is_same(its) for mine, its in pairs]
        return (
            self.allocation == other.allocation
            and all(sides)
            and (stage or self.turning is not None)
        )

    def meets(self, other: Spot) -> bool | None:
        """Whether both have bytes in common; None if not known. They are of no pipeline, or of the same
        stage."""
        if self.allocation != other.allocation:
            return False
        sides = [a.meets(b) for a, b in zip(self.extents, other.extents, strict=True)]
        return False if False in sides else None if None in sides else True

    def is_of_same_stage(self, other: Spot) -> bool:
        """Whether both are of the stage of one step, or of no pipeline."""
        mine, its = (
            spot.turning and (spot.turning, spot.ago + spot.late) for spot in (self, other)
        )
        return mine == its

    def is_same(self, other: Spot) -> bool:
        """Whether both are known to be the same bytes."""
        pairs = zip(self.extents, other.extents, strict=True)
        return self.allocation == other.allocation and all(mine.is_same(its) for mine, its in pairs)

    def subtiles_from(self, other: Spot, symbol: Symbol) -> bool:
        """Whether those of two warpgroups of a partition have no bytes in common."""
        pairs = zip(self.extents, other.extents, strict=True)
        return any(a.subtiles_from(b, symbol) for a, b in pairs)

    def fixed(self) -> Spot:
        """The same with nothing known of what changes in the course of a partition."""
        kept = (
            e
            if e.start is None or all(isinstance(by, PartitionOp) for by in e.start.varies)
            else e._replace(start=None)
            for e in self.extents
        )
        return self._replace(extents=tuple(kept))

    def without(self, loop: Any) -> Spot:
        """The same with nothing known of what changes with a loop."""
        kept = (
            e if e.start is None or loop not in e.start.varies else e._replace(start=None)
            for e in self.extents
        )
        return self._replace(extents=tuple(kept))
