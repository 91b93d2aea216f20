"""Element types by their usual names; MLIR types are made of them in the context of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..bindings.mlir import ir
from ..dialect.elements import computed_type
from .errors import TraceError


@dataclass(frozen=True)
class DType:
    """An element type.

    Attributes:
        name: the usual name, for example "bf16" or "e4m3".
        mlir: the name in MLIR, for example "f8E4M3FN".
        bits: of an element.
        kind: "float", "integer", "index" or "bool".
    """

    name: str
    mlir: str
    bits: int
    kind: str

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"sl.{self.name}"

    @property
    def type(self) -> Any:
        """The MLIR type in the current context."""
        return ir.Type.parse(self.mlir)

    @property
    def computed_type(self) -> Any:
        """The MLIR type of its elements in arithmetic: integers are signless, of 8 bits at least."""
        return computed_type(self.type)

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.kind == "float"

    @property
    def is_signed(self) -> bool:
        """Whether it is an integer type with negative numbers."""
        return self.kind == "integer" and not self.name.startswith("u")

    def holds(self, other: DType) -> bool:
        """Whether a conversion of another type to this one rounds at most, as a store does."""
        if self.kind == other.kind == "integer":
            return self.bounds[0] <= other.bounds[0] and other.bounds[1] <= self.bounds[1]
        return self.is_float and self.bits > 8

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest number of an integer type."""
        half = 1 << self.bits - 1
        return (-half, half - 1) if self.is_signed else (0, 2 * half - 1)


f64 = DType("f64", "f64", 64, "float")
f32 = DType("f32", "f32", 32, "float")
tf32 = DType("tf32", "tf32", 32, "float")
f16 = DType("f16", "f16", 16, "float")
bf16 = DType("bf16", "bf16", 16, "float")
e4m3 = DType("e4m3", "f8E4M3FN", 8, "float")
e5m2 = DType("e5m2", "f8E5M2", 8, "float")
e8m0 = DType("e8m0", "f8E8M0FNU", 8, "float")
e2m3 = DType("e2m3", "f6E2M3FN", 6, "float")
e3m2 = DType("e3m2", "f6E3M2FN", 6, "float")
e2m1 = DType("e2m1", "f4E2M1FN", 4, "float")
padded_e2m1 = DType("padded_e2m1", "!smem.padded<f4E2M1FN>", 4, "float")
i64 = DType("i64", "i64", 64, "integer")
i32 = DType("i32", "i32", 32, "integer")
i16 = DType("i16", "i16", 16, "integer")
i8 = DType("i8", "i8", 8, "integer")
u8 = DType("u8", "ui8", 8, "integer")
i4 = DType("i4", "i4", 4, "integer")
u4 = DType("u4", "ui4", 4, "integer")
b1 = DType("b1", "i1", 1, "bool")
index = DType("index", "index", 64, "index")

#: All element types.
ALL = (
    *(f64, f32, tf32, f16, bf16, e4m3, e5m2, e8m0, e2m3, e3m2, e2m1, padded_e2m1),
    *(i64, i32, i16, i8, u8, i4, u4, b1, index),
)

#: Names of element types in array libraries that differ from both names here.
_OTHER_NAMES = {
    "float64": f64,
    "float32": f32,
    "float16": f16,
    "bfloat16": bf16,
    "float8_e4m3fn": e4m3,
    "float8_e5m2": e5m2,
    "float8_e8m0fnu": e8m0,
    "float4_e2m1fn": e2m1,
    "float6_e2m3fn": e2m3,
    "float6_e3m2fn": e3m2,
    "int64": i64,
    "int32": i32,
    "int16": i16,
    "int8": i8,
    "uint8": u8,
    "bool": b1,
    "si8": i8,
}

_BY_NAME = {
    **{dtype.mlir: dtype for dtype in ALL},
    **{dtype.name: dtype for dtype in ALL},
    **_OTHER_NAMES,
}


def dtype_of(given: Any) -> DType:
    """Return an element type: of itself, of a name, of a library's element type, or of an array.

    Args:
        given: an `sl` element type, a name such as "bf16", "float32" or "f8E4M3FN", an object that a
            library prints so (`torch.bfloat16`, `numpy.dtype`), or an array with such a `dtype`.

    Raises:
        TraceError: for anything else.

    Example:
        >>> sl.dtype_of("bfloat16"), sl.dtype_of("f8E4M3FN")
        (sl.bf16, sl.e4m3)
    """
    if isinstance(given, DType):
        return given
    is_array = hasattr(given, "dtype") and not isinstance(given, type)
    dtype = _BY_NAME.get(_name(given.dtype if is_array else given))
    if dtype is None and isinstance(given, bool | int | float):
        dtype = b1 if isinstance(given, bool) else i32 if isinstance(given, int) else f32
    if dtype is None:
        names = ", ".join(dtype.name for dtype in ALL)
        raise TraceError(f"{given!r} is no element type; expected an array, or one of {names}")
    return dtype


def _name(dtype: Any) -> str:
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return str(name).removeprefix("torch.")


def of_mlir(type_: Any) -> DType:
    """Return the element type of an MLIR type.

    Raises:
        TraceError: if the language has no name for it.
    """
    dtype = _BY_NAME.get(str(type_))
    if dtype is None:
        raise TraceError(f"elements of {type_} have no name in the language")
    return dtype
