"""The parameters of a kernel in memory, as the driver reads them."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .arguments import Matrix, pack
from .errors import LaunchError


class Parameters:
    """Values, and the array of pointers to them that `cuLaunchKernelEx` takes.

    Attributes:
        values: ctypes objects; their memory lives as long as this object.
        address: the address of the array.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)
        self._pointers = (ctypes.c_void_p * len(self.values))(*map(ctypes.addressof, self.values))
        self.address = ctypes.addressof(self._pointers)


def memref_parameters(matrix: Matrix) -> list[Any]:
    """Return the parameters of a memref."""
    return [ctypes.c_int64(word) for word in pack(matrix)]


def by_value(data: bytes) -> Any:
    """Return a parameter that is passed by value, with the given bytes."""
    return (ctypes.c_char * len(data)).from_buffer_copy(data)


def scalar(argument: Mapping[str, Any], value: Any) -> Any:
    """Return a number as a parameter of the kernel.

    Raises:
        LaunchError: if the argument's type cannot hold it, or cannot be passed.
    """
    name, type_ = argument["name"], argument["type"]
    if type_ == "f32" and isinstance(value, int | float):
        return ctypes.c_float(value)
    widths = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "index": ctypes.c_int64}
    if type_ in widths and isinstance(value, int | np.integer):
        number = widths[type_](int(value))
        if number.value == value:
            return number
    if type_ not in ("f32", *widths):
        raise LaunchError(f"{name} is of type {type_}, which cannot be passed")
    raise LaunchError(f"{name} is {value!r}, which is not of type {type_}")
