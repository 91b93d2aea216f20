"""The canonical layout of a tile, as text."""

from __future__ import annotations

from ....layout import Mismatch
from ...answer import text
from ...encoded import Operand
from ...matched import Matched, Nearest
from ..formats import descriptor_hex
from ..tables import named
from .encoded import steps


@text.register
def _(nearest: Nearest) -> str:
    counted = f"{nearest.different} of {nearest.total} elements have another offset"
    return f"{nearest.layout} ({nearest.name}): {counted}"


@text.register
def _(matched: Matched) -> str:
    return named(lines(matched))


def lines(matched: Matched) -> list[tuple[str, str]]:
    """Return the facts about the tile, each with its name."""
    found = matched.found
    order = matched.order
    layout = [("order", str(order))] if order and not order.is_obvious else []
    if matched.layout:
        layout.append(("layout", str(matched.layout)))
    if isinstance(found, Operand):
        return [*_head(found), *layout, *_descriptor(matched, found), *steps(found)]
    return [("no match", found.reason), *layout, *_mismatch(matched, found)]


def _head(operand: Operand) -> list[tuple[str, str]]:
    return [("matches", f"{operand.mma_tiles.canonical.major}: {operand.form}")]


def _descriptor(matched: Matched, operand: Operand) -> list[tuple[str, str]]:
    canonical, encoded = operand.mma_tiles.canonical, matched.encoded
    assert encoded is not None
    offsets = [
        (name, f"{value} bytes" if value is not None else "not used")
        for name, value in (("LBO", canonical.lbo), ("SBO", canonical.sbo))
    ]
    return [*offsets, ("descriptor", f"{descriptor_hex(encoded.bits)} | (address & 0x3ffff) >> 4")]


def _mismatch(matched: Matched, found: Mismatch) -> list[tuple[str, str]]:
    lines = []
    if found.mode is not None:
        lines.append((found.mode, f"{found.actual}; expected {found.expected}"))
    if matched.matching_swizzles:
        names = " or ".join(map(str, matched.matching_swizzles))
        lines.append(("hint", f"the same strides match with swizzle {names}"))
    if matched.nearest is not None:
        lines.append(("nearest", text(matched.nearest)))
    return lines
