"""Accumulators stored to global memory, or to a tile."""

from typing import Any

from ....dialect.bindings import ir
from ....dialect.ops import StoreOp
from ....dialect.types import TileType, tensor_of
from ....ir import emit
from ....layout.fragment_access import accumulator_access
from ....layout.fragments import accumulator_column, accumulator_row
from ..target import MmaTarget
from ..typed import TypedOp
from .lowerings import FRAGMENTS
from .matrices import MATRIX_COLUMNS, matrix_attributes
from .pairs import Pair, as_register
from .places import MatrixPlaces, Places, TilePlaces


@FRAGMENTS.of(StoreOp)
def lower_store(typed: TypedOp, target: MmaTarget) -> None:
    """Stores each thread's elements: by matrices, in pairs of columns, or one by one."""
    op, registers = typed.op, target.registers(typed.type_of("fragment"))
    memory, thread = op.target, typed.thread()
    if isinstance(memory.type, TileType):
        places: Places = TilePlaces(op, memory, accumulator_access, thread, registers.warp_rows)
        element = tensor_of(memory.type).element_type
    else:
        places = MatrixPlaces(memory, thread, registers.warp_rows)
        element = memory.type.element_type
    for block, values in registers.scalars(op.fragment):
        pairs = [
            Pair.held(registers.accumulator, values, i)
            for i in range(0, registers.blocks[block][2] // 2, 2)
        ]
        if places.access.matrices:
            _store_matrices(pairs, element, registers.blocks[block], places)
        else:
            _store_pairs(pairs, element, registers.blocks[block], places)


def _store_pairs(
    pairs: list[Pair], element: Any, block: tuple[int, int, int], places: Places
) -> None:
    first_row, first_column, _ = block
    for i, pair in enumerate(pairs):
        row = first_row + accumulator_row(2 * i)
        column = first_column + accumulator_column(2 * i)
        if places.access.vector == 2:
            _store(pair.stored(element), places.pointer(row, column), 2 * element.width // 8)
            continue
        for j, single in enumerate(pair.stored_each(element)):
            _store(single, places.pointer(row, column + j), element.width // 8)


def _store_matrices(
    pairs: list[Pair], element: Any, block: tuple[int, int, int], places: Places
) -> None:
    """`stmatrix` of 64 x 16 elements at a time; of 64 x 8 at last, if they are left."""
    first_row, first_column, columns = block
    for column in range(0, columns, MATRIX_COLUMNS):
        held = pairs[column // 4 : (column + MATRIX_COLUMNS) // 4]
        words = [as_register(pair.stored(element)) for pair in held]
        pointer = places.pointer(first_row, first_column + column)
        emit.op("nvvm.stmatrix", (pointer, *words), **matrix_attributes(places.access.transposed))


def _store(value: Any, pointer: Any, alignment: int) -> None:
    emit.op("llvm.store", (value, pointer), alignment=ir.IntegerAttr.get(emit.i64(), alignment))
