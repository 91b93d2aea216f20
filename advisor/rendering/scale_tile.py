"""A tile of scale factors and the descriptors of its copies, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ...layout import Mismatch
from ...layout.tcgen05.scales import BLOCK_BYTES, BLOCK_FACTORS, BLOCK_ROWS
from ..answer import data, html, text
from ..scale_tile import EncodedScales, ScaleTile
from .formats import descriptor_hex, join_steps
from .tables import aligned_lines, html_list, html_table, text_table

HEADS = ("rows", "factors", "start", "column", "descriptor")


@text.register
def _(tile: ScaleTile) -> str:
    return aligned_lines(lines(tile))


@text.register
def _(encoded: EncodedScales) -> str:
    return f"{note(encoded)}\n\n{text_table(HEADS, rows(encoded))}"


def lines(tile: ScaleTile) -> list[tuple[str, str]]:
    """Return the facts about the tile, each with its name."""
    order = tile.order
    layout = [("order", str(order))] if order and not order.is_obvious else []
    layout.append(("layout", str(tile.layout)))
    if isinstance(tile.found, Mismatch):
        named_facts = [("no match", tile.found.reason), *layout]
        return [*named_facts, ("nearest", text(tile.nearest))] if tile.nearest else named_facts
    encoded, blocks = tile.encoded(), tile.found
    steps = join_steps(step for row in encoded.steps for step in row)
    named_facts = [
        ("matches", f"blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors, {BLOCK_BYTES} bytes"),
        *layout,
        ("SBO", f"{blocks.operand.canonical.sbo} bytes"),
        ("descriptor", f"{descriptor_hex(encoded.constant)} | (address & 0x3ffff) >> 4"),
        ("blocks", f"{steps} (16-byte units; along K, then along the rows)"),
    ]
    if len(tile.stage_steps) > 1:
        named_facts.append(("stage steps", f"{join_steps(tile.stage_steps)} (16-byte units)"))
    columns_text = (
        f"{blocks.columns} of tensor memory, {blocks.word_columns} per word of four factors"
    )
    return [*named_facts, ("columns", columns_text)]


def rows(encoded: EncodedScales) -> list[tuple[str, ...]]:
    """Return each block: its address, its tensor memory column, its descriptor; the columns are
    `HEADS`."""
    return [
        (
            f"{block * BLOCK_ROWS}-{(block + 1) * BLOCK_ROWS - 1}",
            f"{word * BLOCK_FACTORS}-{(word + 1) * BLOCK_FACTORS - 1}",
            f"{encoded.start + encoded.blocks.offsets[block][word]:#x}",
            f"+{encoded.blocks.column(block, word)}",
            descriptor_hex(bits),
        )
        for block, row in enumerate(encoded.descriptors)
        for word, bits in enumerate(row)
    ]


def note(encoded: EncodedScales) -> str:
    """Return a sentence about the copies."""
    return (
        f"one tcgen05.cp.32x128b.warpx4 per block, to {encoded.blocks.columns} columns of tensor memory "
        "in total"
    )


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


@html.register
def _(tile: ScaleTile) -> str:
    return html_table(("", ""), lines(tile))


@html.register
def _(encoded: EncodedScales) -> str:
    return html_list([note(encoded)]) + html_table(HEADS, rows(encoded))
