"""A copy from a tile to a tile, whose layouts are chosen one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .modes import LayoutError
from .path import Step, follow
from .tile import TileLayout
from .transfer import CONTIGUITY, Transfer
from .transposition import Relayout
from .uses import Evaluation, filled, refusing


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
            LayoutError: if nothing is contiguous in that, or its lines are no multiples of 16 bytes.
        """
        seen = source if self.permutation == (0, 1) else source.transposed()
        contiguous = seen.contiguous_dim
        if contiguous is None:
            raise LayoutError("the tile that is read is contiguous along no dimension")
        kind = Relayout if self.relayout else Transfer
        return kind(seen.element, seen.shape, contiguous, self.threads, source=seen)


@dataclass(frozen=True)
class TileCopyUse:
    """A tile, or a part of it, at one end of a copy from a tile to a tile.

    Attributes:
        copy: the copy.
        reads: whether this tile is the one that is read.
        other: the layout at the other end; None if it is chosen after this one.
        directions: along which of this tile's dimensions what is at the other end can be contiguous,
            as far as its other uses say; none if they allow nothing at all.
    """

    what: str
    copy: TileCopy
    reads: bool
    other: TileLayout | None
    directions: tuple[int, ...] = ()
    path: tuple[Step, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> Evaluation:
        subtile = follow(layout, self.path).layout
        if self.other is None:
            return self._evaluate_alone(subtile)
        source, target = (subtile, self.other) if self.reads else (self.other, subtile)
        return filled(target, self.copy.transfer(source))

    def _evaluate_alone(self, subtile: TileLayout) -> Evaluation:
        contiguous = subtile.contiguous_dim
        if contiguous is None:
            return Evaluation(False, "the tile is contiguous along no dimension")
        own = Transfer(subtile.element, subtile.shape, contiguous, self.copy.threads)
        transposed = bool(self.directions) and contiguous not in self.directions
        if transposed and not self.copy.relayout:
            return Evaluation(
                False,
                f"the tile is {CONTIGUITY[contiguous]}, but the other's uses want the same data "
                f"{CONTIGUITY[1 - contiguous]}; smem.copy with the unit attribute relayout "
                "transposes it",
            )
        evaluation = filled(subtile, own)
        return replace(evaluation, transposed=transposed)
