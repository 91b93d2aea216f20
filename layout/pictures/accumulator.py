"""A picture of D in tensor memory: which rows and columns each warp of each block reaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..tcgen05.accumulator import BAND_ROWS, Accumulator
from .drawing import Drawing, Line, Rect, Shape, Text, side_by_side
from .panel import EMPTY, GRID, INK, PALETTE
from .svg import svg

#: Lanes of a block's tensor memory, and those that a warp reaches.
LANES, WARP_LANES = 128, 32

_LEFT, _TOP, _WIDTH, _HEIGHT, _RIGHT, _BELOW = 62, 84, 250, 26, 90, 14


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
class AccumulatorPicture:
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

    def drawing(self) -> Drawing:
        """The picture as shapes: the blocks side by side."""
        return side_by_side([self._block(i) for i in range(self.accumulator.shape.ctas)])

    def _block(self, block: int) -> Drawing:
        bottom = _TOP + LANES // BAND_ROWS * _HEIGHT
        shapes = (*self._axes(block), *self._cells(block), *self._warps())
        width, height = _LEFT + _WIDTH + _RIGHT, bottom + _BELOW
        return Drawing(width, height, self.title, shapes, 0, _TOP)

    def _axes(self, block: int) -> Iterator[Shape]:
        which = f"block {block} of the pair" if self.accumulator.shape.ctas == 2 else "the block"
        yield Text(14, 22, self.title, anchor="start", bold=True)
        yield Text(14, 40, f"tensor memory of {which}", anchor="start")
        yield Text(_LEFT - 6, _TOP - 10, "lane", anchor="end", fill=GRID)
        last = self.accumulator.columns - 1
        said = f"columns 0 to {last}"
        yield Text(_LEFT, _TOP - 10, said, anchor="start", fill=GRID)
        for lane in range(0, LANES, BAND_ROWS):
            middle = _TOP + lane // BAND_ROWS * _HEIGHT + _HEIGHT // 2
            yield Text(_LEFT - 6, middle, str(lane), anchor="end", fill=GRID)

    def _cells(self, block: int) -> Iterator[Shape]:
        held = {band.lane: band for band in self.bands if band.block == block}
        for lane in range(0, LANES, BAND_ROWS):
            y, band = _TOP + lane // BAND_ROWS * _HEIGHT, held.get(lane)
            if band is None:
                yield Rect(_LEFT, y, _WIDTH, _HEIGHT, EMPTY, GRID, data=(("lane", lane),))
                continue
            fill = PALETTE[band.row // BAND_ROWS % len(PALETTE)]
            data = (("lane", lane), ("row", band.row), ("column", band.column))
            yield Rect(_LEFT, y, _WIDTH, _HEIGHT, fill, GRID, data=data)
            last = band.column + self.accumulator.columns - 1
            said = f"m {band.row} to {band.row + BAND_ROWS - 1}, n {band.column} to {last}"
            yield Text(_LEFT + _WIDTH // 2, y + _HEIGHT // 2, said)

    def _warps(self) -> Iterator[Shape]:
        x = _LEFT + _WIDTH
        for warp in range(LANES // WARP_LANES):
            y = _TOP + warp * WARP_LANES // BAND_ROWS * _HEIGHT
            middle = y + WARP_LANES // BAND_ROWS * _HEIGHT // 2
            yield Line(_LEFT, y, x, y, INK)
            yield Text(x + 10, middle, f"warp {warp}", anchor="start")
        bottom = _TOP + LANES // BAND_ROWS * _HEIGHT
        yield Line(_LEFT, bottom, x, bottom, INK)

    def data(self) -> dict[str, Any]:
        """The picture for JSON; extents are (first, last)."""
        shape, columns = self.accumulator.shape, self.accumulator.columns
        return {
            "m": shape.m,
            "n": shape.n,
            "ctas": shape.ctas,
            "layout": self.accumulator.letter,
            "columns": columns,
            "bands": [
                {
                    "block": band.block,
                    "lanes": [band.lane, band.lane + BAND_ROWS - 1],
                    "m": [band.row, band.row + BAND_ROWS - 1],
                    "n": [band.column, band.column + columns - 1],
                }
                for band in self.bands
            ],
        }

    def _repr_svg_(self) -> str:
        return svg(self.drawing())
