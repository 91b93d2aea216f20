"""Fills of accumulators and slices, and elementwise functions of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....bindings.irtypes import Op, Value
from ....bindings.mlir import ir
from ....dialect.elements import accumulator_of
from ....dialect.ops import FillOp, MapOp
from ....dialect.ops.map import walk_nested
from ....dialect.slices import slice_dim
from ....ir import emit
from ....ir.i32 import I32
from ....layout.accumulators import HELD
from ....layout.fragment_access import FragmentAccess
from ....layout.fragments import WARPGROUP, accumulator_column, accumulator_row
from ..registers import AccumulatorRegisters, struct_of
from ..target import FRAGMENTS, MmaTarget, TypedOp
from .pairs import ElementPair, NarrowPair, pack_registers, vector_of


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
            return emit.zero(registers.type)
    pairs = [ElementPair(elements=(value, value))] * 4
    register = next(pack_registers(registers.accumulator, pairs))
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
    on_pairs = any(r.accumulator.name in HELD for r in (registers, *inputs)) or _narrow_floats(ops)

    def positions_of(block: int, element: int) -> list[Value]:
        if positions is None:
            return []
        row, column, _ = registers.blocks[block]
        return positions.at(row + accumulator_row(element), column + accumulator_column(element))

    def mapped_pair(block: int, i: int, pairs: list[ElementPair]) -> ElementPair:
        if on_pairs:
            indices = zip(positions_of(block, i), positions_of(block, i + 1), strict=True)
            pairs += [ElementPair(elements=both) for both in indices]
            values = dict(zip(arguments, pairs, strict=True))
            return _run_on_pairs(ops, values, lambda: target.nibble_mask(op))
        elements = []
        for j in (0, 1):
            operands = [*(pair.elements[j] for pair in pairs), *positions_of(block, i + j)]
            elements.append(_run(ops, dict(zip(arguments, operands, strict=True))))
        return ElementPair(elements=elements)

    def mapped_pairs(block: int, blocks: list[list[Value]]) -> Iterator[ElementPair]:
        for i in range(0, registers.blocks[block][2] // 2, 2):
            sources = zip(inputs, blocks, strict=True)
            pairs = [ElementPair.from_registers(r.accumulator, s, i) for r, s in sources]
            yield mapped_pair(block, i, pairs)

    structs = []
    for block, blocks in enumerate(_input_blocks(registers, inputs, op.inputs)):
        members = list(pack_registers(registers.accumulator, mapped_pairs(block, blocks)))
        structs.append(struct_of(registers.block_type(block), members))
    return registers.join(structs)


def _input_blocks(
    registers: AccumulatorRegisters, inputs: list[AccumulatorRegisters], values: Sequence[Value]
) -> Iterator[list[list[Value]]]:
    """Yield, for each block of the result, the registers of that block of each input.

    Integers are cut into other blocks than floats, but have their elements in the same order.
    """
    if all(source.blocks == registers.blocks for source in inputs):
        scalars = (source.scalars(v) for source, v in zip(inputs, values, strict=True))
        yield from ([block for _, block in blocks] for blocks in zip(*scalars, strict=True))
        return
    flat = [
        [register for _, block in source.scalars(value) for register in block]
        for source, value in zip(inputs, values, strict=True)
    ]
    first = 0
    for _, _, columns in registers.blocks:
        bounds = [
            slice(
                *(end // source.accumulator.per_register for end in (first, first + columns // 2))
            )
            for source in inputs
        ]
        yield [scalars[part] for scalars, part in zip(flat, bounds, strict=True)]
        first += columns // 2


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
    on_pairs = _narrow_floats(ops)
    start = registers.start(typed.thread()) if has_positions else None
    elements = []
    rows = []
    for index, *operands in zip(registers.indices, *inputs, strict=True):
        if start is not None:
            operands.append(emit.cast_index((start + index).value, ir.IndexType.get()))
        if not on_pairs:
            elements.append(_run(ops, dict(zip(arguments, operands, strict=True))))
        rows.append(operands)
    # A thread has two rows, or two columns, of each group.
    for first, second in zip(rows[::2], rows[1::2], strict=True) if on_pairs else ():
        pairs = [ElementPair(elements=pair) for pair in zip(first, second, strict=True)]
        values = dict(zip(arguments, pairs, strict=True))
        elements += _run_on_pairs(ops, values, lambda: target.nibble_mask(op)).elements
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


#: Ops on floats of 16 bits with instructions for two of them (PTX ISA 9.7.4).
_ON_PAIRS = {"math.fma"} | {
    f"arith.{name}f"
    for name in ("add", "sub", "mul", "neg", "maximum", "minimum", "maxnum", "minnum")
}


def _run_on_pairs(
    ops: list[Op], pairs: dict[Value, ElementPair], mask: Callable[[], Value]
) -> ElementPair:
    """Emit a region's ops for two elements, on both at once where there are instructions for it; return
    the pair that the region yields."""
    *body, end = ops
    for op in body:
        pair = _emit_pair(op, [_pair(operand, pairs) for operand in op.operands], mask)
        if pair is not None:
            pairs[op.results[0]] = pair
            continue
        used = {v for inner in walk_nested([op]) for v in inner.operands if v in pairs}
        # The elements are emitted before the copies.
        values = {value: pairs[value].elements for value in used}
        copies = [op.clone() for _ in (0, 1)]
        for i, copy in enumerate(copies):
            for inner in walk_nested([copy]):
                for position, operand in enumerate(inner.operands):
                    if operand in values:
                        inner.operands[position] = values[operand][i]
        for results in zip(op.results, *(copy.results for copy in copies), strict=True):
            pairs[results[0]] = ElementPair(elements=results[1:])
    return _pair(end.operands[0], pairs)


def _narrow_floats(ops: list[Op]) -> bool:
    """Whether ops of a region, which may load elements, have results that are floats of 8 bits."""
    results = (result.type for op in walk_nested(ops) for result in op.results)
    return any(isinstance(type_, ir.FloatType) and type_.width == 8 for type_ in results)


def _pair(value: Value, pairs: dict[Value, ElementPair]) -> ElementPair:
    return pairs.get(value) or ElementPair(elements=(value, value))


def _emit_pair(
    op: Op, operands: list[ElementPair], mask: Callable[[], Value]
) -> ElementPair | None:
    """Emit an op for a pair of elements; return None if it is emitted for each element."""
    if len(op.results) != 1 or not operands:
        return None
    name, (source, *_), result = op.name, operands, op.results[0].type
    if name == "arith.extf" and source.type.width == 8:
        return source.narrow().widen(result)
    if name in ("arith.uitofp", "arith.sitofp") and isinstance(source, NarrowPair):
        return source.to_float(result, name == "arith.sitofp", mask)
    if name == "arith.truncf" and result.width == 8:
        accumulator = accumulator_of(result)
        word = emit.value("arith.extui", (source.to_memory(result),), emit.i32())
        return NarrowPair(accumulator, word)
    if name == "arith.bitcast" and result.width == 8 and isinstance(source.type, ir.FloatType):
        source = source.narrow()
    if name == "arith.bitcast" and isinstance(source, NarrowPair) and source.accumulator.bits == 8:
        return NarrowPair(accumulator_of(result), source.word)
    if name in _ON_PAIRS and str(result) in ("f16", "bf16"):
        # MLIR's lowering of math takes vectors apart.
        name = name.replace("math.", "llvm.intr.")
        vector = vector_of(result)
        return ElementPair(emit.value(name, [pair.vector for pair in operands], vector))
    return None


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
