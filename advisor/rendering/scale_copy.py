"""A decoded descriptor of `tcgen05.cp`, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ...layout.elements import UNIT_BYTES
from ...layout.tcgen05.copies import LINES_TOGETHER
from ...layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS, LANES
from ..answer import data, html, text
from ..decoded import decode
from ..scale_copy import DecodedCopy
from .decoded import HEADS
from .decoded import field_rows as decoded_rows
from .formats import descriptor_hex, suspicion_items, suspicion_lines
from .tables import html_list, html_table, text_table

_MEANINGS = {
    "start address": "address of the block's first line",
    "LBO": "not used: a line has 16 bytes",
    "SBO": f"to the next {LINES_TOGETHER} of {LANES} lines",
}


@text.register
def _(decoded: DecodedCopy) -> str:
    head = (
        f"{descriptor_hex(decoded.bits)}, {LANES} lines of {UNIT_BYTES} bytes: {BLOCK_FACTORS} factors "
        f"of {BLOCK_ROWS} rows"
    )
    lines = [head, "", text_table(HEADS, field_rows(decoded)), "", f"layout  {layout(decoded)}"]
    return "\n".join([*lines, *(suspicion_lines(decoded.suspicions) or ["nothing is suspicious"])])


def field_rows(decoded: DecodedCopy) -> list[tuple[str, ...]]:
    """Return the fields; the columns are `HEADS` of a decoded descriptor."""
    return [
        (*row[:-1], _MEANINGS.get(row[0], row[-1]))
        for row in decoded_rows(decode(decoded.bits, arch=decoded.arch))
    ]


def layout(decoded: DecodedCopy) -> str:
    """Return the layout of the bytes that it reads, (line, byte)."""
    d = decoded.descriptor
    return (
        f"{d.swizzle.cute} o (({LINES_TOGETHER},{LANES // LINES_TOGETHER}),{UNIT_BYTES}):"
        f"(({UNIT_BYTES},{d.sbo}),1)"
    )


@data.register
def _(decoded: DecodedCopy) -> dict[str, Any]:
    """Quantities are in bytes; `reads` is indexed [row][factor]."""
    d, reads = decoded.descriptor, decoded.reads
    return {
        "arch": str(decoded.arch),
        "descriptor": descriptor_hex(decoded.bits),
        "start": d.start,
        "lbo": d.lbo,
        "sbo": d.sbo,
        "swizzle": str(d.swizzle),
        "layout": layout(decoded),
        "reads": None if reads is None else reads.tolist(),
        "suspicions": [data(suspicion) for suspicion in decoded.suspicions],
    }


@html.register
def _(decoded: DecodedCopy) -> str:
    sentences = [layout(decoded), *suspicion_items(decoded.suspicions)]
    return html_table(HEADS, field_rows(decoded)) + html_list(sentences)
