"""Arguments and results of a host function in the ABI of its compiled code.

Memrefs are descriptors in memory: two addresses, the offset, extents and strides (MLIR's target of the
LLVM dialect, "C-compatible wrapper emission").
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import isinf
from typing import Any

import numpy as np

from ..bindings.irtypes import Type
from ..bindings.mlir import ir
from ..dialect.memrefs import is_dynamic, strides_of
from ..runtime import LaunchError, Matrix
from ..runtime.arguments import DTYPES

#: The C types of numbers.
_NUMBERS: dict[str, Any] = {
    "index": ctypes.c_int64,
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
    "i16": ctypes.c_int16,
    "i8": ctypes.c_int8,
    "i1": ctypes.c_bool,
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
}


@cache
def descriptor_type(rank: int) -> type[ctypes.Structure]:
    """Return the structure of a memref's descriptor."""
    fields: list[tuple[str, Any]] = [
        ("allocated", ctypes.c_uint64),
        ("aligned", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
    ]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return type(f"Descriptor{rank}", (ctypes.Structure,), {"_fields_": fields})


class ArrayType:
    """A memref as an argument or a result.

    Args:
        type_: the memref's type.
        subject: the name of the argument or result, for messages.

    Raises:
        LaunchError: for a type that no array has.

    Attributes:
        element: MLIR's name of the element type.
        rank: the number of dimensions.
    """

    def __init__(self, type_: Type, subject: str) -> None:
        memref = ir.MemRefType(type_)
        self.element, self.rank, self.subject = str(memref.element_type), memref.rank, subject
        if self.element not in DTYPES:
            raise LaunchError(
                f"{subject} is of type {type_}; no array has elements of {self.element}"
            )
        self._shape = [
            None if memref.is_dynamic_dim(d) else memref.shape[d] for d in range(self.rank)
        ]
        strides, offset = strides_of(memref)
        self._strides = [None if is_dynamic(stride) else stride for stride in strides]
        self._offset = 0 if is_dynamic(offset) else offset

    @property
    def c_type(self) -> type[ctypes.Structure]:
        """The descriptor's structure."""
        return descriptor_type(self.rank)

    def pack(self, matrix: Matrix, element: str) -> ctypes.Structure:
        """Return the descriptor of an array.

        Args:
            matrix: the array's address, extents and strides.
            element: MLIR's name of its element type.

        Raises:
            LaunchError: if the array does not fit the type.
        """
        # Signless integers are signed or not.
        if element not in (self.element, f"u{self.element}"):
            raise LaunchError(f"{self.subject} has elements of {element}; expected {self.element}")
        if len(matrix.shape) != self.rank:
            raise LaunchError(
                f"{self.subject} has {len(matrix.shape)} dimensions; expected {self.rank}"
            )
        if 0 in matrix.shape:
            # NumPy's strides of an array without elements are no strides of a memref.
            matrix = replace(matrix, strides=tuple(stride or 0 for stride in self._strides))
        for d, (extent, stride) in enumerate(zip(matrix.shape, matrix.strides, strict=True)):
            if self._shape[d] not in (None, extent):
                raise LaunchError(
                    f"{self.subject} has the extent {extent} along dimension {d}; expected "
                    f"{self._shape[d]}"
                )
            if stride < 0:
                raise LaunchError(
                    f"{self.subject} has the stride {stride} (elements) along dimension {d}; expected "
                    "none below 0"
                )
            if extent > 1 and self._strides[d] not in (None, stride):
                raise LaunchError(
                    f"{self.subject} has the stride {stride} (elements) along dimension {d}; expected "
                    f"{self._strides[d]}"
                )
        # Code with a static offset adds it to the address.
        base = matrix.pointer - self._offset * matrix.item_bytes
        extents = (matrix.shape, matrix.strides) if self.rank else ()
        arrays = [(ctypes.c_int64 * self.rank)(*field_values) for field_values in extents]
        return self.c_type(base, base, self._offset, *arrays)

    def unpack(self, descriptor: Any) -> Matrix:
        """Return the address, extents and strides of a descriptor's array."""
        size = DTYPES[self.element].itemsize
        shape, strides = (
            (tuple(descriptor.sizes), tuple(descriptor.strides)) if self.rank else ((), ())
        )
        return Matrix(descriptor.aligned + descriptor.offset * size, shape, strides, size)


class NumberType:
    """A number as an argument or a result.

    Args:
        type_: its type.
        subject: the name of the argument or result, for messages.

    Raises:
        LaunchError: for a type that no number of C has.

    Attributes:
        c_type: its C type.
    """

    def __init__(self, type_: Type, subject: str) -> None:
        name = str(type_)
        if name not in _NUMBERS:
            raise LaunchError(
                f"{subject} is of type {name}; expected a memref or one of {', '.join(_NUMBERS)}"
            )
        self.c_type, self._name, self.subject = _NUMBERS[name], name, subject

    def pack(self, number: Any) -> Any:
        """Return a number as a value of C.

        Raises:
            LaunchError: if it is no number, or out of the type's range.
        """
        # C types take no integers of NumPy.
        number = number.item() if isinstance(number, np.generic) else number
        try:
            c_value = self.c_type(number)
        except TypeError:
            raise LaunchError(
                f"{self.subject} is {type(number).__name__}; expected a number of type {self._name}"
            ) from None
        except OverflowError:
            c_value = None
        if c_value is None or not self._holds(c_value.value, number):
            raise LaunchError(f"{self.subject} is {number}, which {self._name} does not hold")
        return c_value

    def _holds(self, value: Any, number: Any) -> bool:
        """Whether C's value equals a number; a float may be rounded, but not to infinity."""
        if self._name.startswith("f"):
            return not isinf(value) or isinf(number)
        return value == number


Slot = ArrayType | NumberType


def slots(types: Sequence[Type], subject: str) -> list[Slot]:
    """Return the types of arguments or results in C."""
    return [
        ArrayType(type_, f"{subject} {i}")
        if isinstance(type_, ir.MemRefType)
        else NumberType(type_, f"{subject} {i}")
        for i, type_ in enumerate(types)
    ]


class Results:
    """The memory of a function's results.

    A single number is returned by the function; anything else is written to the address that is its first
    argument.

    Args:
        types: the types of the results.

    Attributes:
        types: the same.
    """

    def __init__(self, types: Sequence[Slot]) -> None:
        self.types = list(types)
        self._is_number = len(self.types) == 1 and isinstance(self.types[0], NumberType)
        fields = [(f"r{i}", slot.c_type) for i, slot in enumerate(self.types)]
        self._structure = type("Results", (ctypes.Structure,), {"_fields_": fields})

    def memory(self) -> ctypes.Structure:
        """Return memory for the results of a call."""
        return self._structure()

    def c_values(self, memory: ctypes.Structure, arguments: Sequence[Any]) -> list[Any]:
        """Return each argument of the C function, then the memory of the number that it returns.

        Args:
            memory: the memory of the results.
            arguments: the function's arguments; descriptors are passed by address.
        """
        c_arguments = [
            ctypes.c_void_p(ctypes.addressof(argument))
            if isinstance(argument, ctypes.Structure)
            else argument
            for argument in arguments
        ]
        if not self.types:
            return c_arguments
        if self._is_number:
            return [*c_arguments, memory]
        return [ctypes.c_void_p(ctypes.addressof(memory)), *c_arguments]

    def read(self, memory: ctypes.Structure) -> list[Any]:
        """Return the results of a call: numbers, and the matrices of arrays."""
        raw_values = [getattr(memory, f"r{i}") for i in range(len(self.types))]
        return [
            slot.unpack(raw) if isinstance(slot, ArrayType) else raw
            for slot, raw in zip(self.types, raw_values, strict=True)
        ]
