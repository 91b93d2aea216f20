"""Where ops can be inserted, and the accumulators that are in flight there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import ElectOp, MapOp
from ..order.function_ops import Entry, FunctionOps

#: Ops whose regions whole warpgroups do not execute, or not once.
_CLOSED = (ElectOp.OPERATION_NAME, MapOp.OPERATION_NAME)


class Place(NamedTuple):
    """A place between the ops of a block: before an op, or after it."""

    op: Op
    is_after: bool = False

    @property
    def block(self) -> Block:
        """The block."""
        return self.op.block

    @property
    def insertion_point(self) -> Any:
        """Where the bindings insert ops."""
        return ir.InsertionPoint.after(self.op) if self.is_after else ir.InsertionPoint(self.op)

    def insert(self, op: Op) -> None:
        """Insert an op that was taken out."""
        self.insertion_point.insert(op)

    def move(self, op: Op) -> None:
        """Move an op there."""
        op.move_after(self.op) if self.is_after else op.move_before(self.op)


def outwards(op: Op) -> Iterator[Op]:
    """Yield an op and the ops around it, from the inside out."""
    each: Op | None = op.operation
    while each is not None:
        yield each
        each = each.parent.operation if each.parent is not None else None


def entry_at(ops: FunctionOps, place: Place) -> Entry:
    """Return the entry before which a place is."""
    entry = ops.entry(place.op)
    return entry.next if place.is_after else entry


def gap_between(earlier: Op, later: Op) -> Place:
    """Return a place that is on every path from one op to another, and in no loop that contains only the
    later one."""
    blocks = [op.block for op in outwards(earlier) if op.parent is not None]
    for op in outwards(later):
        if op.parent is not None and op.block in blocks:
            return Place(op)
    raise AssertionError("two ops of a function share its body")


def end_of_threads(op: Op) -> Place:
    """Return the last place of an op's block at which the same threads are, in no loop around the op."""
    loops = loops_around(op)
    return end_of((loops[0] if loops else op.operation).block)


def end_of(block: Block) -> Place:
    """Return the last place of a block, before what ends it."""
    last = block.operations[len(block.operations) - 1].operation
    return Place(last, is_after=not last.name.endswith((".return", ".yield")))


def whole_warpgroups(op: Op) -> Op:
    """Return an op, or the outermost one around it whose region whole warpgroups do not execute."""
    return next((x for x in [*outwards(op)][::-1] if x.name in _CLOSED), op.operation)


def elect_around(op: Op) -> ElectOp | None:
    """Return the `smem.elect` around an op; None if there is none."""
    return next((x.opview for x in outwards(op) if isinstance(x.opview, ElectOp)), None)


def share_elect(one: Op, other: Op) -> bool:
    """Whether two ops are in one `smem.elect`."""
    around = elect_around(one)
    return around is not None and around.operation in outwards(other)


def ancestor_in(block: Block, op: Op) -> Op | None:
    """Return the op of a block that contains an op, or is it; None if there is none."""
    return next((x for x in outwards(op) if x.parent and x.block == block), None)


def loops_around(op: Op) -> list[Op]:
    """Return the `scf.for` around an op, from the outside in."""
    return [each for each in outwards(op) if each.name == "scf.for" and each != op.operation][::-1]


def ops_of(block: Block) -> list[Op]:
    """Return the ops of a block."""
    return [each.operation for each in block.operations]


def user_in(block: Block, value: Value) -> Op | None:
    """Return the op of a block that has the single use of a value in flight; None if it has no use."""
    return next((ancestor_in(block, use.owner) for use in value.uses), None)


def is_argument(value: Value) -> bool:
    """Whether a value is an argument of a block."""
    return isinstance(value.owner, ir.Block)
