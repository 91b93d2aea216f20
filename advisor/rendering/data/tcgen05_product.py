"""The `tcgen05.mma` instructions that multiply two tiles, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...tcgen05_product import Tcgen05Product
from ..formats import instruction_hex
from .instruction import fields


@data.register
def _(product: Tcgen05Product) -> dict[str, Any]:
    """The mask is that of the blocks of ranks 0 and 1."""
    mask = product.commit_mask(0)
    return {
        "m": product.m,
        "n": product.n,
        "k": product.k,
        "kind": str(product.by.kind),
        "ctas": product.by.ctas,
        "scale": product.by.scale,
        "block": product.by.block,
        "accumulators": list(product.accumulators),
        "instructions": [
            {
                "instruction": product.opcode,
                "m": m,
                "n": n,
                "k": product.a.instruction_k,
                "count": count * product.steps,
                "descriptor": instruction_hex(product.descriptor(m, n).encode()),
                "fields": fields(product.descriptor(m, n)),
            }
            for (m, n), count in product.shapes.items()
        ],
        "scale_factors": product.factors and data(product.factors),
        "columns": product.columns,
        "allocated_columns": product.allocated,
        "commit_mask": None if mask is None else f"{mask:#06x}",
    }
