"""A copy from a tile to a tile, whose layouts are chosen one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from .modes import LayoutError
from .tile import TileLayout
from .transfer import Transfer
from .transposition import Relayout


@dataclass(frozen=True)
class TileCopy:
    """What is known of such a copy without the layouts.

    Attributes:
        permutation: for each dimension of the tile that is written, the one of the tile that is read
            that it is.
        relayout: whether the copy may change which dimension is contiguous.
        threads: threads that take part.
    """

    permutation: tuple[int, ...]
    relayout: bool
    threads: int

    def transfer(self, source: TileLayout) -> Transfer | Relayout:
        """What it asks of the layout of the tile that is written, by that of the one that is read.

        Raises:
            LayoutError: if that is no matrix, or cannot be read 16 bytes at a time.
        """
        if len(source.shape) != 2:
            raise LayoutError(f"a tile of rank {len(source.shape)} is copied one stage at a time")
        seen = source if self.permutation == (0, 1) else source.transposed()
        contiguous = seen.contiguous_dim
        if contiguous is None:
            raise LayoutError("the tile that is read is contiguous along no dimension")
        kind = Relayout if self.relayout else Transfer
        return kind(seen.element, seen.shape, contiguous, self.threads, source=seen)
