"""D in tensor memory: its picture as JSON data."""

from __future__ import annotations

from typing import Any

from ...layout.tcgen05.accumulator import BAND_ROWS
from ..answer import data
from ..pictures import AccumulatorPicture


@data.register
def _(picture: AccumulatorPicture) -> dict[str, Any]:
    """Ranges are [first, last]."""
    shape, columns = picture.accumulator.shape, picture.accumulator.columns
    return {
        "m": shape.m,
        "n": shape.n,
        "ctas": shape.ctas,
        "layout": picture.accumulator.letter,
        "columns": columns,
        "bands": [
            {
                "cta": band.cta,
                "lanes": [band.lane, band.lane + BAND_ROWS - 1],
                "m": [band.row, band.row + BAND_ROWS - 1],
                "n": [band.column, band.column + columns - 1],
            }
            for band in picture.bands
        ],
    }
