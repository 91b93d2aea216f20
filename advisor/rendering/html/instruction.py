"""A decoded instruction descriptor of tcgen05, as HTML."""

from __future__ import annotations

from ...answer import html
from ...instruction import DecodedInstruction
from ..formats import notes
from ..tables import html_list, html_table
from ..text.instruction import HEADS, field_rows, head


@html.register
def _(decoded: DecodedInstruction) -> str:
    sentences = [head(decoded), *notes(decoded.suspicions)]
    return html_table(HEADS, field_rows(decoded)) + html_list(sentences)
