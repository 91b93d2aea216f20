"""A tile of scale factors, and the descriptors of its copies, as text."""

from __future__ import annotations

from ....layout import Mismatch
from ....layout.tcgen05.scales import BLOCK_BYTES, BLOCK_FACTORS, BLOCK_ROWS
from ...answer import text
from ...scale_tile import EncodedScales, ScaleTile
from ..formats import added, descriptor_hex
from ..tables import columns, named

HEADS = ("rows", "factors", "start", "column", "descriptor")


@text.register
def _(tile: ScaleTile) -> str:
    return named(lines(tile))


@text.register
def _(encoded: EncodedScales) -> str:
    return f"{note(encoded)}\n\n{columns(HEADS, rows(encoded))}"


def lines(tile: ScaleTile) -> list[tuple[str, str]]:
    """Return the facts about the tile, each with its name."""
    order = tile.order
    layout = [("order", str(order))] if order and not order.is_obvious else []
    layout.append(("layout", str(tile.layout)))
    if isinstance(tile.found, Mismatch):
        found = [("no match", tile.found.reason), *layout]
        return [*found, ("nearest", text(tile.nearest))] if tile.nearest else found
    encoded, blocks = tile.encoded(), tile.found
    steps = added(step for row in encoded.steps for step in row)
    found = [
        ("matches", f"blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors, {BLOCK_BYTES} bytes"),
        *layout,
        ("SBO", f"{blocks.operand.canonical.sbo} bytes"),
        ("descriptor", f"{descriptor_hex(encoded.constant)} | (address & 0x3ffff) >> 4"),
        ("blocks", f"{steps} (16-byte units; along K, then along the rows)"),
    ]
    if len(tile.stage_steps) > 1:
        found.append(("stage steps", f"{added(tile.stage_steps)} (16-byte units)"))
    columns_of = (
        f"{blocks.columns} of tensor memory, {blocks.word_columns} per word of four factors"
    )
    return [*found, ("columns", columns_of)]


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
