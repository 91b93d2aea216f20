"""Element types of the ISA and the MLIR types that stand for them."""

from typing import Any

from ..layout import Element, element
from .caching import cached_in_context
from .diagnostics import Invalid

#: An f32 element of a multiplicand is read as tf32; signless i8 as s8.
_NAMES = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "tf32",
    "tf32": "tf32",
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
    "i8": "s8",
    "si8": "s8",
    "ui8": "u8",
    "i1": "b1",
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
            f"has the element type {type_}, which no tensor core reads; expected one of "
            f"{', '.join(_NAMES)}"
        )
    return element(name)
