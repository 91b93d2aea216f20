"""Loads of fragments from a tile or from global memory."""

from math import prod
from typing import Any

from ....bindings.irtypes import Op, Type, Value
from ....bindings.mlir import ir
from ....dialect.divisibility import constant_of
from ....dialect.ops import LoadOp
from ....dialect.ops.mma_rules import operand_element
from ....dialect.slices import slice_dim
from ....dialect.types import TileType, is_a_fragment, is_metadata, shape_of, tensor_of
from ....ir import emit
from ....ir.cluster import cluster_size, wait_at_end
from ....ir.errors import OpError
from ....ir.i32 import I32
from ....ir.kernel import function_of
from ....ir.shared_memory import gep, memref_pointer, stride_value
from ....layout.fragment_access import a_fragment_access
from ....layout.fragments import (
    A_FRAGMENT_REGISTERS,
    WARPGROUP,
    accumulator_column,
    accumulator_row,
    first_rows,
    rows_of_warp,
)
from ....layout.instruction import instruction_k
from ..registers import (
    AccumulatorRegisters,
    SliceRegisters,
    extract,
    fragment_of_words,
    struct_of,
    word_count,
)
from ..target import FRAGMENTS, MmaTarget, TypedOp
from .pairs import ElementPair, vector_of
from .pointers import (
    MATRIX_COLUMNS,
    ElementPointers,
    GlobalPointers,
    SlicePointers,
    TilePointers,
    matrix_attributes,
)


