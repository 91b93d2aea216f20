"""Loads of fragments from a tile or from global memory."""

from collections.abc import Iterable
from math import prod
from typing import Any, TypeGuard

from ....bindings.irtypes import Op, Type, Value
from ....bindings.mlir import ir
from ....dialect.divisibility import constant_of
from ....dialect.elements import accumulator_of
from ....dialect.ops import LoadOp
from ....dialect.ops.load import access_of
from ....dialect.ops.mma_rules import operand_element
from ....dialect.slices import slice_dim
from ....dialect.types import TileType, is_a_fragment, is_metadata, shape_of, tensor_of
from ....ir import emit
from ....ir.cluster import cluster_size, wait_at_end
from ....ir.errors import OpError
from ....ir.i32 import I32
from ....ir.kernel import function_of
from ....ir.shared_memory import gep, memref_pointer, stride_value
from ....layout import Accumulator
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
from .pairs import ElementPair, NarrowPair, pack_registers, vector_of
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
        return _load_slice(op, target.slice_registers(fragment), thread)
    registers = target.registers(fragment)
    if op.is_interleaved:
        return _load_interleaved(op, source, registers, thread)
    if isinstance(source.type, TileType):
        cta = _cta(op)
        pointers: ElementPointers = TilePointers(
            op, source, access_of(fragment, cta is not None), thread, registers.warp_rows, cta
        )
        memory_type = tensor_of(source.type).element_type
    else:
        pointers = GlobalPointers(
            source,
            thread,
            registers.warp_rows,
            shape_of(fragment)[0],
            registers.accumulator.bits,
            op.matrix_rows,
        )
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
    accumulator = registers.accumulator
    # Elements of 8 and 4 bits are loaded as integers.
    loaded_as = accumulator if accumulator.bits < 16 else None
    if memory_type.width == 8 and loaded_as is None:
        loaded_as = accumulator_of(memory_type)
    structs = []
    for position, (first_row, first_column, columns) in enumerate(registers.blocks):
        if loaded_as is not None:
            narrow = (
                _narrow_pair(
                    first_row + accumulator_row(i),
                    first_column + accumulator_column(i),
                    loaded_as,
                    pointers,
                )
                for i in range(0, columns // 2, 2)
            )
            converted = (
                pair if loaded_as is accumulator else pair.widen(element) for pair in narrow
            )
            members: Iterable[Value] = pack_registers(accumulator, converted)
            structs.append(struct_of(registers.block_type(position), members))
            continue
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
        members = pack_registers(
            accumulator, (ElementPair.from_memory(pair, element) for pair in pairs)
        )
        structs.append(struct_of(registers.block_type(position), members))
    return registers.join(structs)


def _pair(row: int, column: int, memory_type: Type, pointers: ElementPointers) -> Value:
    """Return two adjacent elements of a row, as a vector of the element type in memory."""
    if is_bounded(pointers):
        return _bounded_pair(row, column, memory_type, pointers)
    pair, size = vector_of(memory_type), memory_type.width // 8
    if pointers.access.vector == 2:
        return _load(pointers.pointer(row, column), pair, 2 * size)
    singles = [_load(pointers.pointer(row, column + j), memory_type, size) for j in (0, 1)]
    return emit.value("vector.from_elements", singles, pair)


def is_bounded(pointers: ElementPointers) -> TypeGuard[GlobalPointers]:
    """Whether the elements are those of a matrix in global memory, of a dynamic extent."""
    return isinstance(pointers, GlobalPointers) and not (
        pointers.has_all_rows and pointers.has_all_columns
    )


def _bounded_pair(row: int, column: int, memory_type: Type, pointers: GlobalPointers) -> Value:
    """Return two adjacent elements of a row, 0 where the matrix has none."""
    pair, size = vector_of(memory_type), memory_type.width // 8

    def single(j: int) -> Value:
        pointer = pointers.pointer(row, column + j)
        return emit.value_or_zero(
            pointers.contains(row, column + j),
            memory_type,
            lambda: _load(pointer, memory_type, size),
        )

    def both() -> Value:
        return emit.value("vector.from_elements", [single(0), single(1)], pair)

    if pointers.access.vector == 1:
        return both()
    pointer = pointers.pointer(row, column)

    def whole() -> Value:
        return _load(pointer, pair, 2 * size)

    is_inside = pointers.contains(row, column + 1)
    if pointers.has_all_columns:
        return emit.value_or_zero(is_inside, pair, whole)
    return emit.scf_if_else(is_inside, pair, whole, both)


def _narrow_pair(
    row: int, column: int, accumulator: Accumulator, pointers: ElementPointers
) -> NarrowPair:
    """Return two adjacent elements of 8 or 4 bits of a row."""
    i8, bits = ir.IntegerType.get_signless(8), accumulator.bits
    if bits == 4:
        pointer = pointers.pointer(row, column // 2)

        def load() -> Value:
            return _load(pointer, i8, 1)

        bounded = is_bounded(pointers)
        loaded = (
            emit.value_or_zero(pointers.contains(row, column // 2), i8, load) if bounded else load()
        )
        return NarrowPair.of_byte(accumulator, loaded)
    if is_bounded(pointers):
        pair = _bounded_pair(row, column, i8, pointers)
        pair = emit.value("llvm.bitcast", (pair,), ir.IntegerType.get_signless(16))
        return NarrowPair(accumulator, emit.value("arith.extui", (pair,), emit.i32()))
    if pointers.access.vector == 2:
        pair = _load(pointers.pointer(row, column), ir.IntegerType.get_signless(16), 2)
        return NarrowPair(accumulator, emit.value("arith.extui", (pair,), emit.i32()))
    low, high = (
        emit.value("arith.extui", (_load(pointers.pointer(row, column + j), i8, 1),), emit.i32())
        for j in (0, 1)
    )
    return NarrowPair(
        accumulator, emit.value("arith.ori", (low, emit.binary("shli", high, bits)), emit.i32())
    )


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


def _load_interleaved(op: Op, tile: Value, registers: AccumulatorRegisters, thread: Value) -> Value:
    """Load elements of 4 bits whose columns are interleaved: a word of a row has all of a thread's
    elements of 32 columns, a pair of each 8."""
    pointers = TilePointers(op, tile, a_fragment_access, thread, registers.warp_rows)
    accumulator = registers.accumulator
    structs = []
    for position, (row, first_column, columns) in enumerate(registers.blocks):
        pairs: list[ElementPair] = []
        end = (first_column + columns) // 2
        # Two words of 16 bytes of a row: that of the row, and of the row 8 below.
        words: list[Value] = []
        for column in range(first_column // 2, end, 16 if not pointers.access.matrices else 32):
            if pointers.access.matrices:
                count = 4 if end - column > 16 else 2
                words += _load_matrices(pointers.pointer(row, column), count, False)
            else:
                words += [_load_word(row + below, column, 8, pointers) for below in (0, 8)]
        for first in range(0, len(words), 2):
            for shift in range(0, 16, accumulator.bits):
                both = words[first : first + 2]
                pairs += [NarrowPair.from_bit(accumulator, word, shift) for word in both]
        members = pack_registers(accumulator, pairs)
        structs.append(struct_of(registers.block_type(position), members))
    return registers.join(structs)


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


def _load_slice(op: Op, registers: SliceRegisters, thread: Value) -> Value:
    """Return the slice of a vector in global memory; threads that hold the same element all load it."""
    pointers = SlicePointers(op.source, registers, thread, op.matrix_rows)
    element: Type = op.source.type.element_type
    narrow = accumulator_of(element) if element.width == 8 else None
    memory_type: Type = ir.IntegerType.get_signless(8) if narrow else element
    elements = []
    for index in registers.indices:
        pointer = pointers.pointer(index)

        def load(pointer: Value = pointer) -> Value:
            return emit.value("llvm.load", (pointer,), memory_type, alignment=pointers.alignment)

        value = (
            load()
            if pointers.covers_all
            else emit.value_or_zero(pointers.contains(index), memory_type, load)
        )
        if narrow and registers.element.width > 8:
            pair = NarrowPair(narrow, emit.value("arith.extui", (value,), emit.i32()))
            value = pair.widen(registers.element).elements[0]
        elif memory_type != registers.element:
            value = emit.value("arith.extf", (value,), registers.element)
        elements.append(value)
    return registers.join(elements)
