"""Registers of fragments in other groups: those of some columns, and vectors of all of them."""

from ....bindings.irtypes import Type, Value
from ....bindings.mlir import ir
from ....dialect.ops import ColumnsOp, FromRegistersOp, ToRegistersOp
from ....dialect.slices import slice_dim
from ....dialect.types import is_a_fragment
from ....ir import emit
from ..registers import fragment_of_words, struct_of, word_count, words_of
from ..target import FRAGMENTS, MmaTarget, TypedOp


@FRAGMENTS.of(ColumnsOp)
def lower_columns(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the registers of an `smem.columns`: some of those of its operand."""
    op, result = typed.op, target.registers(typed.result)
    source, first = target.registers(typed.type_of("fragment")), op.first.value
    # The registers of each 8 columns of 64 rows, or 16 of elements of 4 bits.
    width = source.accumulator.columns
    steps: dict[tuple[int, int], list[Value]] = {}
    per_step = width // 2 // source.accumulator.per_register
    for position, scalars in source.scalars(op.fragment):
        row, column, _ = source.blocks[position]
        for i in range(0, len(scalars), per_step):
            steps[row, column + i // per_step * width] = scalars[i : i + per_step]
    structs = []
    for block, (row, column, count) in enumerate(result.blocks):
        begin = first + column
        members = [
            register for step in range(begin, begin + count, width) for register in steps[row, step]
        ]
        structs.append(struct_of(result.block_type(block), members))
    return result.join(structs)


@FRAGMENTS.of(ToRegistersOp)
def lower_to_registers(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the vector of a thread's elements."""
    op, fragment = typed.op, typed.type_of("fragment")
    if is_a_fragment(fragment):
        registers = words_of(op.fragment, word_count(fragment))
    elif slice_dim(fragment) is not None:
        registers = target.slice_registers(fragment).scalars(op.fragment)
    else:
        blocks = target.registers(fragment).scalars(op.fragment)
        registers = [scalar for _, scalars in blocks for scalar in scalars]
    vector = emit.value(
        "vector.from_elements", registers, _vector_of(len(registers), registers[0].type)
    )
    return _cast(vector, typed.result)


@FRAGMENTS.of(FromRegistersOp)
def lower_from_registers(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the fragment whose registers hold the elements of a vector."""
    vector, fragment = typed.op.vector, typed.result
    if is_a_fragment(fragment):
        words = word_count(fragment)
        vector = _cast(vector, _vector_of(words, emit.i32()))
        return fragment_of_words([emit.extract_element(vector, i) for i in range(words)])
    if slice_dim(fragment) is not None:
        slices = target.slice_registers(fragment)
        return slices.join([emit.extract_element(vector, i) for i in range(len(slices.indices))])
    registers = target.registers(fragment)
    counts = list(map(registers.count, range(len(registers.blocks))))
    register = ir.F32Type.get() if registers.register == "f32" else emit.i32()
    vector = _cast(vector, _vector_of(sum(counts), register))
    structs, first = [], 0
    for position, count in enumerate(counts):
        members = [emit.extract_element(vector, first + i) for i in range(count)]
        structs.append(struct_of(registers.block_type(position), members))
        first += count
    return registers.join(structs)


def _vector_of(count: int, element: Type) -> Type:
    return ir.VectorType.get([count], element)


def _cast(vector: Value, type_: Type) -> Value:
    """Return a vector with the same bits."""
    return vector if vector.type == type_ else emit.value("vector.bitcast", (vector,), type_)
