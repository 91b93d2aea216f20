"""Arrays of the host in memory of their own, which lie in it as they did."""

from __future__ import annotations

import numpy as np


def strided_copy(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A copy of an array with its strides, those of dimensions of one element included.

    Where elements are stepped along backwards, or by no whole elements, which no memref is, the copy has
    them one after the other instead, in their order in memory.

    Returns:
        The bytes from the first element's first to the last element's last, and the array in them.
    """
    size = array.itemsize
    usual = [stride >= 0 and stride % size == 0 for stride in array.strides]
    if any(extent > 1 and not fits for extent, fits in zip(array.shape, usual, strict=True)):
        return strided_copy(array.copy(order="K"))
    strides = [s if fits else size for s, fits in zip(array.strides, usual, strict=True)]
    last = sum((extent - 1) * s for extent, s in zip(array.shape, strides, strict=True))
    held = np.zeros(last + size if array.size else 0, np.uint8)
    made = np.ndarray(array.shape, array.dtype, held, strides=strides)
    made[...] = array
    return held, made
