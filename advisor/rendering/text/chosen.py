"""A choice of operands' layouts, as people read it."""

from __future__ import annotations

from ...answer import text
from ...chosen import ChosenOperands


@text.register
def _(chosen: ChosenOperands) -> str:
    subtiles = [text(operand) for operand in chosen.each]
    return "\n\n\n".join([*subtiles, *([text(chosen.mma)] if chosen.mma else [])])
