"""A choice of operands' layouts in a notebook."""

from __future__ import annotations

from html import escape

from . import chosen_text as text
from .chosen import ChosenOperands
from .chosen_operand import ChosenOperand
from .columns import html_table
from .pictures import Picture, svg


def operands_html(chosen: ChosenOperands) -> str:
    """What the text says, as tables, with a picture of each layout."""
    parts = [operand_html(operand) for operand in chosen.each]
    product = chosen.product
    return "".join(parts + ([f"<pre>{escape(str(product))}</pre>"] if product else []))


def operand_html(chosen: ChosenOperand) -> str:
    """One operand."""
    parts = [
        f"<h4>{escape(text.title(chosen))}</h4>",
        html_table(("", ""), text.facts(chosen)),
        svg(Picture(chosen.tile).drawing()),
        f"<h5>{text.CANDIDATES_HEAD}</h5>",
        html_table(text.CANDIDATE_HEADS, text.candidate_rows(chosen)),
    ]
    if chosen.fields:
        parts += [
            f"<h5>{escape(text.descriptor_head(chosen))}</h5>",
            html_table(text.FIELD_HEADS, text.field_rows(chosen)),
            f"<h5>{escape(text.STEPS_HEAD)}</h5>",
            html_table(text.block_heads(chosen), text.block_rows(chosen)),
        ]
    return "".join(parts)
