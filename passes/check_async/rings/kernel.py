"""What is known of a kernel before its ops are followed, and what is noted on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....dialect.bindings import ir
from ....dialect.ops.ring import ring_number
from ....dialect.ops.tma import multicast_of
from ....dialect.types import TileType
from ....ir.subtiles import chain_of
from ....ir.walk import walk
from ..forms import Symbol
from ..values import Values
from .spots import Side, Spot, Turning

#: The ops that take a ring as their first operand.
RING_OPS = tuple(name for side in Side for name in (side.begins, side.ends))

#: The ops whose second operand is a tile that they write.
_WRITES = ("smem.copy", "smem.copy_async", "smem.store", "smem.tma_load")

#: The ops with a `pending`.
_WAITS = ("smem.wait", "smem.tma_wait")


@dataclass(frozen=True, eq=False)
class Agent:
    """Threads that run the same ops: those of a role, of one warp of its warpgroups, or of the block.

    Attributes:
        op: the `smem.role`, or the function; of the threads of one warp, their `smem.elect`.
        warpgroups: how many they are; None if that is not known.
        whole: whether they are all threads of the block.
        first: whether the block's first warpgroup is one of them.
        symbol: which of the role's warpgroups it is; None if all are the block's.
    """

    op: Any
    warpgroups: int | None
    whole: bool
    first: bool
    symbol: Symbol | None


class Handover(NamedTuple):
    """An `smem.producer_commit` or `smem.consumer_release`.

    Attributes:
        turning: the ring, and the side that hands a step on.
        step: the step, if it is a constant.
        ago: how many steps began since, and with, it.
        arrivals: how many threads commit it, or warpgroups release it; None if that is not known.
        written: the parts of its stage that were written before.
        unfenced: of those by the threads' own writes, which are not fenced: the tile, and the op.
        certain: whether some run does it so.
    """

    agent: Agent
    op: Any
    turning: Turning
    step: int | None
    ago: int
    arrivals: int | None
    written: frozenset[Spot]
    unfenced: frozenset[tuple[Any, Any]]
    certain: bool


class Access(NamedTuple):
    """An access of a tile."""

    agent: Agent
    op: Any
    spot: Spot
    writes: bool
    certain: bool


@dataclass
class Kernel:
    """A function with rings or roles.

    Attributes:
        values: its integers.
        furthest: one more than the largest number of groups that a wait leaves pending.
        fills: for each tile without stages, the ring by which it is loaded.
        written: the tiles that anything writes.
        handovers, accesses: what was found on all paths.
        held: for each agent and side of a ring, the most steps that it holds while it waits for one.
        ends: for each agent the states in which it ends.
    """

    function: Any
    values: Values
    furthest: int
    fills: dict[Any, Any]
    written: set[Any]
    handovers: dict[Handover, None] = field(default_factory=dict)
    accesses: dict[Access, None] = field(default_factory=dict)
    held: dict[tuple[Agent, Turning], int] = field(default_factory=dict)
    ends: dict[Agent, list[Any]] = field(default_factory=dict)

    @staticmethod
    def of(function: Any) -> Kernel:
        """What is known of a function."""
        pending = [ir.IntegerAttr(op.attributes["pending"]).value for op in walk(function, *_WAITS)]
        fills = {
            op.operands[1].owner.operation: op.operands[2].owner.operation
            for op in walk(function, "smem.tma_load")
        }
        written = {
            chain_of(op.operands[1], op)[0].operation
            for op in walk(function, *_WRITES)
            if isinstance(op.operands[1].type, TileType)
        }
        return Kernel(function, Values(function), 1 + max(pending, default=0), fills, written)

    def rings(self) -> list[Any]:
        """The function's rings."""
        return [op.operation for op in walk(self.function, "smem.ring")]

    def turning(self, op: Any) -> Turning:
        """The ring of one of `RING_OPS`, and the side that executes it."""
        consumes = op.name in (Side.CONSUMER.begins, Side.CONSUMER.ends)
        return op.operands[0].owner.operation, Side.CONSUMER if consumes else Side.PRODUCER

    def loads(self, ring: Any) -> list[Any]:
        """The `smem.tma_load` that count for a ring."""
        uses = (use.owner.operation for use in ring.results[0].uses)
        return [op for op in uses if op.name == "smem.tma_load"]

    def shares_loads(self, ring: Any) -> bool:
        """Whether blocks of a cluster load stages of a ring together."""
        return any(multicast_of(op.opview) is not None for op in self.loads(ring))


def stages_of(ring: Any) -> int:
    """How many stages a ring has."""
    return ring_number(ring.opview, "stages")


def within(op: Any) -> list[Any]:
    """The ops of an op's regions, however deep, in the order of the text."""
    return [inner for inner in walk(op) if inner != op]
