"""The descriptors of an operand that is read in chunks, as people read them."""

from __future__ import annotations

from ....layout.tcgen05 import LONG_K_BYTES
from ...answer import text
from ...chunked import EncodedChunks
from ..formats import descriptor_hex
from ..tables import columns

HEADS = ("rows", "k", "begins at", "rest at", "descriptor")


@text.register
def _(encoded: EncodedChunks) -> str:
    return f"{note(encoded)}\n\n{columns(HEADS, rows(encoded))}"


def rows(encoded: EncodedChunks) -> list[tuple[str, ...]]:
    """What each instruction reads, and its descriptor, as `HEADS` names them."""
    step = LONG_K_BYTES * 8 // encoded.tile.element.bits
    found: list[tuple[str, ...]] = []
    at = 0
    for piece, row in zip(encoded.chunks.pieces, encoded.descriptors, strict=True):
        for index, d in enumerate(row):
            rest = f"{d.lbo:#x}" if d.absolute else ""
            k = f"{index * step}-{(index + 1) * step - 1}"
            place = (f"{at}-{at + piece - 1}", k, f"{d.start:#x}", rest)
            found.append((*place, descriptor_hex(d.encode())))
        at += piece
    return found


def note(encoded: EncodedChunks) -> str:
    """How the rows are read."""
    chunks = encoded.chunks
    return f"{chunks}; SBO {chunks.sbo} bytes, swizzle {encoded.tile.swizzle}"
