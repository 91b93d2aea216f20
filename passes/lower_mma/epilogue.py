"""Accumulators that are filled, and stored to global memory."""

from typing import Any

from ...dialect.bindings import ir
from ...layout.fragments import WARPGROUP, accumulator_column, accumulator_row
from .. import emit
from ..shared_memory import gep, memref_pointer, stride_value
from .registers import Registers, insert


def lower_fill(op: Any, registers: Registers) -> Any:
    """The fragment with the same value in every register."""
    value = op.operands[0]
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
        number = ir.FloatAttr(owner.operation.attributes["value"]).value
        if number == 0.0 and str(number) != "-0.0":
            return emit.value("llvm.mlir.zero", (), registers.type)
    parts = []
    for position, (_, _, n) in enumerate(registers.blocks):
        part = emit.value("llvm.mlir.poison", (), registers.block_type(position))
        for i in range(n // 2):
            part = insert(part, value, i)
        parts.append(part)
    return registers.join(parts)


def lower_store(op: Any, registers: Registers, thread: Any) -> None:
    """Stores each thread's elements: pairs of columns together where they are adjacent in memory.

    Args:
        op: the `smem.store`.
        registers: the fragment's registers.
        thread: the thread's index in its block (i32).
    """
    fragment, target = op.operands
    i64, element = emit.i64(), target.type.element_type
    base = memref_pointer(target, 1)
    strides = [stride_value(target, dim, i64) for dim in (0, 1)]
    lane = emit.binary("remui", thread, WARPGROUP)
    # Row and column of the thread's first element: PTX ISA 9.7.15.5.1.1, figures of matrix D.
    row = emit.binary(
        "addi",
        emit.binary("muli", emit.binary("divui", lane, 32), 16),
        emit.binary("divui", emit.binary("remui", lane, 32), 4),
    )
    column = emit.binary("muli", emit.binary("remui", lane, 4), 2)
    start = gep(base, _offset(row, column, strides), str(element))
    paired = strides[1] == 1
    for block, values in registers.scalars(fragment):
        first_row, first_column, _ = registers.blocks[block]
        for i in range(0, len(values), 2):
            rows = first_row + accumulator_row(i)
            columns = first_column + accumulator_column(i)
            if paired:
                address = gep(_advance(start, rows, strides[0], element), columns, str(element))
                _store(_pair(values[i], values[i + 1]), address, element)
                continue
            for j in (0, 1):
                address = _advance(start, rows, strides[0], element)
                address = _advance(address, columns + j, strides[1], element)
                _store(values[i + j], address, element)


def _offset(row: Any, column: Any, strides: list[Any]) -> Any:
    """The element offset of (row, column)."""
    i64 = emit.i64()
    parts = [
        emit.binary("muli", emit.value("arith.extui", (index,), i64), stride)
        for index, stride in zip((row, column), strides, strict=True)
    ]
    return emit.binary("addi", *parts)


def _advance(pointer: Any, count: int, stride: Any, element: Any) -> Any:
    """`pointer` plus a constant number of strides."""
    if isinstance(stride, int):
        return gep(pointer, count * stride, str(element))
    if count == 0:
        return pointer
    scaled = emit.binary("muli", stride, count)
    return gep(pointer, scaled, str(element))


def _pair(low: Any, high: Any) -> Any:
    vector = ir.VectorType.get([2], ir.F32Type.get())
    return emit.value("vector.from_elements", (low, high), vector)


def _store(value: Any, address: Any, element: Any) -> None:
    """Stores one register or a pair, rounded to the memref's element type."""
    count = 2 if isinstance(value.type, ir.VectorType) else 1
    if str(element) != "f32":
        narrow = ir.VectorType.get([2], element) if count == 2 else element
        value = emit.value("arith.truncf", (value,), narrow)
    alignment = ir.IntegerAttr.get(emit.i64(), count * element.width // 8)
    emit.op("llvm.store", (value, address), alignment=alignment)
