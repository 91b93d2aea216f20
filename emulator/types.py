"""The NumPy dtypes and shapes of values of MLIR types."""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from ..bindings.mlir import ir, llvm
from .errors import EmulationError

#: Integers are signless, so they are stored unsigned; signed ops view them as signed.
_INTEGERS = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}

#: The signed integers of each size in bytes.
_SIGNED = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}

_FLOATS = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


def dtype_of(type_: Any, location: Any = None) -> np.dtype:
    """Return the dtype of a scalar type, or of a vector's elements; addresses are int64.

    Raises:
        EmulationError: if the emulator does not support the type.
    """
    if isinstance(type_, ir.VectorType):
        return dtype_of(type_.element_type, location)
    if isinstance(type_, ir.IndexType):
        return np.dtype(np.uint64)
    if isinstance(type_, ir.IntegerType) and type_.width in _INTEGERS:
        return np.dtype(_INTEGERS[type_.width])
    text = str(type_)
    if text in _FLOATS:
        return np.dtype(_FLOATS[text])
    if is_pointer(text):
        return np.dtype(np.int64)
    raise EmulationError(f"the emulator has no values of type {text}", location)


def shape_of(type_: Any) -> tuple[int, ...]:
    """Return the shape of one thread's value."""
    return tuple(type_.shape) if isinstance(type_, ir.VectorType) else ()


def is_pointer(text: str) -> bool:
    """Whether the text of a type is an LLVM pointer."""
    return text.startswith("!llvm.ptr")


def space_of(text: str) -> int:
    """Return the state space of an LLVM pointer type, from its text."""
    return int(text[len("!llvm.ptr<") : -1]) if "<" in text else 0


def bits_of(type_: Any, location: Any = None) -> int:
    """Return the bits of a scalar, a vector or a pointer in memory.

    Raises:
        EmulationError: if the emulator does not support the type.
    """
    text = str(type_)
    if is_pointer(text):
        # Pointers to shared memory have 64 bits, too, in LLVM's data layout of NVPTX.
        return 64
    dtype = dtype_of(type_, location)
    return prod(shape_of(type_)) * dtype.itemsize * 8


def struct_members(type_: Any) -> list[Any] | None:
    """Return the member types of an LLVM struct; None for another type."""
    if not str(type_).startswith("!llvm.struct"):
        return None
    return list(llvm.StructType(type_).body)


def as_signed(array: np.ndarray) -> np.ndarray:
    """View integers as two's complement numbers; i1 is 0 or -1."""
    dtype = array.dtype
    if dtype.kind == "b":
        return -array.view(np.int8)
    return array.view(_SIGNED[dtype.itemsize]) if dtype.kind == "u" else array


def unsigned_dtype(dtype: np.dtype) -> np.dtype:
    """Return the unsigned dtype for a signed one; any other dtype unchanged."""
    return np.dtype(f"u{dtype.itemsize}") if dtype.kind == "i" else dtype
