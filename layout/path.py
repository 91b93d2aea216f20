"""The path from a tile to the subtile that a use accesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .elements import UNIT_BYTES
from .modes import LayoutError, Start
from .tile import Slice, TileLayout


@dataclass(frozen=True)
class PathElement:
    """A step of a path: a subtile, or a stage, of the subtile before it, or its transpose.

    Attributes:
        starts: where the subtile begins along each dimension, in elements; () for the transpose.
        sizes: its extents; None selects one stage and drops the leading dimension.

    Example:
        >>> first_half = PathElement(starts=(0, 0), sizes=(64, 32))
        >>> use = ARCHS["sm_90"].use("A of an mma", Role.A, element("bf16"), (first_half,))
        >>> choose(element("bf16"), (64, 64), [use]).picked.layout.cute
        'Swizzle<3,4,3> o (64,64):(64,1)'
    """

    starts: tuple[Start, ...]
    sizes: tuple[int, ...] | None

    def slice_of(self, layout: TileLayout) -> Slice:
        """Return the slice that the step takes of a tile.

        Raises:
            LayoutError: if it is not inside the tile.
        """
        if not self.starts:
            return Slice(layout.transposed(), 0)
        if self.sizes is None:
            return layout.stage(self.starts[0])
        return layout.slice(self.starts, self.sizes)


#: The step that exchanges rows and columns.
TRANSPOSE = PathElement((), None)


def slice_at(layout: TileLayout, path: Sequence[PathElement]) -> Slice:
    """Return the subtile at the end of a path, as a slice of the tile.

    Raises:
        LayoutError: if a subtile is not inside the tile.
    """
    subtile = Slice(layout, 0)
    for step in path:
        subtile = subtile.then(step.slice_of(subtile.layout))
    return subtile


def follow(layout: TileLayout, path: Sequence[PathElement]) -> Slice:
    """Return `slice_at` for a subtile that tensor cores or 16-byte accesses read or write.

    Raises:
        LayoutError: if a subtile is not inside the tile, or the last one does not begin at a multiple of
            16 bytes.
    """
    subtile = slice_at(layout, path)
    if subtile.first_multiple * layout.element.bits % (UNIT_BYTES * 8):
        raise LayoutError(
            f"the subtile begins {subtile.first_multiple} elements of {layout.element} or a multiple of "
            f"that into the tile; tensor cores and 16-byte accesses need multiples of {UNIT_BYTES} bytes"
        )
    return subtile
