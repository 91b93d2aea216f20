"""Accesses of whole vectors of a tile, at addresses that another program computes."""

from __future__ import annotations

from dataclasses import dataclass

from .fragment_access import has_contiguous_runs
from .modes import LayoutError
from .path import PathElement, slice_at
from .tile import Slice, TileLayout
from .uses import LayoutEvaluation, refusing


@dataclass(frozen=True)
class VectorUse:
    """A tile, or a subtile of it, whose rows or columns are accessed by vectors of up to 16 bytes.

    Attributes:
        what: the use in words.
        vector: (rows, columns) of a vector; one of them is 1.
        path: the path to the subtile.
    """

    what: str
    vector: tuple[int, int]
    path: tuple[PathElement, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        check_vectors(slice_at(layout, self.path), self.vector)
        return LayoutEvaluation(True, f"{_text(self.vector)} are contiguous")


def check_contiguous_vectors(layout: TileLayout, vector: tuple[int, int]) -> None:
    """Check that every vector of a tile that begins at a multiple of its length is contiguous.

    Raises:
        LayoutError: if one is not.
    """
    dim = int(vector[0] == 1)
    if max(vector) > 1 and not has_contiguous_runs(layout, dim, vector[dim]):
        raise LayoutError(f"{_text(vector)} are not contiguous in the layout {layout}")


def check_vectors(subtile: Slice, vector: tuple[int, int]) -> None:
    """Check that the vectors of a subtile are contiguous, and that it begins at a multiple of one.

    Raises:
        LayoutError: if it may not.
    """
    check_contiguous_vectors(subtile.layout, vector)
    if subtile.multiple % max(vector):
        raise LayoutError(
            f"the subtile begins {subtile.multiple} elements or a multiple of that into its tile; "
            f"vectors of {max(vector)} elements need multiples of {max(vector)}"
        )


def _text(vector: tuple[int, int]) -> str:
    return f"{max(vector)} elements of a {'column' if vector[0] > 1 else 'row'}"
