"""Loads and stores of slices: vectors in global memory, or matrices, element by element."""

from ....bindings.irtypes import Type, Value
from ....bindings.mlir import ir
from ....ir import emit
from ....ir.shared_memory import gep, memory_type, memref_pointer, stride_value
from ..slices import SliceRegisters
from .pairs import ElementPair
from .row_bounds import RowBounds


def load_slice(source: Value, registers: SliceRegisters, thread: Value) -> Value:
    """Return the slice of a vector in global memory; threads that hold the same element all load it."""
    pointers = _Pointers(source, registers, thread)
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


def store_slice(slice_: Value, registers: SliceRegisters, target: Value, thread: Value) -> None:
    """Store a slice to a vector or a matrix in global memory, as far as it goes; one of the threads that
    hold an element stores it."""
    pointers = _Pointers(target, registers, thread)
    scalars = registers.scalars(slice_)
    with emit.scf_if(registers.stores(thread)):
        for i in range(0, len(scalars), 2):
            pair = ElementPair(elements=scalars[i : i + 2]).to_memory_elements(
                target.type.element_type
            )
            for index, value in zip(registers.indices[i : i + 2], pair, strict=True):
                with pointers.where_in_bounds(index):
                    pointer = pointers.pointer(index)
                    emit.op("llvm.store", (value, pointer), alignment=pointers.alignment)


class _Pointers:
    """Pointers to a thread's elements of a vector in global memory, or of a matrix whose rows hold them
    one after the other."""

    def __init__(self, memory: Value, registers: SliceRegisters, thread: Value) -> None:
        i64 = emit.i64()
        self._type = memory_type(memory.type.element_type)
        start = registers.start(thread).value
        self._bounds = RowBounds(memory, memory.type.rank, registers.extent, start)
        self.where_in_bounds = self._bounds.where_in_bounds
        self._first = memref_pointer(memory, 1)
        if not self._bounds.are_stacked:
            self._stride = stride_value(memory, 0, i64)
            first = emit.value("arith.extui", (start,), i64)
            self._first = gep(self._first, emit.binary("muli", first, self._stride), self._type)
        size = memory.type.element_type.width // 8
        self.alignment = ir.IntegerAttr.get(i64, size)

    def pointer(self, index: int) -> Value:
        """Return the pointer `index` elements after the thread's first."""
        if self._bounds.are_stacked:
            return gep(self._first, self._bounds.offset(index), self._type)
        if isinstance(self._stride, int):
            return gep(self._first, index * self._stride, self._type)
        if not index:
            return self._first
        return gep(self._first, emit.binary("muli", self._stride, index), self._type)
