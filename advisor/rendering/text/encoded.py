"""An operand and its descriptors, as text."""

from __future__ import annotations

from ....layout.instruction import instruction_k
from ...answer import text
from ...decoded import decode
from ...encoded import Encoded, Operand
from ..formats import added, descriptor_hex, warnings
from ..tables import columns
from .decoded import HEADS
from .decoded import field_rows as decoded_rows


@text.register
def _(operand: Operand) -> str:
    head = f"{operand.mma_tiles.canonical.major}: {operand.form}"
    return "\n".join([head, *(f"{name}: {values}" for name, values in steps(operand))])


@text.register
def _(encoded: Encoded) -> str:
    constant, sentences = descriptor_hex(encoded.constant), notes(encoded)
    head = f"{descriptor_hex(encoded.bits)} = {constant} | (address >> 4 & 0x3fff)"
    fields = columns(HEADS, field_rows(encoded))
    return "\n".join([head, "", fields, *([""] if sentences else []), *sentences])


def steps(operand: Operand) -> list[tuple[str, str]]:
    """Return the steps of the descriptor along K, along m or n, and for each stage, with their names."""
    letter = operand.role.extent_name
    pieces = "+".join(map(str, operand.mma_tiles.pieces))
    each = [
        ("k", f"each {instruction_k(operand.tile.element)} of k", operand.k_steps),
        (letter, f"{letter} = {pieces}", operand.mn_steps),
        ("stage", "each stage", operand.stage_steps),
    ]
    return [
        (f"{name} steps", f"{added(values)} (16-byte units; {unit})")
        for name, unit, values in each
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
    return [*of_operand, *warnings(encoded.suspicions)]
