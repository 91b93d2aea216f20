"""Edits of a function: each changes the IR, and updates the list of ops, accumulators and the prover."""

from __future__ import annotations

from functools import cmp_to_key

from ...bindings.irtypes import Block, Op, Value
from ...dialect.ops import ScaleDOp
from ...dialect.types import FragmentType, is_in_flight
from ..order.function_ops import FunctionOps, following
from .inserted import InsertedOp
from .insertion_points import InsertionPoint, entry_at, is_argument, user_in
from .prover import Prover


class Edits:
    """Inserts, moves and removes ops.

    Args:
        ops: the ops of the function.
        prover: finds the unordered accesses of the function.

    Attributes:
        in_flight: the accumulators in flight.
    """

    def __init__(self, ops: FunctionOps, prover: Prover) -> None:
        self.ops = ops
        self.in_flight = InFlight(ops)
        self.prover = prover

    def add(self, op: Op, point: InsertionPoint) -> None:
        """Note an op that was built at an insertion point."""
        entry = self.ops.insert(op, entry_at(self.ops, point))
        self.prover.insert(entry)
        for value in op.results:
            self.in_flight.add(value)

    def take_out(self, op: Op) -> InsertionPoint:
        """Detach an op from its block; return where it was."""
        point = self.point_of(op)
        self._remove(op)
        op.detach_from_parent()
        return point

    def put_back(self, op: Op, point: InsertionPoint) -> None:
        """Insert a detached op."""
        point.insert(op)
        self.add(op, point)

    def move(self, op: Op, point: InsertionPoint) -> None:
        """Move an op to an insertion point at another op."""
        self._remove(op)
        point.move(op)
        self.add(op, point)

    def erase(self, inserted: InsertedOp) -> None:
        """Erase an inserted op."""
        whole = inserted.whole
        self._remove(whole)
        self.ops.forget(whole)
        inserted.erase()

    def set_pending(self, inserted: InsertedOp, pending: int) -> None:
        """Set how many groups a wait leaves pending."""
        inserted.pending = pending
        self.prover.set_pending(self.ops.entry(inserted.op), pending)

    def point_of(self, op: Op) -> InsertionPoint:
        """Return where an op is, to put it back after it was moved or detached."""
        entry = self.ops.entry(op)
        if entry.next.op is not None:
            return InsertionPoint(entry.next.op)
        return InsertionPoint(entry.previous.op, is_after=True)

    def _remove(self, op: Op) -> None:
        for value in op.results:
            self.in_flight.remove(value)
        entry = self.ops.remove(op)
        self.prover.remove(entry)


class InFlight:
    """The accumulators in flight of a function.

    Args:
        ops: the function's ops.
    """

    def __init__(self, ops: FunctionOps) -> None:
        self._ops = ops
        self._values: dict[Block, list[Value]] = {}

    def values_at(self, point: InsertionPoint) -> list[Value]:
        """Return the accumulators in flight at an insertion point, the latest one first."""
        values = [value for value in self._of(point.block) if _is_in_flight_at(value, point)]
        return sorted(values, key=cmp_to_key(_latest_first))

    def add(self, value: Value) -> None:
        """Note the result of an inserted op."""
        if _is_accumulator_in_flight(value):
            self._of(value.owner.operation.block).append(value)

    def remove(self, value: Value) -> None:
        """Note that the op of a value is removed from its block."""
        if _is_accumulator_in_flight(value):
            self._of(value.owner.operation.block).remove(value)

    def _of(self, block: Block) -> list[Value]:
        if block not in self._values:
            results = [x for op in following(self._ops.end(block)) for x in op.results]
            values = [*block.arguments, *results]
            self._values[block] = [x for x in values if _is_accumulator_in_flight(x)]
        return self._values[block]


def _is_accumulator_in_flight(value: Value) -> bool:
    if not isinstance(value.type, FragmentType) or not is_in_flight(value.type):
        return False
    return is_argument(value) or value.owner.operation.name != ScaleDOp.OPERATION_NAME


def _is_in_flight_at(value: Value, point: InsertionPoint) -> bool:
    maker = None if is_argument(value) else value.owner.operation
    user = user_in(point.block, value)
    return (maker is None or _is_before(maker, point)) and not (user and _is_before(user, point))


def _is_before(op: Op, point: InsertionPoint) -> bool:
    return (point.is_after and op == point.op) or op.is_before_in_block(point.op)


def _latest_first(x: Value, y: Value) -> int:
    """Compare values of a block: the later definition comes first, arguments come last."""
    if is_argument(x) or is_argument(y):
        if is_argument(x) and is_argument(y):
            return y.arg_number - x.arg_number
        return 1 if is_argument(x) else -1
    maker, other_maker = x.owner.operation, y.owner.operation
    if maker == other_maker:
        return y.result_number - x.result_number
    return 1 if maker.is_before_in_block(other_maker) else -1
