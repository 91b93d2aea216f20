"""The descriptors of an operand that is read in chunks, as HTML."""

from __future__ import annotations

from ...answer import html
from ...chunked import EncodedChunks
from ..tables import html_list, html_table
from ..text.chunked import HEADS, note, rows


@html.register
def _(encoded: EncodedChunks) -> str:
    return html_list([note(encoded)]) + html_table(HEADS, rows(encoded))
