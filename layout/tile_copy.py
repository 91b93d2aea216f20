"""A copy from a tile to a tile; their layouts are chosen one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .modes import LayoutError
from .path import PathElement, follow
from .tile import TileLayout
from .transfer import CONTIGUITY, Transfer
from .transposition import Relayout
from .uses import LayoutEvaluation, evaluate_copy, refusing


@dataclass(frozen=True)
class TileCopy:
    """A copy from a tile to a tile, without their layouts.

    Attributes:
        permutation: for each dimension of the tile that is written, that of the tile that is read.
        relayout: whether the copy may change which dimension is contiguous.
        threads: the number of threads that execute it.

    Example:
        >>> row_major = tile_of_atoms(element("bf16"), (64, 64), 1, Swizzle.B128)
        >>> TileCopy(permutation=(1, 0), relayout=False, threads=128).transfer(row_major).contiguous
        0
    """

    permutation: tuple[int, ...]
    relayout: bool
    threads: int

    def transfer(self, source: TileLayout) -> Transfer | Relayout:
        """Return the transfer from a tile with that layout to the tile that is written.

        Raises:
            LayoutError: if the tile that is read is contiguous along no dimension, or its lines are not
                multiples of 16 bytes.
        """
        seen = source if self.permutation == (0, 1) else source.transposed()
        contiguous = seen.contiguous_dim
        if contiguous is None:
            raise LayoutError("the tile that is read is contiguous along no dimension")
        transfer = Relayout if self.relayout else Transfer
        return transfer(seen.element, seen.shape, contiguous, self.threads, source=seen)


@dataclass(frozen=True)
class TileCopyUse:
    """A tile, or a subtile of it, at one end of a copy from a tile to a tile.

    Attributes:
        what: the use in words.
        copy: the copy.
        reads: whether this tile is the one that is read.
        other: the layout at the other end; None if it is chosen after this one.
        directions: the dimensions, of this tile, along which the data at the other end may be contiguous
            for its other uses; empty if they accept none.
        path: the path to the subtile.

    Example:
        >>> row_major = tile_of_atoms(element("bf16"), (64, 64), 1, Swizzle.B128)
        >>> copy = TileCopy(permutation=(1, 0), relayout=False, threads=128)
        >>> use = TileCopyUse("a transposing copy", copy, reads=False, other=row_major)
        >>> choose(element("bf16"), (64, 64), [use]).picked.layout.cute
        'Swizzle<3,4,3> o (64,64):(1,64)'
    """

    what: str
    copy: TileCopy
    reads: bool
    other: TileLayout | None
    directions: tuple[int, ...] = ()
    path: tuple[PathElement, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        subtile = follow(layout, self.path).layout
        if self.other is None:
            return self._evaluate_alone(subtile)
        source, target = (subtile, self.other) if self.reads else (self.other, subtile)
        return evaluate_copy(target, self.copy.transfer(source))

    def _evaluate_alone(self, subtile: TileLayout) -> LayoutEvaluation:
        contiguous = subtile.contiguous_dim
        if contiguous is None:
            return LayoutEvaluation(False, "the tile is contiguous along no dimension")
        transfer = Transfer(subtile.element, subtile.shape, contiguous, self.copy.threads)
        transposed = bool(self.directions) and contiguous not in self.directions
        if transposed and not self.copy.relayout:
            return LayoutEvaluation(
                False,
                f"the tile is {CONTIGUITY[contiguous]}, but the uses of the other tile need the same "
                f"data {CONTIGUITY[1 - contiguous]}; smem.copy with the unit attribute relayout "
                "transposes it",
            )
        evaluation = evaluate_copy(subtile, transfer)
        return replace(evaluation, transposed=transposed)
