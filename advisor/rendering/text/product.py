"""The `wgmma` instructions that multiply two tiles, as people read them."""

from __future__ import annotations

from ....layout.instruction import instruction_k
from ....layout.wgmma import INSTRUCTION_M
from ...answer import text
from ...product import Product


@text.register
def _(product: Product) -> str:
    counts = [
        f"  {count} x {opcode}" + "".join(f", {n} = {v}" for n, v in product.transposes.items())
        for opcode, count in product.instructions.items()
    ]
    along_k = product.k // instruction_k(product.a.spec.element)
    each = f"{product.m // INSTRUCTION_M} along m, {len(product.pieces)} along n, {along_k} along k"
    others = product.accumulators[1:]
    instead = f"; or {', '.join(map(str, others))}" if others else ""
    return "\n".join(
        [
            f"D = A * B: {product.m}x{product.n} {product.accumulator}{instead}",
            *counts,
            f"  {each}; D takes {product.registers} registers a thread for each {INSTRUCTION_M} rows",
        ]
    )
