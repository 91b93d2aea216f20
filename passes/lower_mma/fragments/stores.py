"""Stores of accumulators to a tile or to global memory, and of slices to global memory."""

from collections.abc import Iterable

from ....bindings.irtypes import Op, Type, Value
from ....bindings.mlir import ir
from ....dialect.ops import StoreOp
from ....dialect.ops.load import access_of
from ....dialect.slices import slice_dim
from ....dialect.types import TileType, shape_of, tensor_of
from ....ir import emit
from ....layout.fragments import accumulator_column, accumulator_row
from ..registers import SliceRegisters
from ..target import FRAGMENTS, MmaTarget, TypedOp
from .pairs import ElementPair, NarrowPair, as_register
from .pointers import (
    MATRIX_COLUMNS,
    ElementPointers,
    GlobalPointers,
    SlicePointers,
    TilePointers,
    matrix_attributes,
)


@FRAGMENTS.of(StoreOp)
def lower_store(typed: TypedOp, target: MmaTarget) -> None:
    """Store each thread's elements: by `stmatrix`, in pairs of columns, or one by one."""
    op, fragment = typed.op, typed.type_of("fragment")
    memory, thread = op.target, typed.thread()
    if slice_dim(fragment) is not None:
        _store_slice(op, target.slice_registers(fragment), thread)
        return
    registers = target.registers(fragment)
    if isinstance(memory.type, TileType):
        pointers: ElementPointers = TilePointers(
            op, memory, access_of(fragment), thread, registers.warp_rows
        )
        element = tensor_of(memory.type).element_type
    else:
        pointers = GlobalPointers(
            memory,
            thread,
            registers.warp_rows,
            shape_of(fragment)[0],
            registers.accumulator.bits,
            op.matrix_rows,
        )
        element = memory.type.element_type
    for block, values in registers.scalars(op.fragment):
        pairs = [
            ElementPair.from_registers(registers.accumulator, values, i)
            for i in range(0, registers.blocks[block][2] // 2, 2)
        ]
        if pointers.access.matrices:
            _store_matrices(pairs, element, registers.blocks[block], pointers)
        elif isinstance(pointers, GlobalPointers) and not pointers.has_all_rows:
            _store_rows(pairs, element, registers.blocks[block], pointers)
        else:
            _store_pairs(enumerate(pairs), element, registers.blocks[block], pointers)


def _store_rows(
    pairs: list[ElementPair], element: Type, block: tuple[int, int, int], pointers: GlobalPointers
) -> None:
    """Store the rows that the matrix has, each of them in a branch."""
    rows: dict[int, list[tuple[int, ElementPair]]] = {}
    for i, pair in enumerate(pairs):
        rows.setdefault(accumulator_row(2 * i), []).append((i, pair))
    for row, numbered_pairs in rows.items():
        with pointers.where_has_row(block[0] + row):
            _store_pairs(numbered_pairs, element, block, pointers)


def _store_pairs(
    pairs: Iterable[tuple[int, ElementPair]],
    element: Type,
    block: tuple[int, int, int],
    pointers: ElementPointers,
) -> None:
    """Store pairs, each with its number in the block."""
    first_row, first_column, _ = block
    for i, pair in pairs:
        row = first_row + accumulator_row(2 * i)
        column = first_column + accumulator_column(2 * i)
        if isinstance(pair, NarrowPair) and pair.accumulator.bits == 4:
            _store_byte(pair.to_memory(element), row, column // 2, pointers)
            continue
        if isinstance(pointers, GlobalPointers) and not pointers.has_all_columns:
            _store_columns(pair, element, row, column, pointers)
            continue
        if pointers.access.vector == 2:
            _store(pair.to_memory(element), pointers.pointer(row, column), 2 * element.width // 8)
            continue
        for j, element_value in enumerate(pair.to_memory_elements(element)):
            _store(element_value, pointers.pointer(row, column + j), element.width // 8)


def _store_byte(byte: Value, row: int, column: int, pointers: ElementPointers) -> None:
    """Store two elements of 4 bits, if the matrix has the column of bytes."""
    pointer = pointers.pointer(row, column)
    if isinstance(pointers, GlobalPointers) and not pointers.has_all_columns:
        with emit.scf_if(pointers.has_column(column)):
            _store(byte, pointer, 1)
    else:
        _store(byte, pointer, 1)


def _store_columns(
    pair: ElementPair, element: Type, row: int, column: int, pointers: GlobalPointers
) -> None:
    """Store the elements of a pair that are in columns which the matrix has."""
    for j, element_value in enumerate(pair.to_memory_elements(element)):
        pointer = pointers.pointer(row, column + j)
        with emit.scf_if(pointers.has_column(column + j)):
            _store(element_value, pointer, element.width // 8)


def _store_matrices(
    pairs: list[ElementPair], element: Type, block: tuple[int, int, int], pointers: ElementPointers
) -> None:
    """Store 64 x 16 elements with each `stmatrix`; the last one may be of 64 x 8."""
    first_row, first_column, columns = block
    for column in range(0, columns, MATRIX_COLUMNS):
        matrix_pairs = pairs[column // 4 : (column + MATRIX_COLUMNS) // 4]
        words = [as_register(pair.to_memory(element)) for pair in matrix_pairs]
        pointer = pointers.pointer(first_row, first_column + column)
        emit.op("nvvm.stmatrix", (pointer, *words), **matrix_attributes(pointers.access.transposed))


def _store(value: Value, pointer: Value, alignment: int) -> None:
    emit.op("llvm.store", (value, pointer), alignment=ir.IntegerAttr.get(emit.i64(), alignment))


def _store_slice(op: Op, registers: SliceRegisters, thread: Value) -> None:
    """Store a slice to a vector or a matrix in global memory, as far as it goes; one of the threads that
    hold an element stores it."""
    pointers = SlicePointers(op.target, registers, thread, op.matrix_rows)
    scalars = registers.scalars(op.fragment)
    with emit.scf_if(registers.stores(thread)):
        for i in range(0, len(scalars), 2):
            pair = ElementPair(elements=scalars[i : i + 2]).to_memory_elements(
                op.target.type.element_type
            )
            for index, value in zip(registers.indices[i : i + 2], pair, strict=True):
                with pointers.where_in_bounds(index):
                    pointer = pointers.pointer(index)
                    emit.op("llvm.store", (value, pointer), alignment=pointers.alignment)
