"""Descriptors of instruction blocks: constant steps from what an operand has."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops.bases import bases_of
from ...ir import emit
from ...ir.errors import OpError
from .registers import Registers


class Steps:
    """Descriptors of instruction blocks: one add each, shared by the mma of a block of ops."""

    def __init__(self) -> None:
        self._constants: dict[tuple[Any, int], Any] = {}
        self._stepped: dict[tuple[Any, Any, int], Any] = {}

    def of_blocks(self, op: Any, operand: str, function: Any) -> list[Any]:
        """The descriptor of each block of operand "a" or "b" of an `smem.mma_desc`."""
        value, bases = getattr(op, operand), bases_of(op, operand)
        steps = list(op.attributes[f"{operand}_steps"])
        if bases is None:
            return [self.get(value, step, op, function) for step in steps]
        elements = _elements(value)
        op.operands["ab".index(operand)] = elements[0]
        if not list(value.uses):
            value.owner.operation.erase()
        return [
            self.get(elements[base], step, op, function)
            for base, step in zip(bases, steps, strict=True)
        ]

    def of_a(self, op: Any, registers: Registers, function: Any) -> list[Any]:
        """The descriptor of each block of an A in shared memory.

        Raises:
            OpError: if its blocks have other rows than the instructions.
        """
        down = len(registers.instructions) // registers.across
        has, needed = len(op.a_steps), down * registers.k_blocks(op)
        if has != needed:
            raise OpError(
                op,
                f"has {has} a_steps; expected {needed} for instructions of {registers.rows} rows: "
                "smem-materialize-descriptors was run for another architecture",
            )
        return self.of_blocks(op, "a", function)

    def get(self, descriptor: Any, step: int, user: Any, function: Any) -> Any:
        """`descriptor + step` for an op `user`; the descriptor itself for the first block."""
        if step == 0:
            return descriptor
        key = (descriptor, user.operation.block, step)
        if key not in self._stepped:
            self._stepped[key] = ir.Operation.create(
                "arith.addi",
                results=[descriptor.type],
                operands=[descriptor, self._constant(function, step)],
            ).result
        return self._stepped[key]

    def _constant(self, function: Any, number: int) -> Any:
        """A constant at the function's entry, made once."""
        key = (function, number)
        if key not in self._constants:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                self._constants[key] = emit.constant(number, emit.i64())
        return self._constants[key]


def _elements(vector: Any) -> list[Any]:
    """The elements of a vector of descriptors: those that it was made from, if it was."""
    owner = vector.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "vector.from_elements":
        return list(owner.operation.operands)
    return [emit.extracted(vector, i) for i in range(vector.type.shape[0])]
