"""nvvm: conversions between number formats."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import Op
from ..registry import computes

#: Bits of f32 that tf32 has not.
_IGNORED = 13

_NAN = np.uint32(0x7FFFFFFF)


@computes("nvvm.convert.float.to.tf32")
def _to_tf32(op: Op) -> Any:
    said = {name: op.text(name) for name in ("rnd", "sat", "relu")}
    if "rna" not in said["rnd"] or "satfinite" in said["sat"] or "true" in said["relu"]:
        raise op.refuse(f"rounds as {said['rnd']}, which the emulator does not know")

    def step(value: np.ndarray) -> np.ndarray:
        # To nearest, ties away from zero; a carry into the exponent is as it should be.
        bits = value.view(np.uint32)
        nearest = (bits + np.uint32(1 << _IGNORED - 1)) >> _IGNORED << _IGNORED
        return np.where(np.isfinite(value), nearest, np.where(np.isnan(value), _NAN, bits))

    return step
