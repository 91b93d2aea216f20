"""One operand whose layout is chosen, in a notebook: tables, and a picture of the layout."""

from __future__ import annotations

from html import escape

from ...answer import html
from ...chosen_operand import ChosenOperand
from ...pictures import Picture, drawing, svg
from ..tables import html_table
from ..text import chosen_operand as said


@html.register
def _(chosen: ChosenOperand) -> str:
    subtiles = [
        f"<h4>{escape(said.title(chosen))}</h4>",
        html_table(("", ""), said.facts(chosen)),
        svg(drawing(Picture(chosen.tile))),
        f"<h5>{said.CANDIDATES_HEAD}</h5>",
        html_table(said.CANDIDATE_HEADS, said.candidate_rows(chosen)),
    ]
    if chosen.fields:
        subtiles += [
            f"<h5>{escape(said.descriptor_head(chosen))}</h5>",
            html_table(said.FIELD_HEADS, said.field_rows(chosen)),
            f"<h5>{escape(said.STEPS_HEAD)}</h5>",
            html_table(said.block_heads(chosen), said.block_rows(chosen)),
        ]
    return "".join(subtiles)
