"""The comparison of a written layout with a descriptor, as HTML."""

from __future__ import annotations

from ...answer import html
from ...diagnosed import Diagnosed
from ..tables import html_list, html_table
from ..text.diagnosed import HEADS, notes, rows


@html.register
def _(diagnosed: Diagnosed) -> str:
    table = html_table(HEADS, rows(diagnosed)) if diagnosed.wrong.any() else ""
    return html_list(notes(diagnosed)) + table
