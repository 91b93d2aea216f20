"""The canonical layout of a tile, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ...layout import Mismatch
from ..answer import data, html, text
from ..encoded import Operand
from ..matched import Matched, Nearest
from .encoded import steps
from .formats import descriptor_hex
from .tables import aligned_lines, html_table


@text.register
def _(nearest: Nearest) -> str:
    counted = f"{nearest.different} of {nearest.total} elements have another offset"
    return f"{nearest.layout} ({nearest.name}): {counted}"


@text.register
def _(matched: Matched) -> str:
    return aligned_lines(lines(matched))


def lines(matched: Matched) -> list[tuple[str, str]]:
    """Return the facts about the tile, each with its name."""
    match = matched.found
    order = matched.order
    layout = [("order", str(order))] if order and not order.is_obvious else []
    if matched.layout:
        layout.append(("layout", str(matched.layout)))
    if isinstance(match, Operand):
        return [*_head(match), *layout, *_descriptor(matched, match), *steps(match)]
    return [("no match", match.reason), *layout, *_mismatch(matched, match)]


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


def _mismatch(matched: Matched, mismatch: Mismatch) -> list[tuple[str, str]]:
    lines = []
    if mismatch.mode is not None:
        lines.append((mismatch.mode, f"{mismatch.actual}; expected {mismatch.expected}"))
    if matched.matching_swizzles:
        names = " or ".join(map(str, matched.matching_swizzles))
        lines.append(("hint", f"the same strides match with swizzle {names}"))
    if matched.nearest is not None:
        lines.append(("nearest", text(matched.nearest)))
    return lines


@data.register
def _(matched: Matched) -> dict[str, Any]:
    match, mismatch = matched.found, None
    if isinstance(match, Mismatch):
        mismatch = {
            "reason": match.reason,
            "mode": match.mode,
            "actual": match.actual,
            "expected": match.expected,
        }
    return {
        "arch": str(matched.arch),
        "matches": mismatch is None,
        "layout": matched.layout and str(matched.layout),
        "element": str(matched.element),
        "role": matched.role.value,
        "shape": list(matched.places.shape),
        "start": matched.start,
        "order": matched.order and data(matched.order),
        "encoded": matched.encoded and data(matched.encoded),
        "mismatch": mismatch,
        "matching_swizzles": [str(swizzle) for swizzle in matched.matching_swizzles],
        "nearest": matched.nearest and data(matched.nearest),
    }


@html.register
def _(matched: Matched) -> str:
    return html_table(("", ""), lines(matched))
