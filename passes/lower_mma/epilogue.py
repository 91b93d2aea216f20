"""Accumulators that are filled, and stored to global memory."""

from typing import Any

from ...dialect.bindings import ir
from ...layout import Accumulator
from ...layout.fragments import WARPGROUP, accumulator_column, accumulator_row
from ...layout.mixes import ACC_F16
from .. import emit
from ..shared_memory import gep, memref_pointer, stride_value
from .registers import Registers, insert


def lower_fill(op: Any, registers: Registers) -> Any:
    """The fragment with the same value in every register."""
    value = op.operands[0]
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
        number = owner.operation.attributes["value"].maybe_downcast().value
        if number == 0 and str(number) != "-0.0":
            return emit.value("llvm.mlir.zero", (), registers.type)
    if registers.accumulator is ACC_F16:
        pair = emit.value("vector.from_elements", (value, value), _vector(value.type))
        value = emit.value("llvm.bitcast", (pair,), emit.i32())
    parts = []
    for position in range(len(registers.blocks)):
        part = emit.value("llvm.mlir.poison", (), registers.block_type(position))
        for i in range(registers.count(position)):
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
        first_row, first_column, columns = registers.blocks[block]
        for i in range(0, columns // 2, 2):
            row_step = first_row + accumulator_row(i)
            column_step = first_column + accumulator_column(i)
            address = _advance(start, row_step, strides[0], element)
            if paired:
                pair = _pair(registers.accumulator, values, i)
                _store(pair, gep(address, column_step, str(element)), element)
                continue
            for j, single in enumerate(_elements(registers.accumulator, values, i)):
                _store(single, _advance(address, column_step + j, strides[1], element), element)


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


def _vector(element: Any) -> Any:
    return ir.VectorType.get([2], element)


def _pair(accumulator: Accumulator, values: list[Any], i: int) -> Any:
    """A thread's elements i and i + 1, neighbours in a row, as a vector."""
    if accumulator is ACC_F16:
        return emit.value("llvm.bitcast", (values[i // 2],), _vector(ir.F16Type.get()))
    pair = (values[i], values[i + 1])
    return emit.value("vector.from_elements", pair, _vector(values[i].type))


def _elements(accumulator: Accumulator, values: list[Any], i: int) -> tuple[Any, Any]:
    """A thread's elements i and i + 1."""
    if accumulator is not ACC_F16:
        return values[i], values[i + 1]
    pair = _pair(accumulator, values, i)
    first, second = (
        emit.value(
            "vector.extract",
            (pair,),
            ir.F16Type.get(),
            static_position=ir.DenseI64ArrayAttr.get([position]),
        )
        for position in (0, 1)
    )
    return first, second


def _store(value: Any, address: Any, element: Any) -> None:
    """Stores one element or a pair, converted to the memref's element type."""
    count, have = 1, value.type
    if isinstance(have, ir.VectorType):
        count, have = 2, have.element_type
    if have != element:
        name = "arith.truncf" if have.width > element.width else "arith.extf"
        value = emit.value(name, (value,), _vector(element) if count == 2 else element)
    alignment = ir.IntegerAttr.get(emit.i64(), count * element.width // 8)
    emit.op("llvm.store", (value, address), alignment=alignment)
