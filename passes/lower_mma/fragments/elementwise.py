"""Fills of accumulators and slices, and elementwise functions of them."""

from typing import Any

from ....bindings.irtypes import Op, Value
from ....bindings.mlir import ir
from ....dialect.ops import FillOp, MapOp
from ....dialect.ops.map import walk_nested
from ....dialect.slices import slice_dim
from ....ir import emit
from ....ir.i32 import I32
from ....layout.fragment_access import FragmentAccess
from ....layout.fragments import WARPGROUP, accumulator_column, accumulator_row
from ..registers import struct_of
from ..target import FRAGMENTS, MmaTarget, TypedOp
from .pairs import ElementPair


@FRAGMENTS.of(FillOp)
def lower_fill(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the fragment with the same value in every register."""
    value = typed.op.value
    if slice_dim(typed.result) is not None:
        slices = target.slice_registers(typed.result)
        return slices.join([value] * len(slices.indices))
    registers = target.registers(typed.result)
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
        number = owner.operation.attributes["value"].maybe_downcast().value
        if number == 0 and str(number) != "-0.0":
            return emit.value("llvm.mlir.zero", (), registers.type)
    register = ElementPair(elements=(value, value)).registers(registers.accumulator)[0]
    return registers.join(
        [
            struct_of(registers.block_type(position), [register] * registers.count(position))
            for position in range(len(registers.blocks))
        ]
    )


@FRAGMENTS.of(MapOp)
def lower_map(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the fragment whose elements are computed by copies of the op's region."""
    op = typed.op
    if slice_dim(typed.result) is not None:
        return _map_slices(typed, target)
    registers = target.registers(typed.result)
    inputs = [target.registers(type_) for type_ in typed.type_of("inputs")]
    thread = typed.thread()
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    ops = [inner.operation for inner in block.operations]
    has_positions = len(arguments) > len(inputs)
    positions = _Positions(thread, registers.warp_rows) if has_positions else None
    structs = []
    input_blocks = zip(*(r.scalars(v) for r, v in zip(inputs, op.inputs, strict=True)), strict=True)
    for blocks in input_blocks:
        position = blocks[0][0]
        first_row, first_column, columns = registers.blocks[position]
        members: list[Value] = []
        for i in range(0, columns // 2, 2):
            pairs = [
                ElementPair.from_registers(r.accumulator, scalars, i).elements
                for r, (_, scalars) in zip(inputs, blocks, strict=True)
            ]
            elements = []
            for j in (0, 1):
                operands = [pair[j] for pair in pairs]
                if positions:
                    row = first_row + accumulator_row(i)
                    operands += positions.at(row, first_column + accumulator_column(i + j))
                elements.append(_run(ops, dict(zip(arguments, operands, strict=True))))
            members += ElementPair(elements=elements).registers(registers.accumulator)
        structs.append(struct_of(registers.block_type(position), members))
    return registers.join(structs)


def _map_slices(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the slice whose elements are computed by copies of the op's region."""
    op, registers = typed.op, target.slice_registers(typed.result)
    inputs = [
        target.slice_registers(type_).scalars(value)
        for type_, value in zip(typed.type_of("inputs"), op.inputs, strict=True)
    ]
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    ops = [inner.operation for inner in block.operations]
    has_positions = len(arguments) > len(inputs)
    start = registers.start(typed.thread()) if has_positions else None
    elements = []
    for index, *operands in zip(registers.indices, *inputs, strict=True):
        if start is not None:
            operands.append(emit.cast_index((start + index).value, ir.IndexType.get()))
        elements.append(_run(ops, dict(zip(arguments, operands, strict=True))))
    return registers.join(elements)


class _Positions:
    """The rows and columns of a thread's elements, as index values; each is emitted once."""

    def __init__(self, thread: Value, warp_rows: int) -> None:
        self._start = FragmentAccess(2, warp_rows=warp_rows).start(I32(thread) % WARPGROUP)
        self._indices: dict[tuple[int, int], Value] = {}

    def at(self, row: int, column: int) -> list[Value]:
        """Return the position `row` rows and `column` columns after the thread's first element."""
        return [self._index(0, row), self._index(1, column)]

    def _index(self, dim: int, distance: int) -> Value:
        if (dim, distance) not in self._indices:
            value = (self._start[dim] + distance).value
            self._indices[dim, distance] = emit.cast_index(value, ir.IndexType.get())
        return self._indices[dim, distance]


def _run(ops: list[Op], values: dict[Value, Any]) -> Value:
    """Emit a copy of a region's ops with values for its arguments; return the element that it yields."""
    *body, end = ops
    for op in body:
        copy = op.clone()
        for inner in walk_nested([copy]):
            for position, operand in enumerate(inner.operands):
                if operand in values:
                    inner.operands[position] = values[operand]
        values |= dict(zip(op.results, copy.results, strict=True))
    element = end.operands[0]
    return values.get(element, element)
