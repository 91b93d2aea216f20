"""A decoded instruction descriptor of tcgen05, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ...layout.tcgen05 import InstructionDescriptor
from ..answer import data, html, text
from ..fields import Field
from ..instruction import DecodedInstruction
from .formats import bit_range, instruction_hex, suspicion_items, suspicion_lines
from .tables import html_list, html_table, text_table

#: The columns of a table of fields.
HEADS = ("field", "bits", "encoded", "meaning")

#: Printed names of a descriptor's attributes.
_NAMES = {
    "selector": "sparsity selector",
    "a": "A",
    "b": "B",
    "d": "D",
    "negate_a": "negate A",
    "negate_b": "negate B",
    "a_mn_major": "A's major",
    "b_mn_major": "B's major",
    "m": "M",
    "n": "N",
    "scale": "scale type",
    "a_scale": "A's scale ID",
    "b_scale": "B's scale ID",
    "k_bytes": "K",
}


@text.register
def _(decoded: DecodedInstruction) -> str:
    lines = [head(decoded), "", text_table(HEADS, field_rows(decoded)), ""]
    return "\n".join([*lines, *(suspicion_lines(decoded.suspicions) or ["nothing is suspicious"])])


def head(decoded: DecodedInstruction) -> str:
    """Return the instruction in one line."""
    d = decoded.descriptor
    return (
        f"{instruction_hex(decoded.bits)}, kind::{d.kind}: {d.m} x {d.n} {d.d} from {d.a} and {d.b}"
    )


def field_rows(decoded: DecodedInstruction) -> list[tuple[str, ...]]:
    """Return the fields; the columns are `HEADS`."""
    return [
        (
            _NAMES.get(field.name, field.name),
            bit_range(field),
            str(field.encoded),
            _meaning(decoded, field),
        )
        for field in decoded.fields
    ]


def _meaning(decoded: DecodedInstruction, field: Field) -> str:
    name, value = field.name, getattr(decoded.descriptor, field.name)
    if name in ("a_mn_major", "b_mn_major"):
        return f"{'M' if name[0] == 'a' else 'N'}-major" if value else "K-major"
    if name in ("a_scale", "b_scale"):
        return f"scale factors from byte {value} of the word"
    if name == "k_bytes":
        return f"{value} bytes, {value * 8 // decoded.descriptor.a.bits} elements"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@data.register
def _(decoded: DecodedInstruction) -> dict[str, Any]:
    """The K of an instruction is in bytes."""
    return {
        "arch": str(decoded.arch),
        "instruction": instruction_hex(decoded.bits),
        "kind": str(decoded.descriptor.kind),
        "ctas": decoded.ctas,
        "fields": field_values(decoded.descriptor),
        "suspicions": [data(suspicion) for suspicion in decoded.suspicions],
    }


def field_values(descriptor: InstructionDescriptor) -> dict[str, Any]:
    """Return the value of each field that the kind has."""
    return {
        name: value if isinstance(value, bool | int) else str(value)
        for name in descriptor.fields(descriptor.kind)
        if (value := getattr(descriptor, name)) is not None
    }


@html.register
def _(decoded: DecodedInstruction) -> str:
    sentences = [head(decoded), *suspicion_items(decoded.suspicions)]
    return html_table(HEADS, field_rows(decoded)) + html_list(sentences)
