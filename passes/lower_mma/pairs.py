"""Two neighbours in a row of an accumulator: from registers and back, and as memory holds them."""

from collections.abc import Sequence
from typing import Any

from ...dialect.bindings import ir
from ...layout import Accumulator
from ...layout.mixes import ACC_F16
from .. import emit

#: Registers, or elements, of a thread.
Pair = Sequence[Any]

#: The numbers that 8-bit integers can be.
_LIMITS = {"i8": (-128, 127), "si8": (-128, 127), "ui8": (0, 255)}


def vector_of(element: Any) -> Any:
    """`vector<2xelement>`."""
    return ir.VectorType.get([2], element)


def elements_of(accumulator: Accumulator, registers: Pair, i: int) -> tuple[Any, Any]:
    """A thread's elements i and i + 1, of all its registers of a block."""
    if accumulator is not ACC_F16:
        return registers[i], registers[i + 1]
    return parts_of(emit.value("llvm.bitcast", (registers[i // 2],), vector_of(ir.F16Type.get())))


def parts_of(vector: Any) -> tuple[Any, Any]:
    """Both elements of a vector."""
    first, second = (
        emit.value(
            "vector.extract",
            (vector,),
            vector.type.element_type,
            static_position=ir.DenseI64ArrayAttr.get([position]),
        )
        for position in (0, 1)
    )
    return first, second


def pair_of(accumulator: Accumulator, elements: Pair) -> list[Any]:
    """The registers that hold two elements: two, or one for f16."""
    if accumulator is not ACC_F16:
        return list(elements)
    return [as_register(_joined(elements))]


def as_register(vector: Any) -> Any:
    """A vector of 32 bits as an i32."""
    return emit.value("llvm.bitcast", (vector,), emit.i32())


def stored_pair(elements: Pair, element: Any) -> Any:
    """Two elements as memory holds them, converted to its element type; 8-bit types as an i16.

    Args:
        elements: values of an accumulator's type; the first lies at the lower address.
        element: the MLIR type.
    """
    have, name = elements[0].type, str(element)
    if name in _LIMITS:
        return _packed_integers(elements, *_LIMITS[name])
    if have == element:
        return _joined(elements)
    if element.width == 8:
        return _packed_floats(elements, element)
    converted = emit.value(
        "arith.truncf" if have.width > element.width else "arith.extf",
        (_joined(elements),),
        vector_of(element),
    )
    return converted


def stored_elements(elements: Pair, element: Any) -> tuple[Any, Any]:
    """Two elements as memory holds them, one by one."""
    pair = stored_pair(elements, element)
    if isinstance(pair.type, ir.VectorType):
        return parts_of(pair)
    i8 = ir.IntegerType.get_signless(8)
    second = emit.binary("shrui", pair, 8)
    return emit.value("arith.trunci", (pair,), i8), emit.value("arith.trunci", (second,), i8)


def loaded_pair(pair: Any, element: Any) -> tuple[Any, Any]:
    """Two elements of an accumulator's type from a vector that memory held."""
    if pair.type.element_type != element:
        pair = emit.value("arith.extf", (pair,), vector_of(element))
    return parts_of(pair)


def _joined(elements: Pair) -> Any:
    return emit.value("vector.from_elements", elements, vector_of(elements[0].type))


def _packed_floats(elements: Pair, element: Any) -> Any:
    """Two 8-bit floats as an i16; what exceeds them becomes their largest (`.satfinite`)."""
    f32 = ir.F32Type.get()
    if elements[0].type != f32:
        elements = parts_of(emit.value("arith.extf", (_joined(elements),), vector_of(f32)))
    # The instruction takes the upper half first.
    return emit.value(
        "nvvm.convert.f32x2.to.f8x2",
        (elements[1], elements[0]),
        ir.IntegerType.get_signless(16),
        dstTy=ir.TypeAttr.get(element),
        rnd=ir.Attribute.parse("#nvvm.fp_rnd_mode<rn>"),
        sat=ir.Attribute.parse("#nvvm.sat_mode<satfinite>"),
    )


def _packed_integers(elements: Pair, least: int, most: int) -> Any:
    """Two 8-bit integers as an i16; what exceeds them becomes their least or largest."""
    narrow = []
    for value in elements:
        kept = emit.binary("minsi", emit.binary("maxsi", value, least), most)
        narrow.append(emit.binary("andi", kept, 0xFF))
    both = emit.value("arith.ori", (narrow[0], emit.binary("shli", narrow[1], 8)), emit.i32())
    return emit.value("arith.trunci", (both,), ir.IntegerType.get_signless(16))
