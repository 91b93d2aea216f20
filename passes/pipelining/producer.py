"""The code of a producer: the loads of a kernel, and what they begin with, without anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...ir.errors import OpError
from ..order.report import label
from .slices import emit_again, is_repeatable, new_value_of

#: Ops that the code of a producer repeats with their regions.
_CONTROL = ("scf.for", "scf.if")


class Producer:
    """A copy of the ops of a block that some ops of it, and of the loops in it, depend on.

    Args:
        first: the first op of the block; values from before it are used as they are.
        loads: emits what stands for an op, with the new values of those that it takes.
        needed: the values that each of these ops takes.
    """

    def __init__(
        self,
        first: Op,
        loads: Mapping[Op, Callable[[Mapping[Value, Value]], None]],
        needed: Mapping[Op, Sequence[Value]],
    ) -> None:
        self._first, self._loads = first, loads
        self._ops: set[Op] = set()
        self._carried: dict[Op, set[int]] = {}
        for op, values in needed.items():
            self._keep_parents(op)
            for value in values:
                self._keep(value, op)

    def emit(self) -> None:
        """Emit the code at the current insertion point."""
        ops = [op.operation for op in self._first.block.operations]
        values: dict[Value, Value] = {}
        for op in ops[ops.index(self._first) :]:
            self._emit(op, values)

    # What is needed.

    def _keep(self, value: Value, user: Op) -> None:
        """Keep what a value is computed from.

        Raises:
            OpError: at the op that takes it, if a producer cannot compute it.
        """
        owner = value.owner
        if isinstance(owner, ir.Block):
            loop = owner.owner.operation
            if loop.name == "scf.for":
                self._keep_parents(loop)
                self._keep_op(loop, user)
                if value.arg_number:
                    self._keep_carried(loop, value.arg_number - 1, user)
            return
        op = owner.operation
        if not self._is_copied(op):
            return
        if op.name in _CONTROL:
            self._keep_op(op, user)
            self._keep_carried(op, list(op.results).index(value), user)
            return
        if not is_repeatable(op):
            raise OpError(
                user, f"begins where the {label(op)} says, which a producer cannot compute"
            )
        self._keep_op(op, user)

    def _keep_op(self, op: Op, user: Op) -> None:
        if op in self._ops:
            return
        self._ops.add(op)
        self._carried.setdefault(op, set())
        self._keep_parents(op)
        count = {"scf.for": 3, "scf.if": 1}.get(op.name, len(op.operands))
        for operand in list(op.operands)[:count]:
            self._keep(operand, user)

    def _keep_carried(self, op: Op, position: int, user: Op) -> None:
        if position in self._carried[op]:
            return
        self._carried[op].add(position)
        if op.name == "scf.for":
            self._keep(op.operands[3 + position], user)
        for region in op.regions:
            self._keep(_terminator(region.blocks[0]).operands[position], user)

    def _keep_parents(self, op: Op) -> None:
        parent = op.parent.operation
        if parent.name in _CONTROL:
            self._keep_op(parent, op)

    def _is_copied(self, op: Op) -> bool:
        """Whether an op is behind the first one."""
        block = self._first.block
        while op.block != block:
            parent = op.parent
            if parent is None or "function_type" in parent.operation.attributes:
                return False
            op = parent.operation
        return op == self._first or self._first.is_before_in_block(op)

    # The copy.

    def _emit(self, op: Op, values: dict[Value, Value]) -> None:
        with op.location:
            if op in self._loads:
                self._loads[op](values)
            elif op not in self._ops:
                return
            elif op.name == "scf.for":
                self._emit_for(op, values)
            elif op.name == "scf.if":
                self._emit_if(op, values)
            else:
                emit_again(op, values)

    def _emit_for(self, op: Op, values: dict[Value, Value]) -> None:
        positions = sorted(self._carried[op])
        bounds = [new_value_of(values, x) for x in list(op.operands)[:3]]
        inits = [new_value_of(values, x) for x in (op.operands[3 + i] for i in positions)]
        types = [x.type for x in inits]
        loop = emit.op("scf.for", (*bounds, *inits), types, regions=1)
        body = op.regions[0].blocks[0]
        block = ir.Block.create_at_start(loop.regions[0], [bounds[0].type, *types])
        olds = [body.arguments[0], *(body.arguments[1 + i] for i in positions)]
        inner = values | dict(zip(olds, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            self._emit_block(body, inner, positions)
        values.update({op.results[i]: new for i, new in zip(positions, loop.results, strict=True)})

    def _emit_if(self, op: Op, values: dict[Value, Value]) -> None:
        positions = sorted(self._carried[op])
        types = [op.results[i].type for i in positions]
        condition = new_value_of(values, op.operands[0])
        branch = emit.op("scf.if", (condition,), types, regions=2)
        for old, new in zip(op.regions, branch.regions, strict=True):
            if len(old.blocks):
                with ir.InsertionPoint(ir.Block.create_at_start(new)):
                    self._emit_block(old.blocks[0], dict(values), positions)
        values.update(
            {op.results[i]: new for i, new in zip(positions, branch.results, strict=True)}
        )

    def _emit_block(self, block: Block, values: dict[Value, Value], positions: list[int]) -> None:
        *ops, last = block.operations
        for op in ops:
            self._emit(op.operation, values)
        yielded = [last.operands[i] for i in positions]
        emit.op("scf.yield", [new_value_of(values, x) for x in yielded])


def _terminator(block: Block) -> Op:
    *_, last = block.operations
    return last.operation