@FRAGMENTS.of(LoadOp)
def lower_load(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the fragment of an `smem.load`."""
    op, fragment, thread = typed.op, typed.result, typed.thread()
    source = op.source
    if is_metadata(fragment):
        return _load_metadata(source, word_count(fragment), thread)
    if is_a_fragment(fragment):
        return _load_a_fragment(op, source, thread, target.rows(shape_of(fragment)[0]))
    if slice_dim(fragment) is not None:
        return _load_slice(source, target.slice_registers(fragment), thread)
    registers = target.registers(fragment)
    if isinstance(source.type, TileType):
        pointers: ElementPointers = TilePointers(
            op, source, op.access, thread, registers.warp_rows, _cta(op)
        )
        memory_type = tensor_of(source.type).element_type
    else:
        pointers = GlobalPointers(source, thread, registers.warp_rows, shape_of(fragment)[0])
        memory_type = source.type.element_type
    return _load_accumulator(registers, tensor_of(fragment).element_type, memory_type, pointers)


def _cta(op: Op) -> Value | None:
    """Return the CTA whose tile a load reads (i32); None for the CTA's own.

    Raises:
        OpError: if the cluster has no such CTA.
    """
    if op.rank is None:
        return None
    function = function_of(op)
    size = cluster_size(function)
    extents, rank = "x".join(map(str, size)), constant_of(op.rank)
    if size == (1, 1, 1):
        raise OpError(
            op,
            f"has a rank, but the kernel has clusters of {extents} CTAs; set known_cluster_size = "
            "array<i32: x, y, z> on it",
        )
    if rank is not None and rank >= prod(size):
        raise OpError(
            op, f"has rank = {rank}; a cluster of {extents} CTAs has ranks 0 to {prod(size) - 1}"
        )
    wait_at_end(function)
    return emit.value("arith.index_cast", (op.rank,), emit.i32())


def _load_accumulator(
    registers: AccumulatorRegisters, element: Type, memory_type: Type, pointers: ElementPointers
) -> Value:
    structs = []
    for position, (first_row, first_column, columns) in enumerate(registers.blocks):
        if pointers.access.matrices:
            pairs = _matrix_pairs(first_row, first_column, columns, memory_type, pointers)
        else:
            pairs = [
                _pair(
                    first_row + accumulator_row(i),
                    first_column + accumulator_column(i),
                    memory_type,
                    pointers,
                )
                for i in range(0, columns // 2, 2)
            ]
        members = (
            register
            for pair in pairs
            for register in ElementPair.from_memory(pair, element).registers(registers.accumulator)
        )
        structs.append(struct_of(registers.block_type(position), members))
    return registers.join(structs)


def _pair(row: int, column: int, memory_type: Type, pointers: ElementPointers) -> Value:
    """Return two adjacent elements of a row, as a vector of the element type in memory."""
    pair, size = vector_of(memory_type), memory_type.width // 8
    if pointers.access.vector == 2:
        return _load(pointers.pointer(row, column), pair, 2 * size)
    singles = [_load(pointers.pointer(row, column + j), memory_type, size) for j in (0, 1)]
    return emit.value("vector.from_elements", singles, pair)


def _matrix_pairs(
    row: int, column: int, columns: int, memory_type: Type, pointers: ElementPointers
) -> list[Value]:
    """Return the pairs of 64 rows, loaded by `ldmatrix`."""
    pairs: list[Value] = []
    for offset in range(0, columns, MATRIX_COLUMNS):
        count = min(columns - offset, MATRIX_COLUMNS) // 4
        words = _load_matrices(
            pointers.pointer(row, column + offset), count, pointers.access.transposed
        )
        pairs += [emit.value("llvm.bitcast", (word,), vector_of(memory_type)) for word in words]
    return pairs


def _load_a_fragment(op: Op, tile: Value, thread: Value, rows: int) -> Value:
    """Load A: four registers of a thread for each 64 rows and each K of an instruction.

    Args:
        op: the load.
        tile: the tile.
        thread: the index of the thread in its CTA (i32).
        rows: rows of an instruction.
    """
    m, columns = shape_of(tile.type)
    pointers = TilePointers(op, tile, a_fragment_access, thread, rows_of_warp(rows))
    element = operand_element(tile.type)
    words: list[Value] = []
    for row in first_rows(m, rows):
        for column in range(0, columns, instruction_k(element)):
            if pointers.access.matrices:
                words += _load_matrices(
                    pointers.pointer(row, column), A_FRAGMENT_REGISTERS, pointers.access.transposed
                )
                continue
            for register in range(A_FRAGMENT_REGISTERS):
                element_at = (row + 8 * (register % 2), column + element.unit * (register // 2))
                words.append(_load_word(*element_at, element.bits, pointers))
    return fragment_of_words(words)


def _load_word(row: int, column: int, bits: int, pointers: ElementPointers) -> Value:
    """Load one register of A, by one load or several."""
    step = pointers.access.vector
    i32, narrow = emit.i32(), ir.IntegerType.get_signless(bits * step)
    word: Any = None
    for i in range(0, 32 // bits, step):
        loaded = _load(pointers.pointer(row, column + i), narrow, bits * step // 8)
        if narrow != i32:
            loaded = emit.binary("shli", emit.value("arith.extui", (loaded,), i32), i * bits)
        word = loaded if word is None else emit.value("arith.ori", (word, loaded), i32)
    return word


def _load_matrices(pointer: Value, count: int, transposed: bool) -> list[Value]:
    """Emit an `ldmatrix` of `count` matrices; return a register for each."""
    i32 = emit.i32()
    text = f"!llvm.struct<({', '.join(['i32'] * count)})>"
    type_ = ir.Type.parse(text) if count > 1 else i32
    loaded = emit.value(
        "nvvm.ldmatrix",
        (pointer,),
        type_,
        num=ir.IntegerAttr.get(i32, count),
        **matrix_attributes(transposed),
    )
    return [extract(loaded, i, i32) for i in range(count)] if count > 1 else [loaded]


def _load_metadata(source: Value, count: int, thread: Value) -> Value:
    """Load each thread's words of metadata from memref<M / 64 x words x 128 x i32>."""
    i64 = emit.i64()
    lane = emit.value("arith.extui", ((I32(thread) % WARPGROUP).value,), i64)
    strides = [stride_value(source, dim, i64) for dim in range(3)]
    base = gep(memref_pointer(source, 1), emit.binary("muli", lane, strides[2]), "i32")
    per_row = source.type.shape[1]
    words = []
    for i in range(count):
        pointer = base
        for index, stride in zip(divmod(i, per_row), strides, strict=False):
            if isinstance(stride, int):
                pointer = gep(pointer, index * stride, "i32")
            elif index:
                pointer = gep(pointer, emit.binary("muli", stride, index), "i32")
        words.append(_load(pointer, emit.i32(), 4))
    return fragment_of_words(words)


def _load(pointer: Value, type_: Type, alignment: int) -> Value:
    return emit.value(
        "llvm.load", (pointer,), type_, alignment=ir.IntegerAttr.get(emit.i64(), alignment)
    )


def _load_slice(source: Value, registers: SliceRegisters, thread: Value) -> Value:
    """Return the slice of a vector in global memory; threads that hold the same element all load it."""
    pointers = SlicePointers(source, registers, thread)
    element: Type = source.type.element_type
    elements = []
    for index in registers.indices:
        value = emit.value(
            "llvm.load", (pointers.pointer(index),), element, alignment=pointers.alignment
        )
        if element != registers.element:
            value = emit.value("arith.extf", (value,), registers.element)
        elements.append(value)
    return registers.join(elements)
