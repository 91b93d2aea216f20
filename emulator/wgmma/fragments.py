"""Fragments of A and D in the registers of a warpgroup (the figures of PTX ISA 9.7.15.5.1.1).

The digits of a row are the warp, the half (of 8 rows) and lane / 4. The digits of a column of D are the
group of 8 columns, lane % 4 and the element of a pair. The digits of a byte of a row of A, of any type,
are the group of 16 bytes, lane % 4 and the byte within a register.
"""

from __future__ import annotations

import numpy as np

from ..lanes import WARPGROUP

ROWS = 64

#: Registers of A of each thread.
A_REGISTERS = 4


def to_matrix(elements: np.ndarray, n: int) -> np.ndarray:
    """Return D, [64, n], from the elements of threads, [128, n / 2]."""
    # warp, lane / 4, lane % 4, column, half
    parts = _pairs(elements).reshape(4, 8, 4, n // 8, 2)
    return parts.transpose(0, 4, 1, 3, 2).reshape(ROWS, n // 2).view(elements.dtype)


def to_elements(matrix: np.ndarray) -> np.ndarray:
    """Return the elements of threads, [128, n / 2], of D, [64, n]."""
    n = matrix.shape[1]
    parts = _pairs(matrix).reshape(4, 2, 8, n // 8, 4)  # warp, half, lane / 4, column, lane % 4
    return parts.transpose(0, 2, 4, 3, 1).reshape(WARPGROUP, n // 4).view(matrix.dtype)


def _pairs(elements: np.ndarray) -> np.ndarray:
    """Return pairs of elements of 2 or 4 bytes, each as one integer: NumPy moves them as a whole."""
    return np.ascontiguousarray(elements).view(f"u{2 * elements.itemsize}")


def bytes_of_a(registers: np.ndarray) -> np.ndarray:
    """Return the bytes of A, uint8[64, 32], from the registers of threads, uint32[128, 4]."""
    parts = registers.reshape(4, 8, 4, 2, 2)  # warp, lane / 4, lane % 4, 16 bytes, half
    return parts.transpose(0, 4, 1, 3, 2).reshape(ROWS, -1).view(np.uint8)
