"""The canonical layout of a tile as an operand; or why it has none, and the nearest legal layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..layout import (
    Arch,
    Element,
    LayoutError,
    Mismatch,
    PathElement,
    Role,
    Swizzle,
    TileLayout,
    choose,
)
from ..layout.element_map import InferredLayout, element_offsets, infer_layouts
from .answer import Answer
from .encoded import Encoded, Operand, encode_operand, operand_of
from .order import DimensionOrder, assumed_order


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
        nearest: without an operand, the legal layout with the fewest elements at other offsets.
        start: the first place of a map, in bytes.
        arch: the architecture.
        rows: the extent along m/n of each instruction, where it was given.
        order: the order in which the tile was written; that of `places` and the layouts is its
            `answered`.
    """

    element: Element
    role: Role
    places: np.ndarray
    layout: TileLayout | None
    found: Operand | Mismatch
    nearest: Nearest | None = None
    start: int = 0
    arch: Arch = Arch.SM_90
    rows: int | None = None
    order: DimensionOrder | None = None

    @property
    def encoded(self) -> Encoded | None:
        """The descriptors of a tile at address 0; None if no instruction reads it."""
        return None if isinstance(self.found, Mismatch) else encode_operand(self.found)

    @property
    def matching_swizzles(self) -> tuple[Swizzle, ...]:
        """For a tile without an operand, the other swizzling modes with which its strides are legal."""
        if self.layout is None or isinstance(self.found, Operand):
            return ()
        return tuple(
            swizzle
            for swizzle in self.arch.swizzles
            if swizzle is not self.layout.swizzle
            and _is_operand(replace(self.layout, swizzle=swizzle), self.role, self.rows, self.arch)
        )


def match_tile(
    tile: TileLayout,
    role: Role,
    rows: int | None = None,
    arch: Arch = Arch.SM_90,
    order: DimensionOrder | None = None,
) -> Matched:
    """Match a tile to a canonical layout.

    Args:
        tile: its layout.
        role: A or B.
        rows: the extent along m/n of each instruction; None for A's M, and the MMA's N pieces for B.
        arch: the architecture.
        order: the order of its dimensions; None for (M, K) for A and (K, N) for B, and stages in front.

    Returns:
        The canonical layout, or the mode that does not fit and the nearest layout.

    Raises:
        LayoutError: if the tile is larger than memory.

    Example:
        >>> tile = parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", element("bf16"))
        >>> print(str(match_tile(tile, Role.A)).splitlines()[0])
        matches     K-major: Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))
    """
    order = order or assumed_order(role, len(tile.shape))
    tile_as_written, tile = tile, tile if order.assumed else order.arrange(tile)
    operand, places = operand_of(tile, role, rows, arch), element_offsets(tile)
    matched = Matched(tile.element, role, places, tile, operand, None, 0, arch, rows, order)

    def problem_in(candidate: DimensionOrder) -> str | None:
        return mismatch_reason(operand_of(candidate.arrange(tile_as_written), role, rows, arch))

    return _explain(matched, problem_in)


def match_map(
    places: np.ndarray,
    element: Element,
    role: Role,
    rows: int | None = None,
    arch: Arch = Arch.SM_90,
    order: DimensionOrder | None = None,
) -> Matched:
    """Infer the layout of a tile from a map of its elements, and match it.

    Args:
        places: int64[rows, columns] or of three dimensions, the place of each element, in elements; the
            first may be any multiple of the swizzle pattern.
        element, role, rows, arch, order: as for `match_tile`.

    Returns:
        The layout, with the canonical layout or the mode that does not fit.

    Raises:
        LayoutError: if no tile has such a map.

    Example:
        >>> matched = match_map(np.arange(64 * 64).reshape(64, 64), element("bf16"), Role.A)
        >>> matched.layout.cute
        'Swizzle<0,4,3> o (64,64):(64,1)'
        >>> print(matched.nearest.layout.cute)
        Swizzle<3,4,3> o (64,64):(64,1)
    """
    order = order or assumed_order(role, places.ndim)
    arranged = places if order.assumed else order.arrange_map(places)
    matched = _match_arranged(arranged, element, role, rows, arch, order)

    def problem_in(candidate: DimensionOrder) -> str | None:
        try:
            rematched = _match_arranged(
                candidate.arrange_map(places), element, role, rows, arch, candidate
            )
        except LayoutError as error:
            return str(error)
        return mismatch_reason(rematched.found)

    return _explain(matched, problem_in)


def _match_arranged(
    places: np.ndarray,
    element: Element,
    role: Role,
    rows: int | None,
    arch: Arch,
    order: DimensionOrder,
) -> Matched:
    """Match a map in the order of the answer."""
    fits = infer_layouts(places, element)
    exact = [fit for fit in fits if not fit.wrong]
    pairs = [(fit, operand_of(fit.layout, role, rows, arch)) for fit in exact]
    if not pairs:
        best = fits[0]
        pairs = [(best, _map_mismatch(best, places.size))]
    # Several layouts may have this map: an operand is preferred.
    inferred, operand = next((p for p in pairs if isinstance(p[1], Operand)), pairs[0])
    start = inferred.start * element.bits // 8
    layout = None if inferred.wrong else inferred.layout
    relative = places - inferred.start
    return Matched(element, role, relative, layout, operand, None, start, arch, rows, order)


def _explain(matched: Matched, problem_in: Callable[[DimensionOrder], str | None]) -> Matched:
    """Add, to a tile without an operand, the orders in which it fits, or the nearest layout.

    Args:
        matched: the tile.
        problem_in: as for `DimensionOrder.compare`.
    """
    if matched.order is None or isinstance(matched.found, Operand):
        return matched
    order = matched.order.compare(problem_in)
    nearest = None if order.fitting else _nearest(matched)
    return replace(matched, order=order, nearest=nearest)


def mismatch_reason(match: object) -> str | None:
    """Return the reason of a mismatch; None for anything else."""
    return match.reason if isinstance(match, Mismatch) else None


def _is_operand(tile: TileLayout, role: Role, rows: int | None, arch: Arch) -> bool:
    return isinstance(operand_of(tile, role, rows, arch), Operand)


def _map_mismatch(best: InferredLayout, total: int) -> Mismatch:
    """Return why no layout produces a map, with the first element that differs."""
    return Mismatch(
        f"no swizzle and strides match the map: {best.layout} is the nearest, but element "
        f"{best.first} is at {best.actual}, not at {best.expected} (in elements); {best.wrong} of "
        f"{total} differ",
        f"the place of element {best.first}",
        best.actual,
        best.expected,
    )


def _nearest(matched: Matched) -> Nearest | None:
    """Return the legal layout with the fewest elements at other offsets; None if there is none."""
    element, role, arch, places = matched.element, matched.role, matched.arch, matched.places
    if not arch.multiplies(element):
        return None
    path = (PathElement((0,), None),) if places.ndim == 3 else ()
    use = arch.use("operand", role, element, path)
    choice = choose(element, places.shape, [use], swizzles=arch.swizzles)
    layouts = [
        Nearest(c.layout, c.name, int((element_offsets(c.layout) != places).sum()), places.size)
        for c in choice.candidates
        if c.is_accepted and _is_operand(c.layout, role, matched.rows, arch)
    ]
    return min(layouts, key=lambda nearest: nearest.different, default=None)
