"""A picture of D in tensor memory: which rows and columns each warp of each block reaches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...layout.tcgen05.accumulator import BAND_ROWS, Accumulator
from .pictured import Pictured


@dataclass(frozen=True)
class Band:
    """Neighbouring rows of D on neighbouring lanes.

    Attributes:
        block: the block, by its rank in the pair.
        lane: the first lane.
        row: the first row.
        column: the first of the columns that lie there.
    """

    block: int
    lane: int
    row: int
    column: int


@dataclass(frozen=True)
class AccumulatorPicture(Pictured):
    """D of an instruction, as it lies in the tensor memory of each block."""

    accumulator: Accumulator

    @cached_property
    def bands(self) -> list[Band]:
        """D in bands of 16 lanes; each holds as many columns as D takes."""
        found: list[Band] = []
        shape, columns = self.accumulator.shape, self.accumulator.columns
        for row in range(0, shape.m, BAND_ROWS):
            for column in range(0, shape.n, columns):
                block, lane, _ = self.accumulator.place(row, column)
                found.append(Band(block, lane, row, column))
        return found

    @property
    def title(self) -> str:
        """What is shown, in one line."""
        shape = self.accumulator.shape
        return f"D of {shape}: layout {self.accumulator.letter}"
