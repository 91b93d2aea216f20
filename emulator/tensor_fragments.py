"""Which cells of tensor memory a thread's registers hold: the shapes of `tcgen05.ld` and `st` (PTX ISA
9.7.16.2.3, as CuTe has their figures)."""

from __future__ import annotations

import numpy as np

from .lanes import WARP

#: For each shape: lanes that a warp accesses, registers of its smallest form, and from the thread and
#: the register the lane and the column.
_SHAPES = {
    "32x32b": (32, 1, lambda t, i: (t, i)),
    "16x64b": (16, 1, lambda t, i: (t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * i)),
    "16x128b": (16, 2, lambda t, i: (t // 4 + 8 * (i % 2), t % 4 + 4 * (i // 2))),
    "16x256b": (
        16,
        4,
        lambda t, i: (t // 4 + 8 * (i // 2 % 2), 2 * (t % 4) + i % 2 + 8 * (i // 4)),
    ),
}

SHAPES = tuple(_SHAPES)

_MAX_REGISTERS = 128


def lanes_of(shape: str) -> int:
    """How many lanes a warp accesses."""
    return _SHAPES[shape][0]


def is_form(shape: str, registers: int) -> bool:
    """Whether an instruction of that shape takes so many registers of each thread."""
    least = _SHAPES[shape][1]
    times = registers // least
    return registers % least == 0 and times & times - 1 == 0 and 1 <= registers <= _MAX_REGISTERS


def cells_of(shape: str, registers: int) -> tuple[np.ndarray, np.ndarray]:
    """Lanes and columns, from the address on: [32 threads, registers] each."""
    thread, register = np.mgrid[:WARP, :registers]
    return _SHAPES[shape][2](thread, register)
