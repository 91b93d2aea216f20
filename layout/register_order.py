"""The order in which a thread holds the elements of a fragment of any size.

A fragment of (M, N) or (M, K) elements is cut into blocks of 64 rows, the rows of a `wgmma`. A thread
holds the elements of block 0 first. Within a block, the elements of an accumulator are in the order of
the ISA's figure of D for N columns; those of A are in the order of the figure of A for each K of an
instruction, one after the other (PTX ISA 9.7.15.5.1.1).
"""

from __future__ import annotations

import numpy as np

from .arch import Arch
from .elements import Element
from .fragments import (
    FRAGMENT_M,
    WARPGROUP,
    WARPS,
    Fragment,
    first_rows,
    fragment_a,
    fragment_d,
    rows_of_warp,
)
from .instruction import instruction_k
from .modes import LayoutError

#: The divisor of a slice's extent, by dimension: 8 columns, 64 rows.
SLICE_STEPS = (8, FRAGMENT_M)


def slice_coordinates(extent: int, dim: int, arch: Arch | None = None) -> np.ndarray:
    """Return the index of each element of a slice of an accumulator, in the order of registers.

    A slice along dimension 1 has one element for each row, a slice along dimension 0 one for each column.
    With 64 rows to an instruction, element i of thread t has the index

        row    = 64 * (i // 2) + 16 * (t // 32) + t % 32 // 4 + 8 * (i % 2)    along dimension 1
        column = 2 * (t % 4) + i % 2 + 8 * (i // 2)                            along dimension 0

    The rows of 128 to an instruction differ as in `accumulator_coordinates`.

    Args:
        extent: the number of rows, a multiple of 64, or of columns, a multiple of 8.
        dim: the dimension that the slice does not have: 1 or 0.
        arch: the architecture whose instructions compute the accumulator; sm_90 by default.

    Returns:
        int64[128, extent / 32] along dimension 1, int64[128, extent / 4] along dimension 0: rows or
        columns, by the thread of the warpgroup and the element.

    Raises:
        LayoutError: if no slice has that extent.

    Example:
        >>> slice_coordinates(64, 1)[5].tolist()  # the rows of thread 5
        [1, 9]
        >>> slice_coordinates(16, 0)[5].tolist()  # its columns
        [2, 3, 10, 11]
    """
    if dim not in (0, 1) or extent < 1 or extent % SLICE_STEPS[dim]:
        raise LayoutError(
            f"a slice of {extent} elements along dimension {dim} is no fragment; expected a multiple of "
            f"{SLICE_STEPS[1]} along dimension 1, of {SLICE_STEPS[0]} along dimension 0"
        )
    if dim == 1:
        # The first of two columns that a thread holds of 8, in each row.
        return accumulator_coordinates(extent, SLICE_STEPS[0], arch)[:, ::2, 0]
    columns = accumulator_coordinates(FRAGMENT_M, extent, arch)[..., 1]
    return columns.reshape(WARPGROUP, -1, 2, 2)[:, :, 0].reshape(WARPGROUP, -1)


def accumulator_coordinates(m: int, n: int, arch: Arch | None = None) -> np.ndarray:
    """Return the row and column of each element of an accumulator, in the order of registers.

    With 64 rows to an instruction, element i of thread t is in block b = i // (N / 2) at j = i % (N / 2):

        row    = 64 * b + 16 * (t // 32) + t % 32 // 4 + 8 * (j // 2 % 2)
        column = 2 * (t % 4) + j % 2 + 8 * (j // 4)

    With 128 rows to an instruction (`tcgen05` where M is a multiple of 128), a warp holds 32 adjacent
    rows, and the first row of a block is 128 * (b // 2) + 16 * (b % 2) + 32 * (t // 32).

    Args:
        m, n: rows and columns; M a multiple of 64, N of 8.
        arch: the architecture whose instructions compute it; sm_90 by default.

    Returns:
        int64[128, M * N / 128, 2]: (row, column), by the thread of the warpgroup and the element.

    Raises:
        LayoutError: if no fragment has that shape.

    Example:
        >>> accumulator_coordinates(64, 8)[5].tolist()  # of thread 5
        [[1, 2], [1, 3], [9, 2], [9, 3]]
    """
    _check("an accumulator", m, n, 8)
    return _blocks(m, fragment_d(n), arch)


def a_fragment_coordinates(
    m: int, k: int, element: Element, arch: Arch | None = None
) -> np.ndarray:
    """Return the row and column of each element of an A fragment, in the order of registers.

    A register has p = 32 / bits elements, and a block four registers for each K of an instruction. With
    64 rows to an instruction, element i of thread t is in block b at j, as in
    `accumulator_coordinates` with K for N; the elements of one K are 4 * p, so with s = j // (4 * p) and
    l = j % (4 * p):

        row    = 64 * b + 16 * (t // 32) + t % 32 // 4 + 8 * (l // p % 2)
        column = 8 * p * s + p * (t % 4) + l % p + 4 * p * (l // (2 * p))

    Args:
        m, k: rows and columns; M a multiple of 64, K of an instruction's.
        element: the element type.
        arch: the architecture whose instructions read it; sm_90 by default.

    Returns:
        int64[128, M * K / 128, 2]: (row, column), by the thread of the warpgroup and the element.

    Raises:
        LayoutError: if no fragment has that shape.

    Example:
        >>> a_fragment_coordinates(64, 16, element("bf16"))[5].tolist()  # of thread 5
        [[1, 2], [1, 3], [9, 2], [9, 3], [1, 10], [1, 11], [9, 10], [9, 11]]
    """
    step = instruction_k(element)
    _check(f"an A fragment of {element}", m, k, step)
    fragment = fragment_a(element)
    starts = range(0, k, step)
    row = np.concatenate([fragment.row for _ in starts], axis=1)
    column = np.concatenate([fragment.column + start for start in starts], axis=1)
    return _blocks(m, Fragment(row, column), arch)


def _blocks(m: int, block: Fragment, arch: Arch | None) -> np.ndarray:
    """Repeat the elements of 64 rows for all blocks of M rows."""
    rows = (arch or Arch.SM_90).isa.rows(m)
    warp = np.arange(WARPGROUP, dtype=np.int64)[:, None] // (WARPGROUP // WARPS)
    # The warps of a block are 16 rows apart in the figures.
    apart = warp * (rows_of_warp(rows) - rows_of_warp(FRAGMENT_M))
    blocks = [
        np.stack([block.row + apart + first, block.column], axis=-1)
        for first in first_rows(m, rows)
    ]
    return np.concatenate(blocks, axis=1)


def _check(name: str, rows: int, columns: int, step: int) -> None:
    if rows < 1 or rows % FRAGMENT_M or columns < 1 or columns % step:
        raise LayoutError(
            f"{name} of {rows}x{columns} is no fragment; expected rows in multiples of {FRAGMENT_M} and "
            f"columns of {step}"
        )
