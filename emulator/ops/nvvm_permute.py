"""nvvm: bytes of two registers, put together anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import Op
from ..registry import computes


@computes("nvvm.prmt")
def _permute(op: Op) -> Any:
    if "default" not in op.text("mode") or len(op.operand_types) != 3:
        raise op.refuse(f"selects as {op.text('mode')}, which the emulator does not know")

    def step(low: np.ndarray, high: np.ndarray, selector: np.ndarray) -> np.ndarray:
        pool = low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)
        result = np.zeros(1, np.uint64)
        for byte in range(4):
            nibble = selector.astype(np.uint64) >> np.uint64(4 * byte) & np.uint64(15)
            found = pool >> (nibble & np.uint64(7)) * np.uint64(8) & np.uint64(0xFF)
            # The nibble's top bit asks for the byte's sign in place of the byte (PTX ISA, prmt).
            signs = np.where(found >> np.uint64(7), np.uint64(0xFF), np.uint64(0))
            found = np.where(nibble >> np.uint64(3), signs, found)
            result = result | found << np.uint64(8 * byte)
        return result.astype(np.uint32)

    return step
