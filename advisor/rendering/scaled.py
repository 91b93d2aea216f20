"""The scale factors of a block-scaled MMA, as text and JSON data."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from ...layout.tcgen05.scales import BLOCK_BYTES, BLOCK_COLUMNS, BLOCK_FACTORS, BLOCK_ROWS
from ..answer import data, text
from ..scaled import ScaleFactors, ScaleFactorTile
from .formats import descriptor_hex, instruction_hex
from .tables import text_table

_TILE_HEADS = ("", "rows", "factors", "layout", "bytes", "columns", "per word")
_K_BLOCK_HEADS = ("k", "word", "A's column", "B's column", "ID", "instruction descriptor")


@text.register
def _(factors: ScaleFactors) -> str:
    tiles = [_tile_row(tile) for tile in factors.tiles]
    head = (
        f"Scale factors: {factors.op.scale}, one per {factors.vector_size} elements along K; an "
        f"instruction reads {factors.per_row} of each row"
    )
    tables = (
        text_table(_TILE_HEADS, tiles),
        _copies(factors),
        text_table(_K_BLOCK_HEADS, _k_blocks(factors)),
    )
    return "\n\n".join([head, *(indent(table, "  ") for table in tables)])


def _tile_row(tile: ScaleFactorTile) -> tuple[str, ...]:
    """Return a tile; the columns are `_TILE_HEADS`."""
    numbers = (tile.layout.size_bytes, tile.blocks.columns, tile.blocks.word_columns)
    return (tile.role.name, *map(str, (*tile.layout.shape, tile.layout, *numbers)))


def _copies(factors: ScaleFactors) -> str:
    descriptor = factors.tiles[0].blocks.descriptor(0, 0).encode()
    return (
        f"A block of {BLOCK_BYTES} bytes, a word of {BLOCK_FACTORS} factors for {BLOCK_ROWS} rows, is "
        f"copied to {BLOCK_COLUMNS} columns:\n"
        f"tcgen05.cp.cta_group::{factors.op.ctas}.32x128b.warpx4, descriptor "
        f"{descriptor_hex(descriptor)} | (address & 0x3ffff) >> 4"
    )


def _k_blocks(factors: ScaleFactors) -> list[tuple[str, ...]]:
    """Return the K blocks of the first shape; the columns are `_K_BLOCK_HEADS`."""
    a, b = factors.tiles
    return [
        (
            f"{k_block.k}-{k_block.k + factors.instruction_k - 1}",
            str(k_block.word),
            f"+{a.blocks.column(0, k_block.word)}",
            f"+{b.blocks.column(0, k_block.word)}",
            str(k_block.id),
            instruction_hex(k_block.descriptors[0].encode()),
        )
        for k_block in factors.k_blocks
    ]


@data.register
def _(tile: ScaleFactorTile) -> dict[str, Any]:
    """Offsets are in bytes."""
    blocks = tile.blocks
    return {
        "shape": list(tile.layout.shape),
        "layout": str(tile.layout),
        "bytes": tile.layout.size_bytes,
        "columns": blocks.columns,
        "word_columns": blocks.word_columns,
        "copies": [
            {
                "offset": offset,
                "descriptor": descriptor_hex(blocks.descriptor(block, word).encode()),
                "column": blocks.column(block, word),
            }
            for block, row in enumerate(blocks.offsets)
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
