"""An operand and its descriptors, as people read them."""

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
    return "\n".join([head, *(f"{name}: {said}" for name, said in steps(operand))])


@text.register
def _(encoded: Encoded) -> str:
    constant, said = descriptor_hex(encoded.constant), notes(encoded)
    head = f"{descriptor_hex(encoded.bits)} = {constant} | (address >> 4 & 0x3fff)"
    fields = columns(HEADS, field_rows(encoded))
    return "\n".join([head, "", fields, *([""] if said else []), *said])


def steps(operand: Operand) -> list[tuple[str, str]]:
    """What is added to the descriptor along k, m or n, and for each stage: what, and how much."""
    letter = operand.role.extent_name
    pieces = "+".join(map(str, operand.mma_tiles.pieces))
    each = [
        ("k", f"each {instruction_k(operand.tile.element)} of k", operand.k_steps),
        (letter, f"{letter} = {pieces}", operand.mn_steps),
        ("stage", "each stage", operand.stage_steps),
    ]
    return [
        (f"{name} steps", f"{added(values)} (16-byte units; {what})")
        for name, what, values in each
        if len(values) > 1
    ]


def field_rows(encoded: Encoded) -> list[tuple[str, ...]]:
    """Each field of the descriptor, as `HEADS` of a decoded one names them."""
    if encoded.operand is None:
        return decoded_rows(decode(encoded.bits, arch=encoded.arch))
    blocks, kind = encoded.operand.mma_tiles, encoded.operand.tile.element
    major, rows = blocks.canonical.major, blocks.pieces[0]
    return decoded_rows(decode(encoded.bits, kind, major, rows, arch=encoded.arch))


def notes(encoded: Encoded) -> list[str]:
    """What there is to say besides the fields."""
    of_operand = text(encoded.operand).split("\n") if encoded.operand else []
    return [*of_operand, *warnings(encoded.suspicions)]
