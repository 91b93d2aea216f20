"""The `wgmma` instructions of an MMA, as text."""

from __future__ import annotations

from ....layout.instruction import instruction_k
from ....layout.wgmma import INSTRUCTION_M
from ...answer import text
from ...mma import Mma


@text.register
def _(mma: Mma) -> str:
    counts = [
        f"  {count} x {opcode}" + "".join(f", {n} = {v}" for n, v in mma.transposes.items())
        for opcode, count in mma.instructions.items()
    ]
    along_k = mma.k // instruction_k(mma.a.spec.element)
    each = f"{mma.m // INSTRUCTION_M} along m, {len(mma.pieces)} along n, {along_k} along k"
    others = mma.accumulators[1:]
    instead = f"; or {', '.join(map(str, others))}" if others else ""
    return "\n".join(
        [
            f"D = A * B: {mma.m}x{mma.n} {mma.accumulator}{instead}",
            *counts,
            f"  {each}; D takes {mma.registers} registers per thread for {INSTRUCTION_M} rows",
        ]
    )
