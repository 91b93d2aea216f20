"""Descriptors of MMA tiles: constant steps added to the descriptor of an operand."""

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import DescriptorMma
from ...dialect.ops.bases import bases_of
from ...ir import emit
from ...ir.errors import OpError
from .registers import AccumulatorRegisters


class TileDescriptors:
    """Descriptors of MMA tiles: one add for each, shared by the mma of a basic block."""

    def __init__(self) -> None:
        self._constants: dict[tuple[Op, int], Value] = {}
        self._sums: dict[tuple[Value, Block, int], Value] = {}

    def of_mma_tiles(self, op: DescriptorMma, operand: str, function: Op) -> list[Value]:
        """Return the descriptor of each MMA tile of operand "a" or "b" of an `smem.mma_desc`."""
        value, bases = getattr(op, operand), bases_of(op, operand)
        steps = list(op.attributes[f"{operand}_steps"])
        if bases is None:
            return [self.advance(value, step, op, function) for step in steps]
        elements = _elements(value)
        op.operands["ab".index(operand)] = elements[0]
        if not list(value.uses):
            value.owner.operation.erase()
        return [
            self.advance(elements[base], step, op, function)
            for base, step in zip(bases, steps, strict=True)
        ]

    def of_a(self, op: DescriptorMma, registers: AccumulatorRegisters, function: Op) -> list[Value]:
        """Return the descriptor of each MMA tile of an A in shared memory.

        Raises:
            OpError: if the MMA tiles do not have the rows of the instructions.
        """
        down = len(registers.instructions) // registers.across
        count, needed = len(op.a_steps), down * registers.k_blocks(op)
        if count != needed:
            raise OpError(
                op,
                f"has {count} a_steps; expected {needed} for instructions of {registers.rows} rows: "
                "smem-materialize-descriptors was run for another architecture",
            )
        return self.of_mma_tiles(op, "a", function)

    def advance(self, descriptor: Value, step: int, user: DescriptorMma, function: Op) -> Value:
        """Return `descriptor + step` for an op `user`; the descriptor itself if the step is 0."""
        if step == 0:
            return descriptor
        key = (descriptor, user.operation.block, step)
        if key not in self._sums:
            self._sums[key] = ir.Operation.create(
                "arith.addi",
                results=[descriptor.type],
                operands=[descriptor, self._constant(function, step)],
            ).result
        return self._sums[key]

    def _constant(self, function: Op, number: int) -> Value:
        """Return a constant at the entry of the function; it is emitted once."""
        key = (function, number)
        if key not in self._constants:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                self._constants[key] = emit.constant(number, emit.i64())
        return self._constants[key]


def _elements(vector: Value) -> list[Value]:
    """Return the elements of a vector of descriptors; the operands if it is a `vector.from_elements`."""
    owner = vector.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "vector.from_elements":
        return list(owner.operation.operands)
    return [emit.extract_element(vector, i) for i in range(vector.type.shape[0])]
