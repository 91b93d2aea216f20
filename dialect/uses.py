"""The interface between ops that access tiles and the pass that assigns layouts."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ..bindings.irtypes import Op, Value
from ..layout import PathElement, TileLayout
from ..layout.arch import Arch


class OtherEnd(NamedTuple):
    """The other tile of a copy from a tile to a tile.

    Attributes:
        layout: its layout; None if it is not assigned yet.
        directions: the dimensions (0 for rows) that can be contiguous in an unassigned layout.
    """

    layout: TileLayout | None
    directions: Sequence[int] = ()


class Chooser(Protocol):
    """The pass that assigns layouts, as `use_of` of an op queries it."""

    arch: Arch

    def threads(self, op: Op) -> int:
        """The number of threads of the CTA that executes an op."""
        ...

    def ctas_along(self, op: Op, dim: str | None) -> int:
        """The number of CTAs of the cluster along "x" or "y" for an op; 1 for None."""
        ...

    def other_end(self, op: Op, tile: Value) -> OtherEnd | None:
        """The tile that an op copies from or to; None if its layout is not to be constrained."""
        ...


#: The path elements (stages and subtiles) from the tile of an allocation to the tile that an op uses.
Path = tuple[PathElement, ...]
