"""The `wgmma` instructions of an MMA, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...mma import Mma


@data.register
def _(mma: Mma) -> dict[str, Any]:
    return {
        "m": mma.m,
        "n": mma.n,
        "k": mma.k,
        "accumulators": list(map(str, mma.accumulators)),
        "instructions": [
            {"instruction": opcode, "count": count} for opcode, count in mma.instructions.items()
        ],
        **{name.replace("-", "_"): value for name, value in mma.transposes.items()},
        "accumulator_registers": mma.registers,
    }
