"""Kernels whose arguments depend on the problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any

from ....language.options import KernelOptions
from ....language.traced_function import TracedFunction


def trace_kernel(
    kernel: Callable[..., None],
    shapes: Mapping[str, str],
    types: Mapping[str, Any],
    options: KernelOptions,
) -> Any:
    """Build a module with a kernel that takes any arguments.

    Args:
        kernel: the kernel; the module has it by its name.
        shapes: the arguments' names, in their order, with their shapes as in a signature.
        types: their types by name.
        options: of the kernel.
    """
    parameters = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in shapes]
    kernel.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    traced_function = TracedFunction(kernel, ", ".join(shapes.values()), options)
    return traced_function.trace(*(types[name] for name in shapes))
