"""Reductions of accumulators to slices, and slices as accumulators."""

from collections.abc import Callable
from functools import partial

from ....bindings.irtypes import Value
from ....bindings.mlir import ir
from ....dialect.ops import BroadcastOp, ReduceOp
from ....dialect.slices import check_slice_type
from ....ir import emit
from ....ir.reductions import exchange_of
from ....layout.accumulators import ACC_F16
from ....layout.fragments import accumulator_column, accumulator_row
from ..registers import AccumulatorRegisters, struct_of
from ..target import FRAGMENTS, MmaTarget, TypedOp
from .exchanges import combine_across_warps, exchange_with_lane
from .pairs import ElementPair, pack_registers

#: The op of `arith` for each reduction operation; `add` and `mul` differ between floats and integers.
_OPS = {
    "maximumf": "arith.maximumf",
    "maxnumf": "arith.maxnumf",
    "minimumf": "arith.minimumf",
    "minnumf": "arith.minnumf",
    "maxsi": "arith.maxsi",
    "maxui": "arith.maxui",
    "minsi": "arith.minsi",
    "minui": "arith.minui",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
}

#: The distances between the numbers of the lanes that hold a row: the four of a quad (PTX ISA
#: 9.7.15.5.1.1, figures of D).
_QUAD = (1, 2)

#: Of the lanes that hold a column: those with the same number in their quads.
_COLUMN = (4, 8, 16)

_Combine = Callable[[Value, Value], Value]


@FRAGMENTS.of(ReduceOp)
def lower_reduce(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the slice of an `smem.reduce`."""
    op = typed.op
    registers = target.registers(typed.type_of("fragment"))
    result = target.slice_registers(typed.result)
    combine = _combine(op.op.value, isinstance(result.element, ir.IntegerType))
    along_rows = op.axis.value == 1
    elements = (_rows if along_rows else _columns)(registers, op.fragment)
    partials = [_combine_pair(_tree(elements[index], combine), combine) for index in result.indices]
    # Step by step for all results: the exchanges of one of them run during those of the others.
    for distance in _QUAD if along_rows else _COLUMN:
        partials = [combine(value, exchange_with_lane(value, distance)) for value in partials]
    exchange = exchange_of(op)
    if exchange:
        combine_all = partial(_tree, combine=combine)
        partials = combine_across_warps(
            op, exchange, partials, result, typed.thread(), target.named_barriers, combine_all
        )
    return result.join(partials)


@FRAGMENTS.of(BroadcastOp)
def lower_broadcast(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the accumulator whose registers are those of a slice, repeated."""
    type_ = typed.type_of("slice")
    source, registers = target.slice_registers(type_), target.registers(typed.result)
    element_at = dict(zip(source.indices, source.scalars(typed.op.slice), strict=True))
    along_rows = check_slice_type(type_) == 1
    pairs: dict[tuple[int, int], ElementPair] = {}
    structs = []
    for position, (first_row, first_column, columns) in enumerate(registers.blocks):
        block: list[ElementPair] = []
        for i in range(0, columns // 2, 2):
            row = first_row + accumulator_row(i)
            column = first_column + accumulator_column(i)
            indices = (row, row) if along_rows else (column, column + 1)
            if indices not in pairs:
                pairs[indices] = ElementPair(elements=[element_at[index] for index in indices])
            block.append(pairs[indices])
        members = list(pack_registers(registers.accumulator, block))
        structs.append(struct_of(registers.block_type(position), members))
    return registers.join(structs)


def _tree(values: list[Value], combine: _Combine) -> Value:
    """Combine neighbours, then neighbouring results, until one is left."""
    while len(values) > 1:
        pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
        values = [combine(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return values[0]


def _combine(name: str, integers: bool) -> _Combine:
    op = _OPS.get(name) or f"arith.{name}{'i' if integers else 'f'}"
    return lambda left, right: emit.value(op, (left, right), left.type)


def _rows(registers: AccumulatorRegisters, fragment: Value) -> dict[int, list[Value]]:
    """Return a thread's elements of each of its rows, in the order of columns; f16 as pairs."""
    rows: dict[int, list[Value]] = {}
    for position, scalars in registers.scalars(fragment):
        first_row, _, columns = registers.blocks[position]
        for i in range(0, columns // 2, 2):
            pair = ElementPair.from_registers(registers.accumulator, scalars, i)
            packed = registers.accumulator is ACC_F16
            elements = rows.setdefault(first_row + accumulator_row(i), [])
            elements += [pair.vector] if packed else pair.elements
    return rows


def _columns(registers: AccumulatorRegisters, fragment: Value) -> dict[int, list[Value]]:
    """Return a thread's elements of each of its columns, in the order of rows."""
    columns: dict[int, list[Value]] = {}
    for position, scalars in registers.scalars(fragment):
        _, first_column, count = registers.blocks[position]
        for i in range(0, count // 2, 2):
            pair = ElementPair.from_registers(registers.accumulator, scalars, i)
            for j, element in enumerate(pair.elements):
                column = first_column + accumulator_column(i + j)
                columns.setdefault(column, []).append(element)
    return columns


def _combine_pair(value: Value, combine: _Combine) -> Value:
    """Combine the two elements of a pair; a value that is no pair is returned."""
    if not isinstance(value.type, ir.VectorType):
        return value
    return combine(emit.extract_element(value, 0), emit.extract_element(value, 1))
