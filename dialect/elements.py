"""Element types of the ISA and the MLIR types that stand for them."""

from collections.abc import Iterable
from typing import Any

from ..layout import ACCUMULATORS, Accumulator, Element, element
from .caching import cached_in_context
from .diagnostics import Invalid

#: An f32 element of a multiplicand is read as tf32; signless i8 as s8. Floats of 6 bits lie padded, 16 of
#: them in 16 bytes, whenever they are in shared memory; those of 4 bits padded or two to a byte.
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
def element_of(type_: Any) -> Element:
    """The ISA's element type of an MLIR type.

    Raises:
        Invalid: if shared memory tiles cannot hold it.
    """
    name = _NAMES.get(str(type_))
    if name is None:
        raise Invalid(
            f"has the element type {type_}, which no tile holds; expected one of "
            f"{', '.join(_NAMES)}"
        )
    return element(name)


def held_in_tiles(types: Iterable[str]) -> list[str]:
    """Those of some MLIR types that shared memory tiles can hold."""
    return [type_ for type_ in types if type_ in _NAMES]


#: Accumulators by the MLIR types that stand for them.
_ACCUMULATORS = {"f32": "f32", "f16": "f16", "i32": "s32"}


@cached_in_context
def accumulator_of(type_: Any) -> Accumulator:
    """The ISA's accumulator of an MLIR type.

    Raises:
        Invalid: if products are not added in it.
    """
    name = _ACCUMULATORS.get(str(type_))
    if name is None:
        raise Invalid(f"has an accumulator of {type_}; expected {', '.join(_ACCUMULATORS)}")
    return ACCUMULATORS[name]


def accumulator_types(accumulators: tuple[Accumulator, ...]) -> str:
    """The MLIR types of accumulators, in words."""
    return " or ".join(t for t, name in _ACCUMULATORS.items() if ACCUMULATORS[name] in accumulators)
