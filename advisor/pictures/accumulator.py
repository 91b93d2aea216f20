"""A picture of D in tensor memory: the rows and columns that each warp of each CTA can access."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...layout.tcgen05.accumulator import BAND_ROWS, AccumulatorLayout
from .picture_base import PictureBase


@dataclass(frozen=True)
class Band:
    """Consecutive rows of D in consecutive lanes.

    Attributes:
        cta: rank of the CTA in the pair.
        lane: the first lane.
        row: the first row.
        column: the first column of D in these lanes.
    """

    cta: int
    lane: int
    row: int
    column: int


@dataclass(frozen=True)
class AccumulatorPicture(PictureBase):
    """D of an instruction in the tensor memory of each CTA."""

    accumulator: AccumulatorLayout

    @cached_property
    def bands(self) -> list[Band]:
        """D in bands of 16 lanes; each has all columns that D takes in tensor memory."""
        bands: list[Band] = []
        shape, columns = self.accumulator.shape, self.accumulator.columns
        for row in range(0, shape.m, BAND_ROWS):
            for column in range(0, shape.n, columns):
                cta, lane, _ = self.accumulator.place(row, column)
                bands.append(Band(cta, lane, row, column))
        return bands

    @property
    def title(self) -> str:
        """The title, one line."""
        shape = self.accumulator.shape
        return f"D of {shape}: layout {self.accumulator.letter}"
