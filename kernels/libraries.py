"""New arrays of the library that an operand belongs to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..layout.elements import UNIT_BYTES
from ..runtime.arguments import row_major_strides
from ..runtime.readers import reader
from ..runtime.streams import library
from .errors import ProblemError

#: The libraries' names of MLIR's element types.
_NAMES = {
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "i32": "int32",
    "i8": "int8",
    "ui8": "uint8",
}


def element_named(dtype: Any) -> str:
    """Return MLIR's name of a library's dtype or of its name; the name itself if no MLIR type fits."""
    name = getattr(dtype, "name", None) or str(getattr(dtype, "__name__", dtype))
    name = name.removeprefix("torch.")
    return {theirs: ours for ours, theirs in _NAMES.items()}.get(name, name)


def maker(like: Any, shape: tuple[int, ...], element: str) -> Callable[[Any], tuple[int, Any]]:
    """Return a function that does what `empty` does for arrays of the class and the memory of `like`.

    It returns the new array's address, too.
    """
    if library(like) != "torch":

        def others(like: Any) -> tuple[int, Any]:
            array = empty(like, shape, element)
            return reader(type(array))(array)[0], array

        return others
    torch = sys.modules["torch"]
    make, dtype, device = torch.empty_strided, getattr(torch, _NAMES[element]), like.device
    strides = row_major_strides(shape)

    def tensor(like: Any) -> tuple[int, Any]:
        # It takes two thirds of the time of `new_empty`.
        array = make(shape, strides, dtype=dtype, device=device)
        return array.data_ptr(), array

    return tensor


def whole_columns(n: int, item_bytes: int) -> int:
    """Return the columns that TMA writes for a row of `n`: whole units of 16 bytes.

    Measured on an H200: TMA writes zeros after the row's end."""
    unit = UNIT_BYTES // item_bytes
    # Integers alone: `n` is a symbol where PyTorch traces a call of any shape.
    return (n + unit - 1) // unit * unit


def empty(like: Any, shape: tuple[int, ...], element: str, purpose: str = "the result") -> Any:
    """Return a new contiguous array of the same library and in the same memory as `like`.

    Args:
        like: an array.
        shape: its extents.
        element: MLIR's name of the element type.
        purpose: what it is, for messages.

    Raises:
        ProblemError: if the library is not supported.
    """
    name = _NAMES[element]
    match library(like):
        case "torch":
            return like.new_empty(shape, dtype=getattr(sys.modules["torch"], name))
        case "cupy":
            return sys.modules["cupy"].empty(shape, dtype=_numpy_dtype(name))
        case "jax" | "jaxlib":
            import jax.numpy as jnp

            # The kernel writes it in place; no other code has this array yet.
            return jnp.zeros(shape, dtype=name, device=like.device).block_until_ready()
        case other:
            instead = "give it as `out`, or use" if purpose == "the result" else "use"
            raise ProblemError(
                f"cannot make an array of {other} for {purpose}; {instead} arrays of torch, cupy or jax"
            )


def _numpy_dtype(name: str) -> Any:
    import ml_dtypes
    import numpy as np

    return np.dtype(getattr(ml_dtypes, name, None) or name)
