"""What an op that touches tiles says to the choice of their layouts."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..layout import Step, TileLayout
from ..layout.arch import Arch


class OtherEnd(NamedTuple):
    """What is known of the tile at the other end of a copy from a tile to a tile.

    Attributes:
        layout: its layout; None while it is open.
        directions: the dimensions (0 for rows) along which an open one can be contiguous.
    """

    layout: TileLayout | None
    directions: Sequence[int] = ()


class Chooser(Protocol):
    """The pass that chooses layouts, as far as an op asks it."""

    arch: Arch

    def threads(self, op: Any) -> int:
        """Threads of the block that executes an op."""
        ...

    def blocks_along(self, op: Any, dim: str | None) -> int:
        """Blocks of the cluster along "x" or "y" around an op; 1 for None."""
        ...

    def other_end(self, op: Any, tile: Any) -> OtherEnd | None:
        """What is known of a tile that an op copies from or to; None if nothing shall be asked of it."""
        ...


#: The steps from a root's tile to the part that an op touches.
Path = tuple[Step, ...]
