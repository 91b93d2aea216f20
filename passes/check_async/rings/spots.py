"""Parts of tiles that are accessed: in a stage that a ring gives, or anywhere else."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from ....dialect.op import SmemOp
from ....dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    RoleOp,
)
from ..forms import Form, Symbol


class Side(Enum):
    """What a role does with the stages of a ring: fill them, or read them.

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


#: A role's side of a ring: the `smem.ring`, and which side.
Turning = tuple[Any, Side]

#: The ops that begin steps, and those that end them.
BEGINS = tuple(side.begin for side in Side)
ENDS = tuple(side.end for side in Side)


def turning_of(op: Any) -> Turning:
    """The ring of an op that begins or ends a step, and the side that executes it."""
    produces = isinstance(op, (Side.PRODUCER.begin, Side.PRODUCER.end))
    return op.ring.owner, Side.PRODUCER if produces else Side.CONSUMER


class Extent(NamedTuple):
    """Where something begins along a dimension (None if not known), its size, and the tile's."""

    start: Form | None
    size: int
    whole: int

    @property
    def is_all(self) -> bool:
        """Whether it is all of the tile's."""
        return self.size == self.whole

    def is_same(self, other: Extent) -> bool:
        """Whether two are known to be the same."""
        return self.start is not None and self[:2] == other[:2]

    def meets(self, other: Extent) -> bool | None:
        """Whether two have elements in common; None if not known."""
        if self.is_all or other.is_all:
            return True
        distance = None if None in (self.start, other.start) else _minus(self, other).constant
        return None if distance is None else -self.size < distance < other.size

    def parts_from(self, other: Extent, symbol: Symbol) -> bool:
        """Whether they have nothing in common if the symbol is not the same for both."""
        if self.start is None or other.start is None:
            return False
        split, others = self.start.split(symbol), other.start.split(symbol)
        if split is None or others is None or split[0] != others[0]:
            return False
        distance = (split[1] - others[1]).constant
        return (
            distance is not None
            and -split[0] <= distance - other.size
            and (distance + self.size <= split[0])
        )


def _minus(one: Extent, other: Extent) -> Form:
    assert one.start is not None and other.start is not None
    return one.start - other.start


class Spot(NamedTuple):
    """A rectangle of a stage of a tile.

    Attributes:
        root: the `smem.alloc`.
        turning: the ring that gives the stage, and the side that takes it; None if none does.
        ago: how many steps of the ring began since, and with, the stage's own.
        late: how many steps earlier than its own a producer hands the stage on: a tile of which
            step % stages is the stage may have fewer of them than the ring.
        extents: stages, rows and columns.
    """

    root: Any
    turning: Turning | None
    ago: int
    late: int
    extents: tuple[Extent, Extent, Extent]

    def covers(self, other: Spot) -> bool:
        """Whether all of another, of the same stage if a ring gives it, is known to be part of it."""
        pairs = zip(self.extents, other.extents, strict=True)
        stage, *sides = [mine.is_all or mine.is_same(its) for mine, its in pairs]
        return self.root == other.root and all(sides) and (stage or self.turning is not None)

    def meets(self, other: Spot) -> bool | None:
        """Whether both have bytes in common; None if not known. They are of no ring."""
        if self.root != other.root:
            return False
        sides = [a.meets(b) for a, b in zip(self.extents, other.extents, strict=True)]
        return False if False in sides else None if None in sides else True

    def parts_from(self, other: Spot, symbol: Symbol) -> bool:
        """Whether those of two warpgroups of a role have no bytes in common."""
        pairs = zip(self.extents, other.extents, strict=True)
        return any(a.parts_from(b, symbol) for a, b in pairs)

    def fixed(self) -> Spot:
        """The same with nothing known of what changes in the course of a role."""
        kept = (
            e
            if e.start is None or all(isinstance(by, RoleOp) for by in e.start.varies)
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
