"""Reads of a matrix of dynamic extents in global memory: 0 where it has no element."""

from __future__ import annotations

from collections.abc import Callable

from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ir
from ...dialect.memrefs import contiguous_dim
from ...ir import emit
from ...ir.shared_memory import gep
from ...ir.windows import extent_value


class BoundedMatrix:
    """The elements that a matrix of dynamic extents has. A line runs along its contiguous dimension.

    Args:
        matrix: the memref.
        packed: elements of a tile in each of its elements.
    """

    def __init__(self, matrix: Value, packed: int) -> None:
        contiguous = contiguous_dim(matrix.type)
        self._lines = extent_value(matrix, 1 - contiguous)
        self._along = extent_value(matrix, contiguous)
        self._packed = packed
        self._bits = matrix.type.element_type.width

    @property
    def is_whole(self) -> bool:
        """Whether it is known to have all elements."""
        return self._lines is None and self._along is None

    def bytes_from(self, line: Value, along: Value, size: int) -> Value:
        """Emit how many of the `size` bytes from an element of the tile on the matrix has (i32)."""
        count = emit.constant(size, emit.i32())
        if self._along is not None:
            room = emit.binary("subi", self._along, emit.binary("divui", along, self._packed))
            room = emit.binary("muli", room, self._bits // 8)
            count = emit.binary("maxsi", emit.binary("minsi", room, size), 0)
        if self._lines is not None:
            count = emit.select(emit.compare("slt", line, self._lines), count, 0)
        return count

    def load(
        self, pointer: Value, bytes_there: Value, size: int, type_: Type, load: Callable[[], Value]
    ) -> Value:
        """Emit a load of `size` bytes, of which the matrix has the first ones.

        Args:
            pointer: the first byte.
            bytes_there: how many it has (i32).
            size: of the load.
            type_: of the result.
            load: emits the load where it has all.
        """
        has_all = emit.compare("uge", bytes_there, size)
        if self._along is None:
            return emit.value_or_zero(has_all, type_, load)
        return emit.scf_if_else(
            has_all, type_, load, lambda: self._load_elements(pointer, bytes_there, size, type_)
        )

    def _load_elements(self, pointer: Value, bytes_there: Value, size: int, type_: Type) -> Value:
        """Emit loads of single elements."""
        step, element = self._bits // 8, ir.IntegerType.get_signless(self._bits)
        alignment = ir.IntegerAttr.get(emit.i64(), step)
        loaded = [
            emit.value_or_zero(
                emit.compare("ult", emit.constant(offset, emit.i32()), bytes_there),
                element,
                lambda offset=offset: emit.value(
                    "llvm.load", (gep(pointer, offset),), element, alignment=alignment
                ),
            )
            for offset in range(0, size, step)
        ]
        vector = emit.value(
            "vector.from_elements", loaded, ir.VectorType.get([len(loaded)], element)
        )
        return emit.value("llvm.bitcast", (vector,), type_)
