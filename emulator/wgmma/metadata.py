"""The metadata of a sparse `wgmma`: the elements along K that a compressed A keeps (measured on an H200).

Each group of elements of a row has a nibble: the index of the first kept element in its low two bits, and
of the second in its high two. A group of four elements keeps two. A group of two elements of tf32 keeps
one; its nibble counts half elements.
"""

from __future__ import annotations

import numpy as np

from .fragments import ROWS

_SHIFTS = np.arange(0, 32, 4, dtype=np.uint32)

#: The kept elements of each nibble, for types of 8 and 16 bits and for tf32. Other nibbles are undefined.
_KEPT = {first | second << 2: (first, second) for second in range(4) for first in range(second)}
_KEPT_OF_TF32 = {0b0100: (0,), 0b1110: (1,)}


def kept_elements(words: np.ndarray, size: int, selector: int) -> np.ndarray:
    """Return the elements along K that each row keeps, ascending: int64[64, K / 2].

    Args:
        words: uint32[128], the metadata operand of each thread of the warpgroup.
        size: bytes of an element of A.
        selector: the sparsity selector of the instruction.

    Raises:
        ValueError: if a nibble that the instruction reads is undefined.
    """
    nibbles = _nibbles(words, size, selector)
    elements_of_nibble, group = (_KEPT_OF_TF32, 2) if size == 4 else (_KEPT, 4)
    bad = np.argwhere(~np.isin(nibbles, list(elements_of_nibble)))
    if len(bad):
        row, column = (int(i) for i in bad[0])
        raise ValueError(
            f"{nibbles[row, column]:#06b} for elements {column * group} to "
            f"{column * group + group - 1} of row "
            f"{row}, expected one of "
            f"{', '.join(f'{nibble:#06b}' for nibble in sorted(elements_of_nibble))}"
        )
    within = np.zeros((16, len(next(iter(elements_of_nibble.values())))), np.int64)
    for nibble, elements in elements_of_nibble.items():
        within[nibble] = elements
    first = np.arange(nibbles.shape[1])[:, None] * group
    return (first + within[nibbles]).reshape(ROWS, -1)


def _nibbles(words: np.ndarray, size: int, selector: int) -> np.ndarray:
    """Return the nibbles of each row, [64, groups]."""
    by_lane = words.reshape(4, 8, 4)  # warp, lane / 4, lane % 4
    if size == 1:
        # For 8-bit types, lane % 4 is half + 2 * (index of eight groups).
        parts = (by_lane[..., None] >> _SHIFTS & 15).reshape(4, 8, 2, 2, 8)
        return parts.transpose(0, 3, 1, 2, 4).reshape(ROWS, -1)
    # For other types, lane % 4 is 2 * selector + (index of four groups), and the half is that of the
    # word.
    read = by_lane[:, :, 2 * selector : 2 * selector + 2]
    parts = (read[..., None] >> _SHIFTS & 15).reshape(4, 8, 2, 2, 4)
    return parts.transpose(0, 3, 1, 2, 4).reshape(ROWS, -1)
