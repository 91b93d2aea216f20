"""The scale factors of a block-scaled product, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...scaled import Factors, FactorTile
from ..formats import descriptor_hex, instruction_hex


@data.register
def _(tile: FactorTile) -> dict[str, Any]:
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
            for block, line in enumerate(found.offsets)
            for word, offset in enumerate(line)
        ],
    }


@data.register
def _(factors: Factors) -> dict[str, Any]:
    a, b = factors.tiles
    return {
        "type": factors.by.scale,
        "block": factors.size,
        "factors": factors.each,
        "a": data(a),
        "b": data(b),
        "steps": [
            {
                "k": step.k,
                "word": step.word,
                "id": step.id,
                "descriptors": [instruction_hex(d.encode()) for d in step.descriptors],
            }
            for step in factors.steps
        ],
    }
