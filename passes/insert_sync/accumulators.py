"""Put accumulators of mma in flight until an op reads them, also those that loops carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.build import create
from ...dialect.op import SmemOp
from ...dialect.ops import AnyMma, FillOp, ScaleDOp, TileMma, WaitOp
from ...dialect.ops.wait import mma_after
from ...dialect.types import FragmentType, is_accumulator, is_in_flight, with_state
from ...ir.walk import walk
from ..order.needs import Need
from .inserted import InsertedOp
from .insertion_points import ancestor_in, is_argument, ops_of


@dataclass(frozen=True)
class _CarriedAccumulator:
    """An accumulator that a loop carries.

    Attributes:
        loop: the loop.
        position: its position among the carried values.
    """

    loop: Op
    position: int

    @property
    def initial(self) -> Value:
        """Its value in the first iteration."""
        return self.loop.operands[3 + self.position]

    @property
    def argument(self) -> Value:
        """Its value within an iteration."""
        return self.loop.regions[0].blocks[0].arguments[1 + self.position]

    @property
    def next_value(self) -> Value:
        """Its value in the next iteration."""
        return ops_of(self.loop.regions[0].blocks[0])[-1].operands[self.position]

    @property
    def result(self) -> Value:
        """Its value after the loop."""
        return self.loop.results[self.position]


def put_in_flight(function: Op) -> list[InsertedOp]:
    """Put the results of mma in flight, and insert the waits by which they become readable.

    Returns:
        The waits.
    """
    mmas = [op for op in walk(function, TileMma) if not is_in_flight(op.result.type)]
    if not mmas:
        return []
    carried = _carried_in_flight(function)
    values = [op.result for op in mmas]
    for accumulator in carried:
        if _is_fill(accumulator.initial):
            accumulator.loop.operands[3 + accumulator.position] = _fill_in_flight(
                accumulator.initial
            )
        if _is_fill(accumulator.next_value):
            end = ops_of(accumulator.loop.regions[0].blocks[0])[-1]
            end.operands[accumulator.position] = _fill_in_flight(accumulator.next_value)
        values += [accumulator.argument, accumulator.result]
    for value in values:
        _put_in_flight(value)
    waits = []
    for value in [op.result for op in mmas] + [accumulator.result for accumulator in carried]:
        reader = _first_reader(value, carried)
        if reader is not None:
            waits.append(_wait_before(reader, value))
    return waits


def _put_in_flight(value: Value) -> None:
    value.set_type(with_state(value.type, True))
    for use in value.uses:
        if isinstance(use.owner, ScaleDOp):
            use.owner.result.set_type(value.type)


def _wait_before(reader: Op, value: Value) -> InsertedOp:
    """Insert the wait by which an accumulator becomes readable for an op and all later ones."""
    uses = [(use.owner, use.operand_number) for use in value.uses]
    with ir.InsertionPoint(reader), reader.location:
        readable = with_state(value.type, False)
        wait = create(WaitOp, [value], [readable], pending=mma_after(value, reader))
    for owner, number in uses:
        owner.operands[number] = wait.result
        if isinstance(owner, ScaleDOp):
            owner.result.set_type(wait.result.type)
    return InsertedOp(wait.operation, Need(WaitOp, 0), reader=reader)


# Which accumulators can stay in flight.


def _carried_in_flight(function: Op) -> list[_CarriedAccumulator]:
    """Return the accumulators that loops can carry in flight: only mma use them in the loop."""
    possible = [
        _CarriedAccumulator(op.operation, position)
        for op in walk(function, "scf.for")
        for position, result in enumerate(op.results)
        if _is_readable_accumulator(result)
    ]
    while True:
        staying = [
            accumulator for accumulator in possible if _stays_in_flight(accumulator, possible)
        ]
        if len(staying) == len(possible):
            return staying
        possible = staying


def _stays_in_flight(accumulator: _CarriedAccumulator, carried: list[_CarriedAccumulator]) -> bool:
    loops = (
        _CarriedAccumulator(x.owner.operation, x.result_number)
        for x in _results(accumulator.next_value)
    )
    added = isinstance(_maker(accumulator.next_value), TileMma) or any(
        loop in carried for loop in loops
    )
    return (
        added
        and _can_be_in_flight(accumulator.initial, carried)
        and _first_reader(accumulator.argument, carried) is None
        and _first_reader(accumulator.next_value, carried) is None
    )


def _can_be_in_flight(value: Value, carried: list[_CarriedAccumulator]) -> bool:
    """Whether a loop can carry an accumulator in flight that has this initial value."""
    if _is_fill(value):
        return True
    if is_argument(value):
        is_possible = any(value == accumulator.argument for accumulator in carried)
    else:
        is_possible = isinstance(_maker(value), TileMma) or any(
            value == accumulator.result for accumulator in carried
        )
    is_possible = is_possible or is_in_flight(value.type)
    return is_possible and _first_reader(value, carried) is None


def _first_reader(value: Value, carried: list[_CarriedAccumulator]) -> Op | None:
    """Return the first op for which an accumulator must be readable; None if no op reads it.

    The registers of an accumulator in flight cannot be copied, so if it has several uses, all read it.
    """
    uses = list(value.uses)
    if len(uses) <= 1 and all(_keeps_in_flight(u.owner, u.operand_number, carried) for u in uses):
        return None
    block = value.owner if is_argument(value) else value.owner.operation.block
    users = {user: None for use in uses if (user := ancestor_in(block, use.owner)) is not None}
    return next((op for op in ops_of(block) if op in users), None)


def _keeps_in_flight(user: Op, operand: int, carried: list[_CarriedAccumulator]) -> bool:
    """Whether an op accepts an accumulator in flight as an operand."""
    if isinstance(user, ScaleDOp | WaitOp):
        return True
    if isinstance(user, AnyMma):
        return operand == len(user.operands) - 1
    op = user.operation
    if op.name == "scf.for" and operand >= 3:
        carrier = op.results[operand - 3]
        return is_in_flight(carrier.type) or _CarriedAccumulator(op, operand - 3) in carried
    if op.name == "scf.yield" and op.parent.operation.name == "scf.for":
        carrier = op.parent.operation.results[operand]
        return (
            is_in_flight(carrier.type)
            or _CarriedAccumulator(op.parent.operation, operand) in carried
        )
    return False


def _maker(value: Value) -> SmemOp | None:
    """Return the op of the dialect that defines a value; None if there is none."""
    op = None if is_argument(value) else value.owner.opview
    return op if isinstance(op, SmemOp) else None


def _results(value: Value) -> Iterator[Value]:
    """Yield a value if it is the result of a loop."""
    if not is_argument(value) and value.owner.operation.name == "scf.for":
        yield value


def _is_readable_accumulator(value: Value) -> bool:
    type_ = value.type
    return isinstance(type_, FragmentType) and is_accumulator(type_) and not is_in_flight(type_)


def _is_fill(value: Value) -> bool:
    return isinstance(_maker(value), FillOp)


def _fill_in_flight(value: Value) -> Value:
    """Return the result of an `smem.fill` in flight: that of a new one if the fill has other uses."""
    fill = value.owner
    if len(list(value.uses)) == 1:
        value.set_type(with_state(value.type, True))
        return value
    with ir.InsertionPoint(fill), fill.location:
        return create(FillOp, list(fill.operands), [with_state(value.type, True)]).result
