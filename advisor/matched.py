"""Which canonical layout a tile has as an operand; if none, why, and the nearest that has one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..layout import Arch, Element, Mismatch, Role, Step, Swizzle, TileLayout, choose
from ..layout.element_map import Inferred, inferred, places_of
from .answer import Answer
from .encoded import Encoded, Operand, encode_operand, operand_of


@dataclass(frozen=True)
class Nearest(Answer):
    """A layout that instructions read, and how far a tile is from it.

    Attributes:
        layout: the layout.
        name: it in words.
        moved: how many elements lie elsewhere in it.
        total: how many there are.
    """

    layout: TileLayout
    name: str
    moved: int
    total: int


@dataclass(frozen=True, eq=False)
class Matched(Answer):
    """What a tile is to the instructions that read it.

    Attributes:
        element: the element type.
        role: which operand it is.
        places: int64 of the tile's shape: where each element lies, from the tile's start, in elements.
        layout: its layout; None for a map that none explains.
        found: the operand, or why it is none.
        nearest: if it is none, the legal layout in which the fewest elements lie elsewhere.
        start: where a map begins, in bytes.
        arch: whose instructions read it.
    """

    element: Element
    role: Role
    places: np.ndarray
    layout: TileLayout | None
    found: Operand | Mismatch
    nearest: Nearest | None = None
    start: int = 0
    arch: Arch = Arch.SM_90

    @property
    def encoded(self) -> Encoded | None:
        """The descriptors, for a tile at address 0; None if it is no operand."""
        return None if isinstance(self.found, Mismatch) else encode_operand(self.found)

    @property
    def fits_with(self) -> tuple[Swizzle, ...]:
        """If the tile is no operand: the swizzling modes with which its strides would be one's."""
        if self.layout is None or isinstance(self.found, Operand):
            return ()
        others = ((other, replace(self.layout, swizzle=other)) for other in self.arch.swizzles)
        return tuple(
            other
            for other, tile in others
            if isinstance(operand_of(tile, self.role, arch=self.arch), Operand)
        )


def match_tile(
    tile: TileLayout, role: Role, rows: int | None = None, arch: Arch = Arch.SM_90
) -> Matched:
    """What a tile is to the instructions.

    Args:
        tile: its layout, (M, K) for A and (K, N) for B, or with stages in front.
        role: which operand it is.
        rows: the extent along m/n of each instruction; None for the M of A's, and of B as N is cut.
        arch: whose instructions they are.

    Raises:
        LayoutError: if no memory holds the tile.
    """
    found, places = operand_of(tile, role, rows, arch), places_of(tile)
    nearest = _nearest(places, tile.element, role, arch) if isinstance(found, Mismatch) else None
    return Matched(tile.element, role, places, tile, found, nearest, arch=arch)


def match_map(
    places: np.ndarray,
    element: Element,
    role: Role,
    rows: int | None = None,
    arch: Arch = Arch.SM_90,
) -> Matched:
    """What a tile is whose elements lie at those places.

    Args:
        places: int64[rows, columns], where each element lies, in elements; may begin at any multiple
            of the swizzle's pattern.
        element, role, rows, arch: as for `match_tile`.

    Raises:
        LayoutError: if no tile can be such a map.
    """
    explained = inferred(places, element)
    exact = [each for each in explained if not each.wrong]
    operands = [operand_of(each.layout, role, rows, arch) for each in exact]
    for each, operand in zip(exact, operands, strict=True):
        if isinstance(operand, Operand):
            return _of_map(places, each, role, operand, arch)
    if exact:
        return _of_map(places, exact[0], role, operands[0], arch)
    best = explained[0]
    return _of_map(places, best, role, _unexplained(best, places.size), arch)


def _of_map(
    places: np.ndarray, explained: Inferred, role: Role, found: Operand | Mismatch, arch: Arch
) -> Matched:
    element, relative = explained.layout.element, places - explained.start
    nearest = _nearest(relative, element, role, arch) if isinstance(found, Mismatch) else None
    layout = None if explained.wrong else explained.layout
    start = explained.start * element.bits // 8
    return Matched(element, role, relative, layout, found, nearest, start, arch)


def _unexplained(best: Inferred, total: int) -> Mismatch:
    """Why a map is no layout, with the first element that differs."""
    return Mismatch(
        f"no swizzle and strides explain the map: {best.layout} comes nearest, but element "
        f"{best.first} lies at {best.actual}, not {best.expected} (in elements); {best.wrong} of "
        f"{total} differ",
        f"the place of element {best.first}",
        best.actual,
        best.expected,
    )


def _nearest(places: np.ndarray, element: Element, role: Role, arch: Arch) -> Nearest | None:
    """The legal layout in which the fewest elements lie elsewhere; None if no layout is legal."""
    if not arch.multiplies(element):
        return None
    path = (Step((0,), None),) if places.ndim == 3 else ()
    use = arch.use("operand", role, element, path)
    choice = choose(element, places.shape, [use], swizzles=arch.swizzles)
    found = [
        Nearest(c.layout, c.name, int((places_of(c.layout) != places).sum()), places.size)
        for c in choice.candidates
        if c.accepted
    ]
    return min(found, key=lambda nearest: nearest.moved, default=None)
