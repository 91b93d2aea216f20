"""Pairs of adjacent elements of an accumulator, converted between registers and memory."""

from collections.abc import Sequence
from typing import Any

from ....bindings.irtypes import Type, Value
from ....bindings.mlir import ir
from ....ir import emit
from ....layout import Accumulator
from ....layout.accumulators import ACC_F16

#: The least and the greatest value of 8-bit integers.
_LIMITS = {"i8": (-128, 127), "si8": (-128, 127), "ui8": (0, 255)}


def vector_of(element: Type) -> Type:
    """Return the type `vector<2xelement>`."""
    return ir.VectorType.get([2], element)


class ElementPair:
    """Two elements of an accumulator in adjacent columns, the left one first.

    They are a vector or two values; the other form is emitted on first use.
    """

    def __init__(self, vector: Any = None, elements: Sequence[Value] = ()) -> None:
        self._vector = vector
        self._elements = tuple(elements)

    @classmethod
    def from_registers(
        cls, accumulator: Accumulator, registers: Sequence[Value], i: int
    ) -> "ElementPair":
        """Return elements i and i + 1 of a thread, from all its registers of a block."""
        if accumulator is not ACC_F16:
            return cls(elements=registers[i : i + 2])
        return cls(emit.value("llvm.bitcast", (registers[i // 2],), vector_of(ir.F16Type.get())))

    @classmethod
    def from_memory(cls, vector: Value, element: Type) -> "ElementPair":
        """Return two elements loaded as a vector, converted to the type `element`."""
        if vector.type.element_type != element:
            vector = emit.value("arith.extf", (vector,), vector_of(element))
        return cls(vector)

    @property
    def vector(self) -> Value:
        """The elements as a vector."""
        if self._vector is None:
            type_ = vector_of(self._elements[0].type)
            self._vector = emit.value("vector.from_elements", self._elements, type_)
        return self._vector

    @property
    def elements(self) -> tuple[Value, ...]:
        """The elements as two values."""
        if not self._elements:
            self._elements = _split(self._vector)
        return self._elements

    @property
    def type(self) -> Type:
        """The MLIR type of an element."""
        return self._elements[0].type if self._elements else self._vector.type.element_type

    def registers(self, accumulator: Accumulator) -> list[Value]:
        """Return the registers of an accumulator that hold the elements: two, or one for f16."""
        return [as_register(self.vector)] if accumulator is ACC_F16 else list(self.elements)

    def to_memory(self, element: Type) -> Value:
        """Return the elements converted to the element type in memory: a vector, or an i16 for 8-bit
        types."""
        if str(element) in _LIMITS:
            return _pack_integers(self.elements, *_LIMITS[str(element)])
        if self.type == element:
            return self.vector
        if element.width == 8:
            return _pack_floats(self, element)
        name = "arith.truncf" if self.type.width > element.width else "arith.extf"
        return emit.value(name, (self.vector,), vector_of(element))

    def to_memory_elements(self, element: Type) -> tuple[Value, ...]:
        """Return the elements of `to_memory` as two values."""
        if self.type == element:
            return self.elements
        vector = self.to_memory(element)
        if isinstance(vector.type, ir.VectorType):
            return _split(vector)
        i8 = ir.IntegerType.get_signless(8)
        words = (vector, emit.binary("shrui", vector, 8))
        return tuple(emit.value("arith.trunci", (word,), i8) for word in words)


def as_register(vector: Value) -> Value:
    """Return a vector of 32 bits as an i32."""
    return emit.value("llvm.bitcast", (vector,), emit.i32())


def _split(vector: Value) -> tuple[Value, ...]:
    return emit.extract_element(vector, 0), emit.extract_element(vector, 1)


def _pack_floats(pair: ElementPair, element: Type) -> Value:
    """Return two 8-bit floats as an i16; larger values become the largest finite one (`.satfinite`)."""
    f32 = ir.F32Type.get()
    elements = (
        pair.elements if pair.type == f32 else ElementPair.from_memory(pair.vector, f32).elements
    )
    # The first operand of the instruction becomes the upper half.
    return emit.value(
        "nvvm.convert.f32x2.to.f8x2",
        (elements[1], elements[0]),
        ir.IntegerType.get_signless(16),
        dstTy=ir.TypeAttr.get(element),
        rnd=ir.Attribute.parse("#nvvm.fp_rnd_mode<rn>"),
        sat=ir.Attribute.parse("#nvvm.sat_mode<satfinite>"),
    )


def _pack_integers(elements: Sequence[Value], least: int, most: int) -> Value:
    """Return two 8-bit integers as an i16; values outside their range are clamped to it."""
    narrow = []
    for value in elements:
        clamped = emit.binary("minsi", emit.binary("maxsi", value, least), most)
        narrow.append(emit.binary("andi", clamped, 0xFF))
    word = emit.value("arith.ori", (narrow[0], emit.binary("shli", narrow[1], 8)), emit.i32())
    return emit.value("arith.trunci", (word,), ir.IntegerType.get_signless(16))
