"""The chosen layouts of operands, as text."""

from __future__ import annotations

from ...answer import text
from ...chosen import ChosenOperands


@text.register
def _(chosen: ChosenOperands) -> str:
    sections = [text(operand) for operand in chosen.each]
    return "\n\n\n".join([*sections, *([text(chosen.mma)] if chosen.mma else [])])
