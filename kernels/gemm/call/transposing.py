"""Operands that must be transposed: tensor cores read 8-bit and 32-bit types K-major only."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

from ....dialect import new_context
from ....layout.wgmma import MN_MAJOR
from ....runtime import DeviceArray, Kernel, cached_compile, device_array
from ...libraries import empty, whole_columns
from ...transpose import build_transpose
from ..generator.problem import is_multiplied, multiplicand
from .operands import contiguous_dim, matrix_at

#: CTAs of the kernel that fit a multiprocessor.
_CTAS = 2


def k_major(
    name: str, array: Any, view: DeviceArray, dim: int, stream: Any
) -> tuple[Any, DeviceArray]:
    """Return an operand that tensor cores can read: the array itself, or a K-major copy.

    Args:
        name: "A" or "B".
        array: the operand; a copy belongs to the same library.
        view: its address, shape and element type.
        dim: the dimension of K: 1 for A, 0 for B.
        stream: the stream of the copy.

    Returns:
        The array that owns the memory, and its address, shape and element type.

    Raises:
        ProblemError: if the array is not a matrix with a contiguous dimension, or its library is not
            supported.
        LaunchError: for memory that TMA cannot read.
    """
    if len(view.matrix.shape) < 2 or 0 in view.matrix.shape or not is_multiplied(view.element):
        return array, view
    if multiplicand(view.element) in MN_MAJOR or contiguous_dim(name, view.matrix, dim) == dim:
        return array, view
    source = view.matrix if dim == 1 else view.matrix.transposed()
    *batch, rows, columns = source.shape
    copy = empty(
        array,
        (*batch, rows, whole_columns(columns, source.item_bytes)),
        view.element,
        f"a copy of {name}",
    )
    target = replace(device_array(name, copy).matrix, shape=source.shape)
    kernel = _kernel("f32" if source.item_bytes == 4 else "i8", view.device)
    ctas = _CTAS * kernel.device.properties.multiprocessor_count
    for index in product(*map(range, batch)):
        kernel.prepare(matrix_at(source, index), matrix_at(target, index), grid=(ctas,)).launch(stream)
    return copy, replace(view, matrix=target if dim == 1 else target.transposed())


@lru_cache(maxsize=8)
def _kernel(element: str, device: int) -> Kernel:
    with new_context():
        text = str(build_transpose(element))
    return Kernel(cached_compile(text), device=device)
