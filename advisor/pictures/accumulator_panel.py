"""The drawing of D in tensor memory: the CTAs side by side, each with its lanes, bands and warps."""

from __future__ import annotations

from collections.abc import Iterator

from ...layout.tcgen05.accumulator import BAND_ROWS
from .accumulator import AccumulatorPicture
from .drawing import Drawing, DrawnShape, Line, Rect, Text, side_by_side
from .panel import EMPTY, GRID, INK, PALETTE
from .picture_base import drawing

#: Lanes of a CTA's tensor memory, and lanes that a warp can access.
LANES, WARP_LANES = 128, 32

_LEFT, _TOP, _WIDTH, _HEIGHT, _RIGHT, _BELOW = 62, 84, 250, 26, 90, 14


@drawing.register
def _(picture: AccumulatorPicture) -> Drawing:
    return side_by_side([_cta(picture, i) for i in range(picture.accumulator.shape.ctas)])


def _cta(picture: AccumulatorPicture, cta: int) -> Drawing:
    bottom = _TOP + LANES // BAND_ROWS * _HEIGHT
    shapes = (*_axes(picture, cta), *_cells(picture, cta), *_warps())
    width, height = _LEFT + _WIDTH + _RIGHT, bottom + _BELOW
    return Drawing(width, height, picture.title, shapes, 0, _TOP)


def _axes(picture: AccumulatorPicture, cta: int) -> Iterator[DrawnShape]:
    which = f"CTA {cta} of the pair" if picture.accumulator.shape.ctas == 2 else "the CTA"
    yield Text(14, 22, picture.title, anchor="start", bold=True)
    yield Text(14, 40, f"tensor memory of {which}", anchor="start")
    yield Text(_LEFT - 6, _TOP - 10, "lane", anchor="end", fill=GRID)
    last = picture.accumulator.columns - 1
    yield Text(_LEFT, _TOP - 10, f"columns 0 to {last}", anchor="start", fill=GRID)
    for lane in range(0, LANES, BAND_ROWS):
        middle = _TOP + lane // BAND_ROWS * _HEIGHT + _HEIGHT // 2
        yield Text(_LEFT - 6, middle, str(lane), anchor="end", fill=GRID)


def _cells(picture: AccumulatorPicture, cta: int) -> Iterator[DrawnShape]:
    band_at = {band.lane: band for band in picture.bands if band.cta == cta}
    for lane in range(0, LANES, BAND_ROWS):
        y, band = _TOP + lane // BAND_ROWS * _HEIGHT, band_at.get(lane)
        if band is None:
            yield Rect(_LEFT, y, _WIDTH, _HEIGHT, EMPTY, GRID, data=(("lane", lane),))
            continue
        fill = PALETTE[band.row // BAND_ROWS % len(PALETTE)]
        data = (("lane", lane), ("row", band.row), ("column", band.column))
        yield Rect(_LEFT, y, _WIDTH, _HEIGHT, fill, GRID, data=data)
        last = band.column + picture.accumulator.columns - 1
        label = f"m {band.row} to {band.row + BAND_ROWS - 1}, n {band.column} to {last}"
        yield Text(_LEFT + _WIDTH // 2, y + _HEIGHT // 2, label)


def _warps() -> Iterator[DrawnShape]:
    x = _LEFT + _WIDTH
    for warp in range(LANES // WARP_LANES):
        y = _TOP + warp * WARP_LANES // BAND_ROWS * _HEIGHT
        middle = y + WARP_LANES // BAND_ROWS * _HEIGHT // 2
        yield Line(_LEFT, y, x, y, INK)
        yield Text(x + 10, middle, f"warp {warp}", anchor="start")
    bottom = _TOP + LANES // BAND_ROWS * _HEIGHT
    yield Line(_LEFT, bottom, x, bottom, INK)
