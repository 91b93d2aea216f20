"""The `tcgen05.mma` instructions that multiply two tiles, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...tcgen05_mma import Tcgen05Mma
from ..formats import instruction_hex
from .instruction import fields


@data.register
def _(mma: Tcgen05Mma) -> dict[str, Any]:
    """The mask is that of the blocks of ranks 0 and 1."""
    mask = mma.commit_mask(0)
    return {
        "m": mma.m,
        "n": mma.n,
        "k": mma.k,
        "kind": str(mma.by.kind),
        "ctas": mma.by.ctas,
        "scale": mma.by.scale,
        "block": mma.by.block,
        "accumulators": list(mma.accumulators),
        "instructions": [
            {
                "instruction": mma.opcode,
                "m": m,
                "n": n,
                "k": mma.a.instruction_k,
                "count": count * mma.steps,
                "descriptor": instruction_hex(mma.descriptor(m, n).encode()),
                "fields": fields(mma.descriptor(m, n)),
            }
            for (m, n), count in mma.shapes.items()
        ],
        "scale_factors": mma.factors and data(mma.factors),
        "columns": mma.columns,
        "allocated_columns": mma.allocated,
        "commit_mask": None if mask is None else f"{mask:#06x}",
    }
