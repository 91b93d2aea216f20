"""Fragments as vectors: the registers of a thread, in the order of `layout.register_order`."""

from ....bindings.irtypes import Type, Value
from ....bindings.mlir import ir
from ....dialect.ops import FromRegistersOp, ToRegistersOp
from ....dialect.slices import slice_dim
from ....dialect.types import is_a_fragment
from ....ir import emit
from ..registers import of_words, struct_of, word_count, words_of
from ..target import MmaTarget
from ..typed import TypedOp
from .lowerings import FRAGMENTS


@FRAGMENTS.of(ToRegistersOp)
def lower_to_registers(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the vector of a thread's elements."""
    op, fragment = typed.op, typed.type_of("fragment")
    if is_a_fragment(fragment):
        held = words_of(op.fragment, word_count(fragment))
    elif slice_dim(fragment) is not None:
        held = target.slice_registers(fragment).scalars(op.fragment)
    else:
        blocks = target.registers(fragment).scalars(op.fragment)
        held = [scalar for _, scalars in blocks for scalar in scalars]
    vector = emit.value("vector.from_elements", held, _vector_of(len(held), held[0].type))
    return _cast(vector, typed.result)


@FRAGMENTS.of(FromRegistersOp)
def lower_from_registers(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the fragment whose registers hold the elements of a vector."""
    vector, fragment = typed.op.vector, typed.result
    if is_a_fragment(fragment):
        words = word_count(fragment)
        vector = _cast(vector, _vector_of(words, emit.i32()))
        return of_words([emit.extract_element(vector, i) for i in range(words)])
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
