"""Upstream's tensor maps: the fields of the type `!nvgpu.tensormap.descriptor`."""

import re
from typing import NamedTuple

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Type
from ..bindings.mlir import ir
from ..layout.swizzle import Swizzle

_PREFIX = "!nvgpu.tensormap.descriptor<"

#: The fields of the type's text; the bindings have no accessors for them.
_FIELDS = re.compile(
    rf"{re.escape(_PREFIX)}tensor = (?P<tensor>memref<.*>), swizzle = (?P<swizzle>\w+), "
    r"l2promo = (?P<l2>\w+), oob = (?P<oob>\w+), interleave = (?P<interleave>\w+)>"
)

#: Upstream's swizzles.
_SWIZZLES = {
    "none": Swizzle.NONE,
    "swizzle_32b": Swizzle.B32,
    "swizzle_64b": Swizzle.B64,
    "swizzle_128b": Swizzle.B128,
}


class TensorMapType(NamedTuple):
    """The fields of a `!nvgpu.tensormap.descriptor`.

    Attributes:
        tensor: the memref that a box is in shared memory; its last dimension is contiguous.
        swizzle: of a box.
        l2_promotion: "none", "64B", "128B" or "256B".
        oob: what fills elements outside of the matrix: "zero" or "nan".
        interleave: upstream's name of the interleaved format, or "none".
    """

    tensor: Type
    swizzle: Swizzle
    l2_promotion: str
    oob: str
    interleave: str


def is_tensor_map(type_: Type) -> bool:
    """Whether a type is upstream's tensor map."""
    return str(type_).startswith(_PREFIX)


def tensor_map_type(type_: Type) -> TensorMapType:
    """Return the fields of upstream's tensor map.

    Raises:
        Invalid: if the type's text has other fields.
    """
    match = _FIELDS.fullmatch(str(type_))
    if match is None or match["swizzle"] not in _SWIZZLES:
        raise Invalid(f"has the tensor map {type_}, whose fields are not those of upstream")
    return TensorMapType(
        ir.MemRefType(ir.Type.parse(match["tensor"], type_.context)),
        _SWIZZLES[match["swizzle"]],
        match["l2"].removeprefix("l2promo_").replace("b", "B"),
        match["oob"],
        match["interleave"],
    )
