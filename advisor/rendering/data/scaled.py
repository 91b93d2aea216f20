"""The scale factors of a block-scaled MMA, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...scaled import ScaleFactors, ScaleFactorTile
from ..formats import descriptor_hex, instruction_hex


@data.register
def _(tile: ScaleFactorTile) -> dict[str, Any]:
    """Offsets are in bytes."""
    found = tile.blocks
    return {
        "shape": list(tile.layout.shape),
        "layout": str(tile.layout),
        "bytes": tile.layout.size_bytes,
        "columns": found.columns,
        "word_columns": found.word_columns,
        "copies": [
            {
                "offset": offset,
                "descriptor": descriptor_hex(found.descriptor(block, word).encode()),
                "column": found.column(block, word),
            }
            for block, row in enumerate(found.offsets)
            for word, offset in enumerate(row)
        ],
    }


@data.register
def _(factors: ScaleFactors) -> dict[str, Any]:
    a, b = factors.tiles
    return {
        "type": factors.op.scale,
        "block": factors.vector_size,
        "factors": factors.per_row,
        "a": data(a),
        "b": data(b),
        "k_blocks": [
            {
                "k": k_block.k,
                "word": k_block.word,
                "id": k_block.id,
                "descriptors": [instruction_hex(d.encode()) for d in k_block.descriptors],
            }
            for k_block in factors.k_blocks
        ],
    }
