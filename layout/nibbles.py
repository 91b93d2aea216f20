"""Matrices of 4-bit integers, two to a byte."""

from __future__ import annotations

import numpy as np

#: Columns of a group in which elements are interleaved: those of 16 bytes.
INTERLEAVED = 32


def pack_nibbles(matrix: np.ndarray, interleaved: bool = False) -> np.ndarray:
    """Return a matrix of 4-bit integers with two columns to a byte.

    Byte c of a row has column 2 * c in its lower half and column 2 * c + 1 in its upper half. If they are
    interleaved, nibble 8 * q + 2 * s + g + 4 * h of each 32 is column 16 * s + 8 * g + 2 * q + h (q below
    4; s, g and h below 2): a thread that loads 4 bytes of a row has its elements of an accumulator, or of
    a 16-bit A, in 32 columns. The elements of a register of 16-bit types are then 16 bits apart.

    Args:
        matrix: [M, N] integers, from -8 to 7 or from 0 to 15; N a multiple of 2, or of 32 if they are
            interleaved.
        interleaved: whether columns are interleaved, for the option of `smem.load`.

    Returns:
        uint8[M, N / 2].

    Raises:
        ValueError: for another number of columns, or numbers that 4 bits do not hold.

    Example:
        >>> pack_nibbles(np.array([[1, 2, -1, 0]])).tolist()
        [[33, 15]]
    """
    rows, columns = matrix.shape
    unit = INTERLEAVED if interleaved else 2
    if columns % unit:
        raise ValueError(f"the matrix has {columns} columns; expected a multiple of {unit}")
    if matrix.size and not -8 <= matrix.min() <= matrix.max() <= 15:
        raise ValueError(
            f"the matrix has numbers from {matrix.min()} to {matrix.max()}; expected -8 to 15"
        )
    if interleaved:
        # From (s, g, q, h) to (q, h, s, g).
        groups = matrix.reshape(rows, -1, 2, 2, 4, 2).transpose(0, 1, 4, 5, 2, 3)
        matrix = groups.reshape(rows, columns)
    nibbles = matrix.astype(np.uint8) & 15
    return nibbles[:, ::2] | nibbles[:, 1::2] << 4
