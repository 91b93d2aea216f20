"""The `wgmma` instructions of an MMA, as text and JSON data."""

from __future__ import annotations

from typing import Any

from ...layout.instruction import instruction_k
from ...layout.wgmma import INSTRUCTION_M
from ..answer import data, text
from ..wgmma_mma import WgmmaMma


@text.register
def _(mma: WgmmaMma) -> str:
    counts = [
        f"  {count} x {opcode}" + "".join(f", {n} = {v}" for n, v in mma.transposes.items())
        for opcode, count in mma.instructions.items()
    ]
    along_k = mma.k // instruction_k(mma.a.spec.element)
    counts_text = f"{mma.m // INSTRUCTION_M} along m, {len(mma.pieces)} along n, {along_k} along k"
    alternatives = mma.accumulators[1:]
    alternatives_text = f"; or {', '.join(map(str, alternatives))}" if alternatives else ""
    return "\n".join(
        [
            f"D = A * B: {mma.m}x{mma.n} {mma.accumulator}{alternatives_text}",
            *counts,
            f"  {counts_text}; D takes {mma.registers} registers per thread for {INSTRUCTION_M} rows",
        ]
    )


@data.register
def _(mma: WgmmaMma) -> dict[str, Any]:
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
