"""The chosen layout of an operand, as HTML: tables and a picture."""

from __future__ import annotations

from html import escape

from ...answer import html
from ...chosen_operand import ChosenOperand
from ...pictures import Picture, drawing, svg
from ..tables import html_table
from ..text import chosen_operand as as_text


@html.register
def _(chosen: ChosenOperand) -> str:
    sections = [
        f"<h4>{escape(as_text.title(chosen))}</h4>",
        html_table(("", ""), as_text.facts(chosen)),
        svg(drawing(Picture(chosen.tile))),
        f"<h5>{as_text.CANDIDATES_HEAD}</h5>",
        html_table(as_text.CANDIDATE_HEADS, as_text.candidate_rows(chosen)),
    ]
    if chosen.fields:
        sections += [
            f"<h5>{escape(as_text.descriptor_head(chosen))}</h5>",
            html_table(as_text.FIELD_HEADS, as_text.field_rows(chosen)),
            f"<h5>{escape(as_text.STEPS_HEAD)}</h5>",
            html_table(as_text.step_heads(chosen), as_text.step_rows(chosen)),
        ]
    return "".join(sections)
