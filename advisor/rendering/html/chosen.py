"""A choice of operands' layouts in a notebook."""

from __future__ import annotations

from ...answer import html
from ...chosen import ChosenOperands


@html.register
def _(chosen: ChosenOperands) -> str:
    parts = [html(operand) for operand in chosen.each]
    return "".join([*parts, *([html(chosen.product)] if chosen.product else [])])
