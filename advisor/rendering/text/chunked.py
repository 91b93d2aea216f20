"""The descriptors of an operand that is read in chunks, as text."""

from __future__ import annotations

from ....layout.tcgen05 import LONG_K_BYTES
from ...answer import text
from ...chunked import EncodedChunks
from ..formats import descriptor_hex
from ..tables import columns

HEADS = ("rows", "k", "start", "second chunk", "descriptor")


@text.register
def _(encoded: EncodedChunks) -> str:
    return f"{note(encoded)}\n\n{columns(HEADS, rows(encoded))}"


def rows(encoded: EncodedChunks) -> list[tuple[str, ...]]:
    """Return the MMA tile of each instruction, and its descriptor; the columns are `HEADS`."""
    k_extent = LONG_K_BYTES * 8 // encoded.tile.element.bits
    found: list[tuple[str, ...]] = []
    at = 0
    for piece, row in zip(encoded.chunks.pieces, encoded.descriptors, strict=True):
        for index, d in enumerate(row):
            second = f"{d.lbo:#x}" if d.absolute else ""
            k = f"{index * k_extent}-{(index + 1) * k_extent - 1}"
            place = (f"{at}-{at + piece - 1}", k, f"{d.start:#x}", second)
            found.append((*place, descriptor_hex(d.encode())))
        at += piece
    return found


def note(encoded: EncodedChunks) -> str:
    """Return a sentence about the chunks."""
    chunks = encoded.chunks
    return f"{chunks}; SBO {chunks.sbo} bytes, swizzle {encoded.tile.swizzle}"
