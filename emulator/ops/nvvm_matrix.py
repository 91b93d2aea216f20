"""nvvm: `ldmatrix` and `stmatrix`, which move 8x8 matrices between shared memory and registers (PTX ISA,
warp-level matrix load and store instructions).

Lane 8i + j of the warp has the address of row j of matrix i, 16 bytes aligned to 16. Register i of lane l
holds the elements 2(l % 4) and 2(l % 4) + 1 of row l / 4 of matrix i, or of column l / 4 if it is
transposed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..access import load, store
from ..cta import ConvergentThreads
from ..kernel import Op
from ..lanes import WARP
from ..registry import executes
from ..warps import full_warps
from .llvm import new_registers

_ROWS = 8

#: Bytes of a row: eight elements of 16 bits.
_ROW = 16


def _matrices(
    op: Op, count: int
) -> Callable[[ConvergentThreads, Any], tuple[np.ndarray, np.ndarray, int]]:
    """Return a function from convergent threads and their addresses to the threads whose addresses are
    used, these addresses, and the number of warps."""
    shape, element = op.text("shape"), op.text("eltType")
    if re.findall(r"= (\d+)", shape) != ["8", "8"] or "<b16>" not in element:
        raise op.refuse(f"moves matrices {shape} of {element}, which the emulator does not know")

    def rows(convergent: ConvergentThreads, pointer: Any) -> tuple[np.ndarray, np.ndarray, int]:
        warps = len(full_warps(convergent))
        address = convergent.broadcast(convergent.check_value(pointer))
        gives = convergent.lanes.threads % WARP < _ROWS * count
        return convergent.lanes.threads[gives], address[gives], warps

    return rows


def _is_transposed(op: Op) -> bool:
    return "col" in op.text("layout")


@executes("nvvm.ldmatrix")
def _load(op: Op) -> Any:
    count, transposed = op.number("num"), _is_transposed(op)
    rows, space = _matrices(op, count), op.space

    def step(convergent: ConvergentThreads, pointer: Any) -> Any:
        readers, address, warps = rows(convergent, pointer)
        raw = load(convergent, address, space, _ROW, _ROW, readers)
        elements = raw.view(np.uint16).reshape(warps, count, _ROWS, _ROWS)
        if transposed:
            elements = elements.swapaxes(2, 3)
        words = np.ascontiguousarray(elements).view(np.uint32).reshape(warps, count, WARP)
        data = np.ascontiguousarray(words.swapaxes(1, 2)).reshape(warps * WARP, count)
        if count == 1:
            return data[:, 0]
        return new_registers(convergent, data, np.ones(count, bool))

    return step


@executes("nvvm.stmatrix")
def _store(op: Op) -> Any:
    count, transposed = len(op.operand_types) - 1, _is_transposed(op)
    rows, space = _matrices(op, count), op.space

    def step(convergent: ConvergentThreads, pointer: Any, *sources: Any) -> None:
        writers, address, warps = rows(convergent, pointer)
        data = np.stack(
            [convergent.broadcast(convergent.check_value(source)) for source in sources], axis=1
        )
        words = np.ascontiguousarray(data.reshape(warps, WARP, count).swapaxes(1, 2))
        elements = words.view(np.uint16).reshape(warps, count, _ROWS, _ROWS)
        if transposed:
            elements = elements.swapaxes(2, 3)
        raw = np.ascontiguousarray(elements).view(np.uint8).reshape(-1, _ROW)
        store(convergent, address, space, raw, _ROW, writers)

    return step
