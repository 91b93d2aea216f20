"""Arrays whose signature gives no strides are dense: contiguous, the last dimension first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...runtime import LaunchError
from ...runtime.arrays import device_array
from ..signature import Parameter


def check_dense(parameters: Sequence[tuple[str, Parameter]], arguments: Sequence[Any]) -> None:
    """Check that matrices without strides in the signature are dense.

    The type of such an array is a memref without strides, whose rows MLIR takes to be adjacent.

    Args:
        parameters: of the kernel, by name.
        arguments: NumPy arrays, arrays on a GPU, and numbers.

    Raises:
        LaunchError: for the first that is not.
    """
    for (name, parameter), given in zip(parameters, arguments, strict=True):
        if len(parameter.shape) < 2 or parameter.strides is not None:
            continue
        shape, strides = _extents(name, given)
        dense, step = True, 1
        for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
            dense = dense and (extent <= 1 or stride == step)
            step *= extent
        if not dense:
            wanted = ",".join(["?"] * (len(shape) - 1) + ["1"])
            names = ",".join(map(str, parameter.shape))
            raise LaunchError(
                f"{name} has the strides {list(strides)}; expected a contiguous array, or a signature "
                f"with strides, ({names}):({wanted})"
            )


def _extents(name: str, given: Any) -> tuple[Sequence[int], Sequence[int]]:
    """Return the shape and the strides of an array, in elements."""
    interface: Mapping[str, Any] | None = getattr(given, "__array_interface__", None)
    if interface is not None:
        return given.shape, [step // given.itemsize for step in given.strides]
    matrix = device_array(name, given).matrix
    return matrix.shape, matrix.strides
