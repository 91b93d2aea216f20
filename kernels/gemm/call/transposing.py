"""Operands whose other dimension is to be contiguous: 8-bit and 32-bit types are read K-major only."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ....dialect import new_context
from ....layout.wgmma import MN_MAJOR
from ....runtime import DeviceArray, Kernel, Matrix, cached_compile, device_array
from ..generator.problem import is_multiplied, multiplicand
from ..generator.transpose import build_transpose
from .libraries import empty
from .operands import contiguous_dim, whole_columns

#: Blocks of the kernel that fit a multiprocessor.
_BLOCKS = 2


def k_major(
    name: str, array: Any, of: DeviceArray, dim: int, stream: Any
) -> tuple[Any, DeviceArray]:
    """An operand that tensor cores can read: as it is, or a copy along whose dimension `dim`, that of K,
    neighbours are adjacent.

    Args:
        name: "A" or "B".
        array: the operand, of whose library a copy is.
        of: where it lies.
        dim: 1 of A, 0 of B.
        stream: where a copy is made.

    Returns:
        What holds its memory, and where it lies.

    Raises:
        ProblemError: if the array is no matrix with a contiguous dimension, or its library makes none.
        LaunchError: for memory that TMA cannot take.
    """
    if len(of.matrix.shape) != 2 or 0 in of.matrix.shape or not is_multiplied(of.element):
        return array, of
    if multiplicand(of.element) in MN_MAJOR or contiguous_dim(name, of.matrix, dim) == dim:
        return array, of
    across = of.matrix if dim == 1 else _exchanged(of.matrix)
    rows, columns = across.shape
    made = empty(array, (rows, whole_columns(columns, across.item_bytes)), of.element)
    along = replace(device_array(name, made).matrix, shape=across.shape)
    kernel = _kernel("f32" if across.item_bytes == 4 else "i8", of.device)
    blocks = _BLOCKS * kernel.device.properties.multiprocessor_count
    kernel.prepare(across, along, grid=(blocks,)).launch(stream)
    return made, replace(of, matrix=along if dim == 1 else _exchanged(along))


def _exchanged(matrix: Matrix) -> Matrix:
    """The same memory with rows and columns exchanged."""
    return replace(matrix, shape=matrix.shape[::-1], strides=matrix.strides[::-1])


@lru_cache(maxsize=8)
def _kernel(element: str, device: int) -> Kernel:
    with new_context():
        text = str(build_transpose(element))
    return Kernel(cached_compile(text), device=device)
