"""The scale factors of a block-scaled product, as people read them."""

from __future__ import annotations

from textwrap import indent

from ....layout.tcgen05.scales import BLOCK_BYTES, BLOCK_COLUMNS, BLOCK_FACTORS, BLOCK_ROWS
from ...answer import text
from ...scaled import Factors, FactorTile
from ..formats import descriptor_hex, instruction_hex
from ..tables import columns

_TILE_HEADS = ("", "rows", "factors", "layout", "bytes", "columns", "a word")
_STEP_HEADS = ("k", "word", "A's column", "B's column", "id", "instruction descriptor")


@text.register
def _(factors: Factors) -> str:
    tiles = [_tile_row(tile) for tile in factors.tiles]
    head = (
        f"Scale factors: {factors.by.scale}, one for {factors.size} elements along K; an instruction "
        f"reads {factors.each} of each row"
    )
    subtiles = (
        columns(_TILE_HEADS, tiles),
        _copies(factors),
        columns(_STEP_HEADS, _steps(factors)),
    )
    return "\n\n".join([head, *(indent(subtile, "  ") for subtile in subtiles)])


def _tile_row(tile: FactorTile) -> tuple[str, ...]:
    """A tile, as `_TILE_HEADS` names it."""
    numbers = (tile.layout.size_bytes, tile.blocks.columns, tile.blocks.word_columns)
    return (tile.role.name, *map(str, (*tile.layout.shape, tile.layout, *numbers)))


def _copies(factors: Factors) -> str:
    descriptor = factors.tiles[0].blocks.descriptor(0, 0).encode()
    return (
        f"Blocks of {BLOCK_BYTES} bytes, a word of {BLOCK_FACTORS} factors of {BLOCK_ROWS} rows, go "
        f"to {BLOCK_COLUMNS} columns each:\n"
        f"tcgen05.cp.cta_group::{factors.by.ctas}.32x128b.warpx4, descriptor "
        f"{descriptor_hex(descriptor)} | (address & 0x3ffff) >> 4"
    )


def _steps(factors: Factors) -> list[tuple[str, ...]]:
    """The instructions along K, of the first shape, as `_STEP_HEADS` names them."""
    a, b = factors.tiles
    return [
        (
            f"{step.k}-{step.k + factors.instruction_k - 1}",
            str(step.word),
            f"+{a.blocks.column(0, step.word)}",
            f"+{b.blocks.column(0, step.word)}",
            str(step.id),
            instruction_hex(step.descriptors[0].encode()),
        )
        for step in factors.steps
    ]
