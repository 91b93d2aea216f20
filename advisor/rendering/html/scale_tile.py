"""A tile of scale factors, and the descriptors of its copies, as HTML."""

from __future__ import annotations

from ...answer import html
from ...scale_tile import EncodedScales, ScaleTile
from ..tables import html_list, html_table
from ..text.scale_tile import HEADS, lines, note, rows


@html.register
def _(tile: ScaleTile) -> str:
    return html_table(("", ""), lines(tile))


@html.register
def _(encoded: EncodedScales) -> str:
    return html_list([note(encoded)]) + html_table(HEADS, rows(encoded))
