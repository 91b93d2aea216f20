"""A kernel's parameters in memory, as the driver reads them."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .arguments import Matrix, pack
from .errors import LaunchError


class Parameters:
    """Values, and the array of pointers to them that `cuLaunchKernelEx` takes.

    Attributes:
        values: of ctypes; they stay where they are for as long as this lives.
        address: of the array.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)
        self._pointers = (ctypes.c_void_p * len(self.values))(*map(ctypes.addressof, self.values))
        self.address = ctypes.addressof(self._pointers)


def words(matrix: Matrix) -> list[Any]:
    """The parameters that a memref expands to."""
    return [ctypes.c_int64(word) for word in pack(matrix)]


def by_value(data: bytes) -> Any:
    """A parameter of so many bytes."""
    return (ctypes.c_char * len(data)).from_buffer_copy(data)


def scalar(argument: Mapping[str, Any], value: Any) -> Any:
    """A number as the kernel takes it.

    Raises:
        LaunchError: if it is none of the argument's type, or the type cannot be passed.
    """
    name, kind = argument["name"], argument["type"]
    if kind == "f32" and isinstance(value, int | float):
        return ctypes.c_float(value)
    widths = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "index": ctypes.c_int64}
    if kind in widths and isinstance(value, int | np.integer):
        number = widths[kind](int(value))
        if number.value == value:
            return number
    if kind not in ("f32", *widths):
        raise LaunchError(f"{name} is of type {kind}, which cannot be passed")
    raise LaunchError(f"{name} is {value!r}, which is no {kind}")
