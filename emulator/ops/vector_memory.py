"""vector: loads and stores of contiguous elements of a memref."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import load, store
from ..cta import ConvergentThreads
from ..kernel import Op
from ..registry import executes
from ..types import bits_of, dtype_of, shape_of
from .memref import element_address, space_of


def _access(op: Op, memref: Any, vector: Any) -> tuple[int, int, int]:
    """Return the memory space, the bytes of an element of the memref, and the alignment of addresses."""
    if memref.element_type != vector.element_type or len(shape_of(vector)) != 1:
        raise op.refuse(f"moves {vector} of {memref}, which the emulator does not know")
    size = bits_of(memref.element_type, op.location) // 8
    # Without an attribute, only the alignment of elements is known.
    return space_of(memref, op.location), size, op.number("alignment", size)


@executes("vector.load")
def _load(op: Op) -> Any:
    memref, vector = op.operand_types[0], op.result_types[0]
    space, size, alignment = _access(op, memref, vector)
    dtype, (count,) = dtype_of(vector, op.location), shape_of(vector)

    def step(convergent: ConvergentThreads, source: Any, *indices: Any) -> np.ndarray:
        checked = tuple(convergent.check_value(i) for i in indices)
        address = element_address(convergent.check_value(source), checked, size)
        return load(convergent, address, space, size * count, alignment).view(dtype)

    return step


@executes("vector.store")
def _store(op: Op) -> Any:
    vector, memref = op.operand_types[:2]
    space, size, alignment = _access(op, memref, vector)

    def step(convergent: ConvergentThreads, value: Any, target: Any, *indices: Any) -> None:
        checked = tuple(convergent.check_value(i) for i in indices)
        address = element_address(convergent.check_value(target), checked, size)
        raw = np.ascontiguousarray(convergent.check_value(value)).view(np.uint8)
        store(convergent, address, space, raw, alignment)

    return step
