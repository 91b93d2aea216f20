"""Which cells of tensor memory a thread's registers hold: the shapes of `tcgen05.ld` and `st` (PTX ISA
9.7.16.2.3, as CuTe has their figures)."""

from __future__ import annotations

import numpy as np

from ..lanes import WARP

#: For each shape, from the thread and the register: the lane and the column.
_SHAPES = {
    "32x32b": lambda t, i: (t, i),
    "16x64b": lambda t, i: (t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * i),
    "16x128b": lambda t, i: (t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2)),
    "16x256b": lambda t, i: (t // 4 + 8 * (i // 2 % 2), 2 * (t % 4) + i % 2 + 8 * (i // 4)),
}

SHAPES = tuple(_SHAPES)


def lanes_of(shape: str) -> int:
    """How many lanes a warp accesses."""
    return 32 if shape == "32x32b" else 16


def cells_of(shape: str, registers: int) -> tuple[np.ndarray, np.ndarray]:
    """Lanes and columns, from the address on: [32 threads, registers] each."""
    thread, register = np.mgrid[:WARP, :registers]
    return _SHAPES[shape](thread, register)
