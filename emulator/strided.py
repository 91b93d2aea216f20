"""Copies of host arrays that keep the strides."""

from __future__ import annotations

import numpy as np


def strided_copy(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Copy an array with its strides, including those of dimensions of one element.

    If a stride is negative, or not a multiple of the element's size, which no memref has, the copy is
    contiguous instead, in the order of the memory.

    Returns:
        uint8[bytes], from the first byte of the first element to the last byte of the last; and the
        array, which is a view of it.
    """
    size = array.itemsize
    strides = usual_strides(array)
    if strides is None:
        return strided_copy(array.copy(order="K"))
    last = sum((extent - 1) * s for extent, s in zip(array.shape, strides, strict=True))
    held = np.zeros(last + size if array.size else 0, np.uint8)
    made = np.ndarray(array.shape, array.dtype, held, strides=strides)
    made[...] = array
    return held, made


def usual_strides(array: np.ndarray) -> tuple[int, ...] | None:
    """Return the bytes between neighbours; None if a stride is negative, or no multiple of the element's
    size. Of dimensions of one element, such a stride is the element's size."""
    size = array.itemsize
    usual = [stride >= 0 and stride % size == 0 for stride in array.strides]
    if any(extent > 1 and not fits for extent, fits in zip(array.shape, usual, strict=True)):
        return None
    return tuple(s if fits else size for s, fits in zip(array.strides, usual, strict=True))
