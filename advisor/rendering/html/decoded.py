"""A decoded descriptor of an operand, as HTML."""

from __future__ import annotations

from ...answer import html
from ...decoded import Decoded
from ..formats import notes
from ..tables import html_list, html_table
from ..text.decoded import HEADS, field_rows, forms


@html.register
def _(decoded: Decoded) -> str:
    sentences = [*forms(decoded), *notes(decoded.suspicions)]
    return html_table(HEADS, field_rows(decoded)) + html_list(sentences)
