"""The descriptors of an operand that is read in chunks, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ...layout.tcgen05 import LONG_K_BYTES
from ..answer import data, html, text
from ..chunked import EncodedChunks
from .formats import descriptor_hex
from .tables import html_list, html_table, text_table

HEADS = ("rows", "k", "start", "second chunk", "descriptor")


@text.register
def _(encoded: EncodedChunks) -> str:
    return f"{note(encoded)}\n\n{text_table(HEADS, rows(encoded))}"


def rows(encoded: EncodedChunks) -> list[tuple[str, ...]]:
    """Return the MMA tile of each instruction, and its descriptor; the columns are `HEADS`."""
    k_extent = LONG_K_BYTES * 8 // encoded.tile.element.bits
    cells: list[tuple[str, ...]] = []
    mn = 0
    for piece, row in zip(encoded.chunks.pieces, encoded.descriptors, strict=True):
        for index, d in enumerate(row):
            second = f"{d.lbo:#x}" if d.absolute else ""
            k = f"{index * k_extent}-{(index + 1) * k_extent - 1}"
            place = (f"{mn}-{mn + piece - 1}", k, f"{d.start:#x}", second)
            cells.append((*place, descriptor_hex(d.encode())))
        mn += piece
    return cells


def note(encoded: EncodedChunks) -> str:
    """Return a sentence about the chunks."""
    chunks = encoded.chunks
    return f"{chunks}; SBO {chunks.sbo} bytes, swizzle {encoded.tile.swizzle}"


@data.register
def _(encoded: EncodedChunks) -> dict[str, Any]:
    """Quantities are in bytes; tables are indexed [m/n][k]."""
    descriptors = encoded.descriptors
    return {
        "arch": str(encoded.arch),
        "k_bytes": LONG_K_BYTES,
        "role": encoded.role.value,
        "element": str(encoded.tile.element),
        "layout": str(encoded.tile),
        "sbo": encoded.chunks.sbo,
        "rows": list(encoded.chunks.pieces),
        "starts": [[d.start for d in row] for row in descriptors],
        "seconds": [[d.lbo if d.absolute else None for d in row] for row in descriptors],
        "descriptors": [[descriptor_hex(d.encode()) for d in row] for row in descriptors],
    }


@html.register
def _(encoded: EncodedChunks) -> str:
    return html_list([note(encoded)]) + html_table(HEADS, rows(encoded))
