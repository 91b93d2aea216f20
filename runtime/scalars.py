"""Numbers as arguments of a kernel: which are taken, and their bytes."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from .errors import LaunchError

#: Classes of numbers that a whole number, a floating-point number and an i1 is given as.
_INTEGERS = int | np.integer
_FLOATS = int | float | np.integer | np.floating | ml_dtypes.bfloat16
_BOOLEANS = bool | np.bool_


@dataclass(frozen=True)
class ScalarType:
    """A type of scalar arguments.

    Attributes:
        format: its format in `struct`, which refuses numbers outside of the type's range.
        classes: the classes of Python's and NumPy's numbers that it takes.
        bits: what is packed for a number, where `struct` has no format of the type.
    """

    format: str
    classes: Any
    bits: Callable[[Any], int] | None = None


def _bf16_bits(value: Any) -> int:
    """Return the bits of a number that is rounded to bf16.

    Raises:
        OverflowError: if it is finite and rounds to infinity.
    """
    with np.errstate(over="ignore"):
        rounded = np.float32(value).astype(ml_dtypes.bfloat16)
    if np.isinf(rounded) and not np.isinf(float(value)):
        raise OverflowError("float too large to pack")
    return int(rounded.view(np.uint16))


#: The types that a host can pass. MLIR's signless integers are taken as signed.
SCALARS = {
    "i1": ScalarType("?", _BOOLEANS),
    "f64": ScalarType("d", _FLOATS),
    "f32": ScalarType("f", _FLOATS),
    "f16": ScalarType("e", _FLOATS),
    "bf16": ScalarType("H", _FLOATS, _bf16_bits),
    "index": ScalarType("q", _INTEGERS),
    **{
        f"{sign}{bits}": ScalarType(code.upper() if sign == "ui" else code, _INTEGERS)
        for bits, code in ((64, "q"), (32, "i"), (16, "h"), (8, "b"))
        for sign in ("i", "si", "ui")
    },
}


def scalar_type(argument: Mapping[str, Any]) -> ScalarType:
    """Return the type of a scalar argument.

    Raises:
        LaunchError: if no host can pass it.
    """
    type_ = SCALARS.get(argument["type"])
    if type_ is None:
        raise LaunchError(
            f"{argument['name']} is of type {argument['type']}, which cannot be passed"
        )
    return type_


def check_scalar(argument: Mapping[str, Any], value: Any) -> None:
    """Check that an argument's type holds a number; a floating-point type rounds it.

    Args:
        argument: the argument's entry in the manifest.
        value: a number of Python or NumPy.

    Raises:
        LaunchError: if it is of another class, outside of the type's range, or cannot be passed.
    """
    type_ = scalar_type(argument)
    try:
        if isinstance(value, type_.classes):
            struct.pack(f"<{type_.format}", type_.bits(value) if type_.bits else value)
            return
    except (struct.error, OverflowError):
        pass
    name, expected = argument["name"], argument["type"]
    raise LaunchError(f"{name} is {value!r}, which is not of type {expected}")
