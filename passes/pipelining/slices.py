"""Where a load begins: the ops that compute it, which another iteration can repeat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...ir.errors import OpError
from ...ir.kernel import function_of
from ..insert_sync.insertion_points import ancestor_in
from ..order.effects import ALIASES, base_of, is_constant_argument

#: Dialects whose ops compute numbers from numbers.
_PURE_DIALECTS = {"arith", "index", "math"}

#: Ops of other dialects that do, or that name a part of an array.
_PURE = ALIASES | {
    *("affine.apply", "affine.max", "affine.min", "memref.dim"),
    *("gpu.block_id", "gpu.cluster_block_id", "gpu.grid_dim"),
}


@dataclass(frozen=True)
class LoopSlice:
    """The ops of a loop's body that compute some values from the number of the iteration.

    Attributes:
        body: the body.
        ops: the ops, in their order.
        carried: the positions, among the values that the loop carries, of those that are needed.
    """

    body: Block
    ops: tuple[Op, ...]
    carried: tuple[int, ...]

    def repeat(self, mapping: Mapping[Value, Value]) -> dict[Value, Value]:
        """Emit the ops again, with other values in the place of some; return the new value of each."""
        values = dict(mapping)
        for op in self.ops:
            emit_again(op, values)
        return values


def new_value_of(values: Mapping[Value, Value], value: Value) -> Value:
    """Return the new value of one, if it has one."""
    new = values.get(value)
    return value if new is None else new


def emit_again(op: Op, values: dict[Value, Value]) -> None:
    """Emit an op with the new values of its operands, and note those of its results."""
    clone = op.clone()
    for i, operand in enumerate(op.operands):
        clone.operands[i] = new_value_of(values, operand)
    values.update(zip(op.results, clone.results, strict=True))


def slice_of(values: Iterable[Value], body: Block) -> LoopSlice:
    """Return the ops of a loop's body that compute values, and next values of what these are made of.

    Raises:
        OpError: at an op that another iteration cannot repeat early.
    """
    needed: dict[Op, None] = {}
    carried: set[int] = set()
    remaining = list(values)
    while remaining:
        value = remaining.pop()
        owner = value.owner
        if isinstance(owner, ir.Block):
            is_carried = owner == body and body.owner.name == "scf.for" and value.arg_number > 0
            if is_carried and value.arg_number - 1 not in carried:
                carried.add(value.arg_number - 1)
                remaining.append(_yields_of(body)[value.arg_number - 1])
            continue
        op = owner.operation
        if op in needed or ancestor_in(body, op) is None:
            continue
        if op.block != body or not is_repeatable(op):
            raise OpError(op, "")
        needed[op] = None
        remaining += op.operands
    ops = tuple(op for op in (op.operation for op in body.operations) if op in needed)
    return LoopSlice(body, ops, tuple(sorted(carried)))


def _yields_of(body: Block) -> list[Value]:
    *_, last = body.operations
    return list(last.operands)


def is_repeatable(op: Op) -> bool:
    """Whether an op computes the same result at any time."""
    if len(op.regions):
        return False
    if op.name == "memref.load":
        return is_constant_argument(base_of(op.operands[0]), function_of(op))
    return op.name in _PURE or op.name.partition(".")[0] in _PURE_DIALECTS
