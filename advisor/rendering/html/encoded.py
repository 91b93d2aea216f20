"""The descriptors of an operand, as HTML."""

from __future__ import annotations

from ...answer import html
from ...encoded import Encoded
from ..tables import html_list, html_table
from ..text.decoded import HEADS
from ..text.encoded import field_rows, notes


@html.register
def _(encoded: Encoded) -> str:
    return html_table(HEADS, field_rows(encoded)) + html_list(notes(encoded))
