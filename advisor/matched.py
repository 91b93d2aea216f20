"""The canonical layout of a tile as an operand; or why it has none, and the nearest legal layout."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..layout import Arch, Element, Mismatch, PathElement, Role, Swizzle, TileLayout, choose
from ..layout.element_map import Inferred, element_offsets, infer_layouts
from .answer import Answer
from .encoded import Encoded, Operand, encode_operand, operand_of


@dataclass(frozen=True)
class Nearest(Answer):
    """A legal layout, and the number of elements in which a tile differs from it.

    Attributes:
        layout: the layout.
        name: its description.
        different: elements with another offset in it.
        total: all elements.
    """

    layout: TileLayout
    name: str
    different: int
    total: int


@dataclass(frozen=True, eq=False)
class Matched(Answer):
    """A tile, and the operand that instructions can read it as.

    Attributes:
        element: the element type.
        role: A or B.
        places: int64 of the tile's shape: offset of each element from the tile's start, in elements.
        layout: its layout; None for a map that no layout produces.
        found: the operand, or why no instruction reads the tile.
        nearest: without an operand, the legal layout in which the fewest elements have other offsets.
        start: the first place of a map, in bytes.
        arch: the architecture.
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
        """The descriptors of a tile at address 0; None if no instruction reads it."""
        return None if isinstance(self.found, Mismatch) else encode_operand(self.found)

    @property
    def matching_swizzles(self) -> tuple[Swizzle, ...]:
        """For a tile without an operand, the swizzling modes with which its strides are legal."""
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
    """Match a tile to a canonical layout.

    Args:
        tile: its layout, (M, K) for A and (K, N) for B, or with stages as the first extent.
        role: A or B.
        rows: the extent along m/n of each instruction; None for A's M, and the MMA's N pieces for B.
        arch: the architecture.

    Returns:
        The canonical layout, or the mode that does not fit and the nearest layout.

    Raises:
        LayoutError: if the tile is larger than memory.

    Example:
        >>> found = match_tile(parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", element("bf16")), Role.A)
        >>> print(str(found).splitlines()[0])
        matches     K-major: Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))
    """
    found, places = operand_of(tile, role, rows, arch), element_offsets(tile)
    nearest = _nearest(places, tile.element, role, arch) if isinstance(found, Mismatch) else None
    return Matched(tile.element, role, places, tile, found, nearest, arch=arch)


def match_map(
    places: np.ndarray,
    element: Element,
    role: Role,
    rows: int | None = None,
    arch: Arch = Arch.SM_90,
) -> Matched:
    """Infer the layout of a tile from a map of its elements, and match it.

    Args:
        places: int64[rows, columns], the place of each element, in elements; the first may be any
            multiple of the swizzle pattern.
        element, role, rows, arch: as for `match_tile`.

    Returns:
        The layout, with the canonical layout or the mode that does not fit.

    Raises:
        LayoutError: if the map is not that of a tile.

    Example:
        >>> found = match_map(np.arange(64 * 64).reshape(64, 64), element("bf16"), Role.A)
        >>> found.layout.cute
        'Swizzle<0,4,3> o (64,64):(64,1)'
        >>> print(found.nearest.layout.cute)
        Swizzle<3,4,3> o (64,64):(64,1)
    """
    explained = infer_layouts(places, element)
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
    """Return why no layout produces a map, with the first element that differs."""
    return Mismatch(
        f"no swizzle and strides match the map: {best.layout} is the nearest, but element "
        f"{best.first} is at {best.actual}, not at {best.expected} (in elements); {best.wrong} of "
        f"{total} differ",
        f"the place of element {best.first}",
        best.actual,
        best.expected,
    )


def _nearest(places: np.ndarray, element: Element, role: Role, arch: Arch) -> Nearest | None:
    """Return the legal layout in which the fewest elements have other offsets; None if there is none."""
    if not arch.multiplies(element):
        return None
    path = (PathElement((0,), None),) if places.ndim == 3 else ()
    use = arch.use("operand", role, element, path)
    choice = choose(element, places.shape, [use], swizzles=arch.swizzles)
    found = [
        Nearest(c.layout, c.name, int((element_offsets(c.layout) != places).sum()), places.size)
        for c in choice.candidates
        if c.accepted
    ]
    return min(found, key=lambda nearest: nearest.different, default=None)
