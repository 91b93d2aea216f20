"""The chosen layouts of operands, as HTML."""

from __future__ import annotations

from ...answer import html
from ...chosen import ChosenOperands


@html.register
def _(chosen: ChosenOperands) -> str:
    sections = [html(operand) for operand in chosen.each]
    return "".join([*sections, *([html(chosen.mma)] if chosen.mma else [])])
