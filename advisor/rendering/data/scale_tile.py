"""A tile of scale factors, and the descriptors of its copies, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout import Mismatch
from ...answer import data
from ...scale_tile import EncodedScales, ScaleTile
from ..formats import descriptor_hex


@data.register
def _(tile: ScaleTile) -> dict[str, Any]:
    wrong = tile.found.reason if isinstance(tile.found, Mismatch) else None
    nearest = tile.nearest if wrong else None
    return {
        "arch": str(tile.arch),
        "matches": wrong is None,
        "layout": str(tile.layout),
        "element": str(tile.layout.element),
        "role": "scales",
        "shape": list(tile.layout.shape),
        "order": tile.order and data(tile.order),
        "encoded": None if wrong else data(tile.encoded()),
        "mismatch": wrong and {"reason": wrong},
        "nearest": nearest and data(nearest),
    }


@data.register
def _(encoded: EncodedScales) -> dict[str, Any]:
    """Tables are indexed [rows / 128][factors / 4]; steps are in 16-byte units."""
    tile, blocks = encoded.tile, encoded.blocks
    return {
        "arch": str(tile.arch),
        "role": "scales",
        "element": str(tile.layout.element),
        "layout": str(tile.layout),
        "constant": descriptor_hex(encoded.constant),
        "sbo": blocks.operand.canonical.sbo,
        "starts": [[encoded.start + offset for offset in row] for row in blocks.offsets],
        "steps": encoded.steps,
        "stage_steps": list(tile.stage_steps),
        "descriptors": [[descriptor_hex(bits) for bits in row] for row in encoded.descriptors],
        "columns": [
            [blocks.column(block, word) for word in range(len(row))]
            for block, row in enumerate(blocks.offsets)
        ],
    }
