"""Register fragments of a warpgroup: the matrix element in each register of each thread.

PTX ISA 9.7.15.5.1.1; the accumulator's map was measured on an H200. The maps are the same for all types
of one element width, so they are given by the number of elements in a 32-bit register.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .elements import Element

Index = TypeVar("Index", int, np.ndarray)

#: Threads that execute one `wgmma`, and the number of their warps.
WARPGROUP = 128
WARPS = 4

#: Threads of a CTA at most (CUDA programming guide, table of compute capabilities).
MAX_THREADS = 1024

#: Rows of one `wgmma`, 16 of each warp: a fragment holds a matrix in blocks of these rows.
FRAGMENT_M = 64

#: 32-bit registers of a multiprocessor on sm_90 and sm_100 (CUDA programming guide, table of compute
#: capabilities); its tensor memory has as many cells.
REGISTERS = 64 * 1024

#: 32-bit registers of a thread for the A of one instruction.
A_FRAGMENT_REGISTERS = 4


def rows_of_warp(rows: int) -> int:
    """Return the rows from one warp's first row to the next warp's, for instructions of `rows` rows."""
    return rows // WARPS


def first_rows(m: int, rows: int) -> tuple[int, ...]:
    """Return the first row of each block of 64 rows of a fragment of M rows.

    Each warp holds 16 rows of a block. The rows of an instruction of 128 rows are in two blocks; the
    second begins 16 rows after the first (PTX ISA 9.7.16.10.5, layout D: warp w accesses rows 32w to
    32w + 31).
    """
    within = range(0, rows_of_warp(rows), rows_of_warp(FRAGMENT_M))
    return tuple(first + row for first in range(0, m, rows) for row in within)


@dataclass(frozen=True)
class Fragment:
    """The positions of a matrix's elements in the registers of a warpgroup.

    Attributes:
        row, column: int64[threads, elements], the matrix indices of each thread's i-th element.
    """

    row: np.ndarray
    column: np.ndarray


def accumulator_row(register: Index) -> Index:
    """Return the row of a thread's i-th accumulator element, relative to the thread's first row."""
    return 8 * (register // 2 % 2)


def accumulator_column(register: Index) -> Index:
    """Return the column of a thread's i-th accumulator element, relative to the thread's first column."""
    return register % 2 + 8 * (register // 4)


def fragment_d(n: int) -> Fragment:
    """Return the accumulator fragment of m64nNkK: n/2 elements a thread (9.7.15.5.1.1.1, figure of D).

    Example:
        >>> fragment = fragment_d(128)
        >>> fragment.row.shape, fragment.column[1, :4].tolist()  # 64 elements of each thread
        ((128, 64), [2, 3, 2, 3])
    """
    thread, i = _grid(FRAGMENT_M * n // WARPGROUP)
    return Fragment(_row(thread) + accumulator_row(i), 2 * (thread % 4) + accumulator_column(i))


def fragment_a(element: Element) -> Fragment:
    """Return the A fragment of m64nNkK: four 32-bit registers a thread.

    k16 of 16-bit types, k8 of tf32, k32 of 8-bit types, k256 of b1 (9.7.15.5.1.1.1 to .4).

    Args:
        element: the element type of A.

    Example:
        >>> fragment = fragment_a(element("bf16"))
        >>> fragment.row[1, :2].tolist(), fragment.column[1, :2].tolist()  # of thread 1
        ([0, 0], [2, 3])
    """
    packed = 32 // element.bits
    thread, i = _grid(A_FRAGMENT_REGISTERS * packed)
    row = _row(thread) + 8 * (i // packed % 2)
    column = packed * (thread % 4) + i % packed + 4 * packed * (i // (2 * packed))
    return Fragment(row, column)


def _grid(elements: int) -> tuple[np.ndarray, np.ndarray]:
    thread = np.arange(WARPGROUP, dtype=np.int64)[:, None]
    i = np.arange(elements, dtype=np.int64)[None, :]
    return thread, i


def _row(thread: np.ndarray) -> np.ndarray:
    return 16 * (thread // 32) + thread % 32 // 4
