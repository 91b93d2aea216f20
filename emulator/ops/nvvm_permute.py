"""nvvm: `prmt`, which permutes the bytes of two registers (PTX ISA, data movement and conversion)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel import Op
from ..registry import computes

#: The bytes of each mode for the selector's values 0 to 3, the lowest byte first. Bytes 0 to 3 are
#: those of the first register, 4 to 7 those of the second.
_MODES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}

#: The bits of a selector's nibble: the index of the byte, and whether its sign is replicated instead.
_BYTE, _SIGN = 7, 8


@computes("nvvm.prmt")
def _permute(op: Op) -> Any:
    mode = op.text("mode").rsplit("<", 1)[-1].rstrip(">")

    def step(low: np.ndarray, *others: np.ndarray) -> np.ndarray:
        # Modes that permute one register have no second one.
        high, selector = others if len(others) == 2 else (np.zeros_like(low), *others)
        low, high, selector = np.broadcast_arrays(low, high, selector)
        pool = np.stack([low, high], axis=1).view(np.uint8)
        if mode == "default":
            nibbles = selector[:, None] >> np.arange(0, 16, 4, dtype=np.uint32)
            permuted = np.take_along_axis(pool, (nibbles & _BYTE).astype(np.int64), axis=1)
            signs = (permuted.view(np.int8) >> 7).view(np.uint8)
            permuted = np.where(nibbles & _SIGN, signs, permuted)
        else:
            order = np.array(_MODES[mode])[selector & 3]
            permuted = np.take_along_axis(pool, order, axis=1)
        return np.ascontiguousarray(permuted).view(np.uint32)[:, 0]

    return step
