"""The `wgmma` instructions that multiply two tiles, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...product import Product


@data.register
def _(product: Product) -> dict[str, Any]:
    return {
        "m": product.m,
        "n": product.n,
        "k": product.k,
        "accumulators": list(map(str, product.accumulators)),
        "instructions": [
            {"instruction": opcode, "count": count}
            for opcode, count in product.instructions.items()
        ],
        **{name.replace("-", "_"): value for name, value in product.transposes.items()},
        "accumulator_registers": product.registers,
    }
