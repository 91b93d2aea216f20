"""The chosen layouts of operands, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ..answer import data, html, text
from ..chosen import ChosenOperands


@text.register
def _(chosen: ChosenOperands) -> str:
    sections = [text(operand) for operand in chosen.each]
    return "\n\n\n".join([*sections, *([text(chosen.mma)] if chosen.mma else [])])


@data.register
def _(chosen: ChosenOperands) -> dict[str, Any]:
    return {
        "arch": str(chosen.op.arch),
        "a": chosen.a and data(chosen.a),
        "b": chosen.b and data(chosen.b),
        "mma": chosen.mma and data(chosen.mma),
    }


@html.register
def _(chosen: ChosenOperands) -> str:
    sections = [html(operand) for operand in chosen.each]
    return "".join([*sections, *([html(chosen.mma)] if chosen.mma else [])])
