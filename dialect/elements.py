"""Element types of the ISA and the MLIR types that represent them."""

from collections.abc import Iterable

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Type
from ..bindings.mlir import ir
from ..layout import ACCUMULATORS, Accumulator, Element, element
from ..layout.accumulators import HELD
from .caching import cached_in_context

#: ISA element types by MLIR type. An f32 multiplicand is read as tf32, signless i8 as s8. 6-bit floats
#: are always padded in shared memory, 16 of them in 16 bytes; 4-bit floats are padded, or packed two to
#: a byte.
_NAMES = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "tf32",
    "tf32": "tf32",
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
    "f8E8M0FNU": "ue8m0",
    "!smem.padded<f4E2M1FN>": "e2m1_p64",
    "f4E2M1FN": "e2m1",
    "f6E2M3FN": "e2m3_p32",
    "f6E3M2FN": "e3m2_p32",
    "i8": "s8",
    "si8": "s8",
    "ui8": "u8",
    "i1": "b1",
    "i32": "s32",
}


@cached_in_context
def element_of(type_: Type) -> Element:
    """Return the ISA element type of an MLIR type.

    Raises:
        Invalid: if no tile holds such elements.
    """
    name = _NAMES.get(str(type_))
    if name is None:
        raise Invalid(
            f"has the element type {type_}, which no tile holds; expected one of "
            f"{', '.join(_NAMES)}"
        )
    return element(name)


def tile_element_types(types: Iterable[str]) -> list[str]:
    """Return those of the named MLIR types that tiles can hold."""
    return [type_ for type_ in types if type_ in _NAMES]


#: Accumulator types by MLIR type, and types that fragments have in the positions of an accumulator.
ACCUMULATOR_TYPES = {"f32": "f32", "f16": "f16", "i32": "s32"}
_HELD = {
    "bf16": "bf16",
    "i16": "s16",
    "i8": "s8",
    "ui8": "u8",
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
    "i4": "s4",
    "ui4": "u4",
}


#: The MLIR types of accumulators' elements, by the ISA's name.
MLIR_NAMES = {isa: mlir for mlir, isa in (ACCUMULATOR_TYPES | _HELD).items()}


@cached_in_context
def accumulator_of(type_: Type) -> Accumulator:
    """Return the ISA type of the elements of an accumulator of an MLIR type.

    Raises:
        Invalid: if registers do not hold such elements in the positions of an accumulator.
    """
    name = str(type_)
    if name in ACCUMULATOR_TYPES:
        return ACCUMULATORS[ACCUMULATOR_TYPES[name]]
    if name not in _HELD:
        raise Invalid(
            f"has an accumulator of {type_}; expected {', '.join(ACCUMULATOR_TYPES | _HELD)}"
        )
    return HELD[_HELD[name]]


@cached_in_context
def computed_type(element: Type) -> Type:
    """Return the type in which an `smem.map` computes elements: of integers a signless one, of at least 8
    bits, and of conditions i1."""
    if not isinstance(element, ir.IntegerType) or element.width == 1:
        return element
    return ir.IntegerType.get_signless(max(8, element.width), element.context)


def accumulator_types(accumulators: tuple[Accumulator, ...]) -> str:
    """Format the MLIR types of accumulators for a message: "f32 or f16"."""
    return " or ".join(
        t for t, name in ACCUMULATOR_TYPES.items() if ACCUMULATORS[name] in accumulators
    )
