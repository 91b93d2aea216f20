"""Cells of tensor memory, of four bytes each: their addresses (PTX ISA 9.7.16.1), and the cells of each
thread's registers in `tcgen05.ld` and `st` (9.7.16.2.3; the layouts are those of CuTe)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..lanes import WARP

LANES = 128
COLUMNS = 512

#: For each shape, the lane and the column of a thread and a register.
_SHAPES = {
    "32x32b": lambda t, i: (t, i),
    "16x64b": lambda t, i: (t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * i),
    "16x128b": lambda t, i: (t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2)),
    "16x256b": lambda t, i: (t // 4 + 8 * (i // 2 % 2), 2 * (t % 4) + i % 2 + 8 * (i // 4)),
}

SHAPES = tuple(_SHAPES)


@dataclass(frozen=True)
class TensorMemoryCells:
    """The cells that an instruction accesses.

    Attributes:
        lanes, columns: integer arrays that together index the cells.
    """

    lanes: np.ndarray
    columns: np.ndarray

    def __str__(self) -> str:
        lanes, columns = (
            f"{indices.min()} to {indices.max()}" for indices in (self.lanes, self.columns)
        )
        return f"lanes {lanes} of columns {columns}"


def split_address(address: int) -> tuple[int, int]:
    """Return the lane and the column of an address."""
    return address >> 16 & 0xFFFF, address & 0xFFFF


def lanes_of(shape: str) -> int:
    """Return the number of lanes that a warp accesses."""
    return 32 if shape == "32x32b" else 16


def cells_of(shape: str, registers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lane and the column of each register, relative to the address: [32 threads,
    registers]."""
    thread, register = np.mgrid[:WARP, :registers]
    return _SHAPES[shape](thread, register)
