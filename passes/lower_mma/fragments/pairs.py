"""Two neighbours in a row of an accumulator: from registers and back, and as memory holds them."""

from collections.abc import Sequence
from typing import Any

from ....dialect.bindings import ir
from ....ir import emit
from ....layout import Accumulator
from ....layout.accumulators import ACC_F16

#: The numbers that 8-bit integers can be.
_LIMITS = {"i8": (-128, 127), "si8": (-128, 127), "ui8": (0, 255)}


def vector_of(element: Any) -> Any:
    """`vector<2xelement>`."""
    return ir.VectorType.get([2], element)


class Pair:
    """Two elements of an accumulator's type; the first is the one further left.

    They are at hand as a vector or one by one; the other form is made when it is asked for.
    """

    def __init__(self, vector: Any = None, elements: Sequence[Any] = ()) -> None:
        self._vector = vector
        self._elements = tuple(elements)

    @classmethod
    def held(cls, accumulator: Accumulator, registers: Sequence[Any], i: int) -> "Pair":
        """A thread's elements i and i + 1, of all its registers of a block."""
        if accumulator is not ACC_F16:
            return cls(elements=registers[i : i + 2])
        return cls(emit.value("llvm.bitcast", (registers[i // 2],), vector_of(ir.F16Type.get())))

    @classmethod
    def loaded(cls, vector: Any, element: Any) -> "Pair":
        """Two elements from a vector that memory held, as elements of the type `element`."""
        if vector.type.element_type != element:
            vector = emit.value("arith.extf", (vector,), vector_of(element))
        return cls(vector)

    @property
    def vector(self) -> Any:
        """Both as a vector."""
        if self._vector is None:
            type_ = vector_of(self._elements[0].type)
            self._vector = emit.value("vector.from_elements", self._elements, type_)
        return self._vector

    @property
    def elements(self) -> tuple[Any, ...]:
        """One after the other."""
        if not self._elements:
            self._elements = _subtiles(self._vector)
        return self._elements

    @property
    def type(self) -> Any:
        """The MLIR type of an element."""
        return self._elements[0].type if self._elements else self._vector.type.element_type

    def registers(self, accumulator: Accumulator) -> list[Any]:
        """The registers of an accumulator that hold them: two, or one for f16."""
        return [as_register(self.vector)] if accumulator is ACC_F16 else list(self.elements)

    def stored(self, element: Any) -> Any:
        """Both as memory holds them, converted to its element type: a vector, or an i16 of 8-bit
        types."""
        if str(element) in _LIMITS:
            return _packed_integers(self.elements, *_LIMITS[str(element)])
        if self.type == element:
            return self.vector
        if element.width == 8:
            return _packed_floats(self, element)
        name = "arith.truncf" if self.type.width > element.width else "arith.extf"
        return emit.value(name, (self.vector,), vector_of(element))

    def stored_each(self, element: Any) -> tuple[Any, ...]:
        """What `stored` gives, one by one."""
        if self.type == element:
            return self.elements
        both = self.stored(element)
        if isinstance(both.type, ir.VectorType):
            return _subtiles(both)
        i8 = ir.IntegerType.get_signless(8)
        subtiles = (both, emit.binary("shrui", both, 8))
        return tuple(emit.value("arith.trunci", (subtile,), i8) for subtile in subtiles)


def as_register(vector: Any) -> Any:
    """A vector of 32 bits as an i32."""
    return emit.value("llvm.bitcast", (vector,), emit.i32())


def _subtiles(vector: Any) -> tuple[Any, ...]:
    return emit.extracted(vector, 0), emit.extracted(vector, 1)


def _packed_floats(pair: Pair, element: Any) -> Any:
    """Two 8-bit floats as an i16; what exceeds them becomes their largest (`.satfinite`)."""
    f32 = ir.F32Type.get()
    elements = pair.elements if pair.type == f32 else Pair.loaded(pair.vector, f32).elements
    # The instruction takes the upper half first.
    return emit.value(
        "nvvm.convert.f32x2.to.f8x2",
        (elements[1], elements[0]),
        ir.IntegerType.get_signless(16),
        dstTy=ir.TypeAttr.get(element),
        rnd=ir.Attribute.parse("#nvvm.fp_rnd_mode<rn>"),
        sat=ir.Attribute.parse("#nvvm.sat_mode<satfinite>"),
    )


def _packed_integers(elements: Sequence[Any], least: int, most: int) -> Any:
    """Two 8-bit integers as an i16; what exceeds them becomes their least or largest."""
    narrow = []
    for value in elements:
        kept = emit.binary("minsi", emit.binary("maxsi", value, least), most)
        narrow.append(emit.binary("andi", kept, 0xFF))
    both = emit.value("arith.ori", (narrow[0], emit.binary("shli", narrow[1], 8)), emit.i32())
    return emit.value("arith.trunci", (both,), ir.IntegerType.get_signless(16))
