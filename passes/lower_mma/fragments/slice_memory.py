"""Loads and stores of slices: vectors in global memory, element by element."""

from contextlib import nullcontext

from ....dialect.bindings import ir
from ....dialect.irtypes import Type, Value
from ....ir import emit
from ....ir.shared_memory import gep, memory_type, memref_pointer, stride_value
from ..slices import SliceRegisters
from .element_pointers import extent, where_before
from .pairs import Pair


def load_slice(source: Value, registers: SliceRegisters, thread: Value) -> Value:
    """Return the slice of a vector in global memory; threads that hold the same element all load it."""
    pointers = _Pointers(source, registers, thread)
    element: Type = source.type.element_type
    found = []
    for index in registers.indices:
        value = emit.value(
            "llvm.load", (pointers.at(index),), element, alignment=pointers.alignment
        )
        if element != registers.element:
            value = emit.value("arith.extf", (value,), registers.element)
        found.append(value)
    return registers.join(found)


def store_slice(slice_: Value, registers: SliceRegisters, target: Value, thread: Value) -> None:
    """Store a slice to a vector in global memory, as far as the vector goes; one of the threads that hold
    an element stores it."""
    pointers = _Pointers(target, registers, thread)
    scalars = registers.scalars(slice_)
    count = extent(target) if target.type.is_dynamic_dim(0) else None
    with emit.guarded(registers.stores(thread)):
        first = registers.start(thread).value
        for i in range(0, len(scalars), 2):
            pair = Pair(elements=scalars[i : i + 2]).stored_each(target.type.element_type)
            for index, value in zip(registers.indices[i : i + 2], pair, strict=True):
                with nullcontext() if count is None else where_before(count, first, index):
                    pointer = pointers.at(index)
                    emit.op("llvm.store", (value, pointer), alignment=pointers.alignment)


class _Pointers:
    """Pointers to a thread's elements of a vector in global memory."""

    def __init__(self, vector: Value, registers: SliceRegisters, thread: Value) -> None:
        i64 = emit.i64()
        self._type = memory_type(vector.type.element_type)
        self._stride = stride_value(vector, 0, i64)
        first = emit.value("arith.extui", (registers.start(thread).value,), i64)
        offset = emit.binary("muli", first, self._stride)
        self._first = gep(memref_pointer(vector, 1), offset, self._type)
        size = vector.type.element_type.width // 8
        self.alignment = ir.IntegerAttr.get(i64, size)

    def at(self, index: int) -> Value:
        """Return the pointer `index` elements after the thread's first."""
        if isinstance(self._stride, int):
            return gep(self._first, index * self._stride, self._type)
        if not index:
            return self._first
        return gep(self._first, emit.binary("muli", self._stride, index), self._type)
