"""A decoded descriptor of `tcgen05.cp`, as text."""

from __future__ import annotations

from ....layout.elements import UNIT_BYTES
from ....layout.tcgen05.copies import LINES_TOGETHER
from ....layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS, LANES
from ...answer import text
from ...decoded import decode
from ...scale_copy import DecodedCopy
from ..formats import descriptor_hex, warnings
from ..tables import columns
from .decoded import HEADS
from .decoded import field_rows as decoded_rows

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
    lines = [head, "", columns(HEADS, field_rows(decoded)), "", f"layout  {layout(decoded)}"]
    return "\n".join([*lines, *(warnings(decoded.suspicions) or ["nothing is suspicious"])])


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
