"""The canonical layout of a tile, as HTML."""

from __future__ import annotations

from ...answer import html
from ...matched import Matched
from ..tables import html_table
from ..text.matched import lines


@html.register
def _(matched: Matched) -> str:
    return html_table(("", ""), lines(matched))
