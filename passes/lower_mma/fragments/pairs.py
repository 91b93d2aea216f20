"""Pairs of adjacent elements of an accumulator, converted between registers and memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ....bindings.irtypes import Type, Value
from ....bindings.mlir import ir
from ....dialect.elements import MLIR_NAMES, accumulator_of, computed_type
from ....ir import emit
from ....layout import Accumulator

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
        per_register = accumulator.per_register
        if per_register == 1:
            return cls(elements=registers[i : i + 2])
        register = registers[i // per_register]
        if per_register == 2:
            return cls(emit.value("llvm.bitcast", (register,), vector_of(_type_of(accumulator))))
        return NarrowPair.from_bit(accumulator, register, _shift(accumulator, i))

    @classmethod
    def from_memory(cls, vector: Value, element: Type) -> "ElementPair":
        """Return two elements loaded as a vector, converted to the type `element`."""
        if vector.type.element_type != element:
            vector = emit.value("arith.extf", (vector,), vector_of(element))
        return cls(vector)

    def bits(self, accumulator: Accumulator) -> Value:
        """Return the word of a `NarrowPair` of an element type with these elements (i32)."""
        words = []
        for i, element in enumerate(self.elements):
            integer = element
            if isinstance(element.type, ir.FloatType):
                i8 = ir.IntegerType.get_signless(8)
                integer = emit.value("arith.bitcast", (element,), i8)
            word = emit.value("arith.extui", (integer,), emit.i32())
            if accumulator.bits == 4:
                word = emit.binary("andi", word, 15)
            words.append(emit.binary("shli", word, i * STEPS[accumulator.bits]))
        return emit.value("arith.ori", words, emit.i32())

    def narrow(self) -> "NarrowPair":
        """Return the pair of floats of 8 bits as bits."""
        accumulator = accumulator_of(self.type)
        return NarrowPair(accumulator, self.bits(accumulator))

    @property
    def vector(self) -> Value:
        """The elements as a vector."""
        if self._vector is None:
            elements = self.elements
            type_ = vector_of(elements[0].type)
            self._vector = emit.value("vector.from_elements", elements, type_)
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
        same_bits = isinstance(self.type, ir.IntegerType) and self.type.width == element.width
        i8 = ir.IntegerType.get_signless(8)
        if self.type == element and isinstance(element, ir.FloatType) and element.width == 8:
            return tuple(emit.value("arith.bitcast", (each,), i8) for each in self.elements)
        if self.type == element or same_bits:
            return self.elements
        vector = self.to_memory(element)
        if isinstance(vector.type, ir.VectorType):
            return _split(vector)
        words = (vector, emit.binary("shrui", vector, 8))
        return tuple(emit.value("arith.trunci", (word,), i8) for word in words)


#: Bits from the left element of a pair to the right one, by the bits of an element.
STEPS = {8: 8, 4: 16}


def _mask(accumulator: Accumulator) -> int:
    element = (1 << accumulator.bits) - 1
    return element << STEPS[accumulator.bits] | element


def _shift(accumulator: Accumulator, i: int) -> int:
    """Return the place in its register of a pair of elements i and i + 1 of a thread, in bits.

    Elements of 8 bits follow each other. The elements of a pair of 4 bits are 16 bits apart, as those of
    16 bits are.
    """
    position = i % accumulator.per_register
    return position * 8 if accumulator.bits == 8 else position // 2 * 4


class NarrowPair(ElementPair):
    """Two elements of 4 or 8 bits, in an i32 whose other bits are 0: the left one lowest, the right one
    `STEPS` higher.

    The elements are those of `smem.map`: integers of 4 bits are extended to i8.
    """

    def __init__(self, accumulator: Accumulator, word: Value) -> None:
        super().__init__()
        self.accumulator = accumulator
        self.word = word

    @classmethod
    def from_bit(cls, accumulator: Accumulator, register: Value, shift: int) -> "NarrowPair":
        """Return the pair whose left element begins at bit `shift` of a register."""
        word = emit.binary("shrui", register, shift)
        return cls(accumulator, emit.binary("andi", word, _mask(accumulator)))

    @classmethod
    def of_byte(cls, accumulator: Accumulator, byte: Value) -> "NarrowPair":
        """Return the two elements of 4 bits in an i8."""
        word = emit.binary("muli", emit.value("arith.extui", (byte,), emit.i32()), 0x1001)
        return cls(accumulator, emit.binary("andi", word, _mask(accumulator)))

    @property
    def elements(self) -> tuple[Value, ...]:
        if not self._elements:
            self._elements = tuple(self._element(i) for i in (0, 1))
        return self._elements

    @property
    def type(self) -> Type:
        return _type_of(self.accumulator)

    def _element(self, i: int) -> Value:
        i8 = ir.IntegerType.get_signless(8)
        element = emit.binary("shrui", self.word, i * STEPS[self.accumulator.bits])
        if self.accumulator.name == "s4":
            sign = emit.binary("xori", emit.binary("andi", element, 15), 8)
            element = emit.binary("subi", sign, 8)
        elif self.accumulator.name == "u4":
            element = emit.binary("andi", element, 15)
        element = emit.value("arith.trunci", (element,), i8)
        if isinstance(self.type, ir.FloatType):
            element = emit.value("arith.bitcast", (element,), self.type)
        return element

    def narrow(self) -> "NarrowPair":
        return self

    def bits(self, accumulator: Accumulator) -> Value:
        same = accumulator.bits == self.accumulator.bits
        return self.word if same else super().bits(accumulator)

    def to_memory(self, element: Type) -> Value:
        """Return the bits for memory: an i16 of two elements, or an i8 of two of 4 bits."""
        bits, word = self.accumulator.bits, self.word
        if bits == 4:
            word = emit.value("arith.ori", (word, emit.binary("shrui", word, 12)), emit.i32())
        return emit.value("arith.trunci", (word,), ir.IntegerType.get_signless(2 * bits))

    def widen(self, element: Type) -> ElementPair:
        """Return floats of 8 bits as floats of 16 or 32 bits, of an MLIR type."""
        bytes_ = vector_of(ir.IntegerType.get_signless(8))
        halves = emit.value(
            "nvvm.convert.f8x2.to.f16x2",
            (emit.value("llvm.bitcast", (self.to_memory(self.type),), bytes_),),
            vector_of(ir.F16Type.get()),
            srcType=ir.TypeAttr.get(self.type),
        )
        return ElementPair.from_memory(halves, element)

    def to_float(
        self, element: Type, is_signed: bool, mask: Callable[[], Value]
    ) -> ElementPair | None:
        """Return integers as floats of 16 bits, if there are instructions for both at once.

        A float whose lowest mantissa bit is 1 becomes 2^p + x if x is written to these bits. The number
        subtracted is 2^p, and for signed x, whose sign bit is flipped first, half of its range more. Both
        steps are exact.

        Args:
            element: the MLIR type of the floats.
            is_signed: whether the elements, of 8 bits in `smem.map`, are signed there.
            mask: emits the mask of elements of 4 bits, as `MmaTarget.nibble_mask` does.
        """
        bits = self.accumulator.bits
        mantissa, bias = {"f16": (10, 15), "bf16": (7, 127)}.get(str(element), (0, 0))
        if mantissa < bits:
            return self._bytes_by_f32(element, is_signed) if mantissa else None
        if bits == 4 and is_signed != (self.accumulator.name == "s4"):
            return None
        if bits == 4:
            spread = emit.value("arith.andi", (self.word, mask()), emit.i32())
        else:
            spread = emit.prmt(self.word, emit.constant(0, emit.i32()), 0x4140)
        flipped = 1 << bits - 1 if is_signed else 0
        magic = (mantissa + bias << mantissa | flipped) * 0x10001
        vector = vector_of(element)
        sums = emit.value("llvm.bitcast", (emit.binary("xori", spread, magic),), vector)
        number = ir.FloatAttr.get(element, float((1 << mantissa) + flipped))
        splat = ir.DenseElementsAttr.get_splat(vector, number)
        offset = emit.value("arith.constant", (), vector, value=splat)
        return ElementPair(emit.value("arith.subf", (sums, offset), vector))

    def _bytes_by_f32(self, element: Type, is_signed: bool) -> ElementPair:
        """Return integers of 8 bits as bf16, by f32, whose mantissa has room for them."""
        f32 = ir.F32Type.get()
        word = emit.binary("xori", self.word, 0x8080 if is_signed else 0)
        number = ir.FloatAttr.get(f32, float((1 << 23) + (128 if is_signed else 0)))
        offset = emit.value("arith.constant", (), f32, value=number)
        magic = emit.constant((127 + 23) << 23, emit.i32())
        sums = [emit.prmt(word, magic, 0x7650 | i) for i in (0, 1)]
        floats = [emit.value("llvm.bitcast", (each,), f32) for each in sums]
        differences = [emit.value("arith.subf", (each, offset), f32) for each in floats]
        return ElementPair(ElementPair(elements=differences).to_memory(element))


def pack_registers(accumulator: Accumulator, pairs: Iterable[ElementPair]) -> Iterator[Value]:
    """Yield the registers that hold the elements of a thread in a block, given all its pairs."""
    word: Any = None
    for i, pair in enumerate(pairs):
        if accumulator.per_register == 1:
            yield from pair.elements
        elif accumulator.per_register == 2:
            yield as_register(pair.vector)
        else:
            bits = emit.binary("shli", pair.bits(accumulator), _shift(accumulator, 2 * i))
            first = 2 * i % accumulator.per_register == 0
            word = bits if first else emit.value("arith.ori", (word, bits), emit.i32())
            if 2 * (i + 1) % accumulator.per_register == 0:
                yield word


def _type_of(accumulator: Accumulator) -> Type:
    """Return the MLIR type of elements, as `smem.map` computes them."""
    return computed_type(ir.Type.parse(MLIR_NAMES[accumulator.name]))


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
