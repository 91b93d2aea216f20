"""A decoded descriptor of `tcgen05.cp`, as HTML."""

from __future__ import annotations

from ...answer import html
from ...scale_copy import DecodedCopy
from ..formats import notes
from ..tables import html_list, html_table
from ..text.decoded import HEADS
from ..text.scale_copy import field_rows, layout


@html.register
def _(decoded: DecodedCopy) -> str:
    sentences = [layout(decoded), *notes(decoded.suspicions)]
    return html_table(HEADS, field_rows(decoded)) + html_list(sentences)
