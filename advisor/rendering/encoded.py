"""An operand and its descriptors, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ...layout.instruction import instruction_k
from ...layout.tcgen05 import Tcgen05Descriptor
from ..answer import data, html, text
from ..decoded import decode
from ..encoded import Encoded, Operand
from .decoded import HEADS
from .decoded import field_rows as decoded_rows
from .formats import descriptor_hex, join_steps, suspicion_lines
from .tables import html_list, html_table, text_table


@text.register
def _(operand: Operand) -> str:
    head = f"{operand.mma_tiles.canonical.major}: {operand.form}"
    return "\n".join([head, *(f"{name}: {values}" for name, values in steps(operand))])


@text.register
def _(encoded: Encoded) -> str:
    constant, sentences = descriptor_hex(encoded.constant), notes(encoded)
    head = f"{descriptor_hex(encoded.bits)} = {constant} | (address >> 4 & 0x3fff)"
    fields = text_table(HEADS, field_rows(encoded))
    return "\n".join([head, "", fields, *([""] if sentences else []), *sentences])


def steps(operand: Operand) -> list[tuple[str, str]]:
    """Return the steps of the descriptor along K, along m or n, and for each stage, with their names."""
    letter = operand.role.extent_name
    pieces = "+".join(map(str, operand.mma_tiles.pieces))
    named_steps = [
        ("k", f"each {instruction_k(operand.tile.element)} of k", operand.k_steps),
        (letter, f"{letter} = {pieces}", operand.mn_steps),
        ("stage", "each stage", operand.stage_steps),
    ]
    return [
        (f"{name} steps", f"{join_steps(values)} (16-byte units; {unit})")
        for name, unit, values in named_steps
        if len(values) > 1
    ]


def field_rows(encoded: Encoded) -> list[tuple[str, ...]]:
    """Return the fields; the columns are `HEADS` of a decoded descriptor."""
    if encoded.operand is None:
        return decoded_rows(decode(encoded.bits, arch=encoded.arch))
    mma_tiles, element = encoded.operand.mma_tiles, encoded.operand.tile.element
    major, rows = mma_tiles.canonical.major, mma_tiles.pieces[0]
    return decoded_rows(decode(encoded.bits, element, major, rows, arch=encoded.arch))


def notes(encoded: Encoded) -> list[str]:
    """Return the sentences about the operand and the suspicions."""
    of_operand = text(encoded.operand).split("\n") if encoded.operand else []
    return [*of_operand, *suspicion_lines(encoded.suspicions)]


@data.register
def _(operand: Operand) -> dict[str, Any]:
    """LBO and SBO are in bytes, null where they are not used; steps are in 16-byte units."""
    canonical = operand.mma_tiles.canonical
    return {
        "role": operand.role.value,
        "element": str(operand.tile.element),
        "layout": str(operand.tile),
        "major": canonical.major.value,
        "swizzle": str(canonical.swizzle),
        "form": operand.form,
        "lbo": canonical.lbo,
        "sbo": canonical.sbo,
        "rows": list(operand.mma_tiles.pieces),
        "k_steps": list(operand.k_steps),
        "mn_steps": list(operand.mn_steps),
        "stage_steps": list(operand.stage_steps),
    }


@data.register
def _(encoded: Encoded) -> dict[str, Any]:
    """Quantities of the descriptor are in bytes, steps in 16-byte units."""
    d = encoded.descriptor
    return {
        "arch": str(encoded.arch),
        "descriptor": descriptor_hex(encoded.bits),
        "constant": descriptor_hex(encoded.constant),
        "fields": {
            "start": d.start,
            "lbo": d.lbo,
            "sbo": d.sbo,
            "base_offset": d.base_offset,
            "swizzle": str(d.swizzle),
            "absolute": isinstance(d, Tcgen05Descriptor) and d.absolute,
        },
        "operand": encoded.operand and data(encoded.operand),
        "descriptors": [[descriptor_hex(bits) for bits in row] for row in encoded.descriptors],
        "suspicions": [data(suspicion) for suspicion in encoded.suspicions],
    }


@html.register
def _(encoded: Encoded) -> str:
    return html_table(HEADS, field_rows(encoded)) + html_list(notes(encoded))
