"""The `tcgen05.mma` instructions of an MMA, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...tcgen05_mma import Tcgen05Mma
from ..formats import instruction_hex
from .instruction import fields


@data.register
def _(mma: Tcgen05Mma) -> dict[str, Any]:
    """The commit mask is that of the CTAs with ranks 0 and 1."""
    mask = mma.commit_mask(0)
    return {
        "m": mma.m,
        "n": mma.n,
        "k": mma.k,
        "kind": str(mma.op.kind),
        "ctas": mma.op.ctas,
        "scale": mma.op.scale,
        "block": mma.op.block,
        "accumulators": list(mma.accumulators),
        "instructions": [
            {
                "instruction": mma.opcode,
                "m": m,
                "n": n,
                "k": mma.a.instruction_k,
                "count": count * mma.k_blocks,
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
