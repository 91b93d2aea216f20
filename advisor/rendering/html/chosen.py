"""A choice of operands' layouts in a notebook."""

from __future__ import annotations

from ...answer import html
from ...chosen import ChosenOperands


@html.register
def _(chosen: ChosenOperands) -> str:
    subtiles = [html(operand) for operand in chosen.each]
    return "".join([*subtiles, *([html(chosen.mma)] if chosen.mma else [])])
