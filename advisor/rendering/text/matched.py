"""What a tile is to the instructions that read it, as people read it."""

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
    counted = f"{nearest.moved} of {nearest.total} elements lie elsewhere in it"
    return f"{nearest.layout} ({nearest.name}): {counted}"


@text.register
def _(matched: Matched) -> str:
    return named(lines(matched))


def lines(matched: Matched) -> list[tuple[str, str]]:
    """What there is to know about the tile, by name."""
    found = matched.found
    layout = [("layout", str(matched.layout))] if matched.layout else []
    if isinstance(found, Operand):
        return [*_head(found), *layout, *_descriptor(matched, found), *steps(found)]
    return [("matches none", found.reason), *layout, *_mismatch(matched, found)]


def _head(operand: Operand) -> list[tuple[str, str]]:
    return [("matches", f"{operand.mma_tiles.canonical.major}: {operand.form}")]


def _descriptor(matched: Matched, operand: Operand) -> list[tuple[str, str]]:
    canonical, encoded = operand.mma_tiles.canonical, matched.encoded
    assert encoded is not None
    offsets = [
        (name, f"{value} bytes" if value is not None else "no effect")
        for name, value in (("LBO", canonical.lbo), ("SBO", canonical.sbo))
    ]
    return [*offsets, ("descriptor", f"{descriptor_hex(encoded.bits)}, and the address OR'd in")]


def _mismatch(matched: Matched, found: Mismatch) -> list[tuple[str, str]]:
    said = []
    if found.mode is not None:
        said.append((found.mode, f"{found.actual}; needed {found.expected}"))
    if matched.fits_with:
        names = " or ".join(map(str, matched.fits_with))
        said.append(("hint", f"the same strides match with swizzle {names}"))
    if matched.nearest is not None:
        said.append(("nearest", text(matched.nearest)))
    return said
