"""Fragments of `tcgen05.ld` and `st`: the cells of tensor memory of each thread's registers (PTX ISA
9.7.16.2.3; the layouts are those of CuTe)."""

from __future__ import annotations

import numpy as np

from ..lanes import WARP

#: For each shape, the lane and the column of a thread and a register.
_SHAPES = {
    "32x32b": lambda t, i: (t, i),
    "16x64b": lambda t, i: (t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * i),
    "16x128b": lambda t, i: (t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2)),
    "16x256b": lambda t, i: (t // 4 + 8 * (i // 2 % 2), 2 * (t % 4) + i % 2 + 8 * (i // 4)),
}

SHAPES = tuple(_SHAPES)


def lanes_of(shape: str) -> int:
    """Return the number of lanes that a warp accesses."""
    return 32 if shape == "32x32b" else 16


def cells_of(shape: str, registers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lane and the column of each register, relative to the address: [32 threads,
    registers]."""
    thread, register = np.mgrid[:WARP, :registers]
    return _SHAPES[shape](thread, register)
