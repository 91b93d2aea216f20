"""Errors of a call: the mismatch, the call's arguments, and the kernel's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import LaunchError, Matrix
from ..signature import Parameter


class CallError(LaunchError):
    """A call whose arguments do not fit the kernel, or that the GPU refuses.

    The first line is a sentence that says what is wrong; the second has the shapes and types that were
    given, and those that the kernel takes.

    Example:
        >>> x = np.zeros((64, 32), np.float32)
        >>> try:
        ...     double(x, x, on="cpu")
        ... except sl.CallError as error:
        ...     print(error)
        A is [64, 32]; expected (M, 64)
          double takes A (M, 64), B (M, 64); given: A float32[64, 32], B float32[64, 32]
    """


def call_error(
    name: str,
    parameters: Sequence[tuple[str, Parameter]],
    arguments: Sequence[Any],
    message: str,
) -> CallError:
    """Return the error of a call, with its arguments and the kernel's parameters.

    Args:
        name: the kernel's name.
        parameters: the kernel's parameters, by name.
        arguments: the call's arguments.
        message: the mismatch, a sentence without a full stop.
    """
    names = [name for name, _ in parameters] + ["?"] * len(arguments)
    passed = ", ".join(
        f"{name} {describe_argument(argument)}"
        for name, argument in zip(names, arguments, strict=False)
    )
    takes = ", ".join(f"{name} {parameter}" for name, parameter in parameters)
    return CallError(
        f"{message}\n  {name} takes {takes or 'no arguments'}; given: {passed or 'none'}"
    )


def describe_argument(argument: Any) -> str:
    """Return the element type and the shape of an array, or a number."""
    if isinstance(argument, Matrix):
        return f"[{_comma_separated(argument.shape)}]"
    shape, dtype = getattr(argument, "shape", None), getattr(argument, "dtype", None)
    if shape is None or dtype is None:
        text = repr(argument)
        return text if len(text) <= 40 else f"{text[:37]}..."
    if len(shape) == 0:
        return f"{dtype} {argument}"
    return f"{str(dtype).removeprefix('torch.')}[{_comma_separated(shape)}]"


def _comma_separated(shape: Sequence[Any]) -> str:
    return ", ".join(map(str, shape))
