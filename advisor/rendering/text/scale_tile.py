"""A tile of scale factors, and the descriptors of its copies, as people read them."""

from __future__ import annotations

from ....layout import Mismatch
from ....layout.tcgen05.scales import BLOCK_BYTES, BLOCK_FACTORS, BLOCK_ROWS
from ...answer import text
from ...scale_tile import EncodedScales, ScaleTile
from ..formats import added, descriptor_hex
from ..tables import columns, named

HEADS = ("rows", "factors", "begins at", "column", "descriptor")


@text.register
def _(tile: ScaleTile) -> str:
    return named(lines(tile))


@text.register
def _(encoded: EncodedScales) -> str:
    return f"{note(encoded)}\n\n{columns(HEADS, rows(encoded))}"


def lines(tile: ScaleTile) -> list[tuple[str, str]]:
    """What there is to know about the tile, by name."""
    if isinstance(tile.found, Mismatch):
        said = [("matches none", tile.found.reason), ("layout", str(tile.layout))]
        return [*said, ("nearest", text(tile.nearest))] if tile.nearest else said
    encoded, found = tile.encoded(), tile.found
    steps = added(step for row in encoded.steps for step in row)
    said = [
        ("matches", f"blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors, {BLOCK_BYTES} bytes"),
        ("layout", str(tile.layout)),
        ("SBO", f"{found.operand.canonical.sbo} bytes"),
        ("descriptor", f"{descriptor_hex(encoded.constant)}, and the address OR'd in"),
        ("blocks", f"{steps} (16-byte units; along K, then along the rows)"),
    ]
    if len(tile.stage_steps) > 1:
        said.append(("stage steps", f"{added(tile.stage_steps)} (16-byte units)"))
    columns_of = f"{found.columns} of tensor memory, {found.word_columns} a word"
    return [*said, ("columns", columns_of)]


def rows(encoded: EncodedScales) -> list[tuple[str, ...]]:
    """Each block: where it lies, where it goes, and its descriptor, as `HEADS` names them."""
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
    """The instruction, and what it fills."""
    return (
        f"tcgen05.cp.32x128b.warpx4 of each block, to {encoded.blocks.columns} columns of tensor "
        "memory in all"
    )
