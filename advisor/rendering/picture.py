"""A picture of a layout as JSON data: its sentences, and every cell of the tile, drawn or not."""

from __future__ import annotations

from typing import Any

from ...layout.banks import BANK_BYTES
from ..answer import data
from ..pictures import Picture
from ..pictures.cells import LINE_BYTES


@data.register
def _(picture: Picture) -> dict[str, Any]:
    cells, accessed = picture.cells, picture.touched
    access = accessed and {
        "what": accessed.sentence,
        "touched_by": accessed.lane_name,
        "wavefronts": accessed.access and accessed.access.wavefronts,
        "ideal_wavefronts": accessed.access and accessed.access.ideal,
    }
    return {
        "layout": str(picture.layout),
        "element": str(picture.layout.element),
        "title": picture.title,
        "notes": picture.notes,
        "cell": {"rows": cells.extent[0], "columns": cells.extent[1], "bytes": cells.size},
        "access": access,
        "strides": {
            stride.name: {"bytes": stride.size, "to": stride.to}
            for stride in picture.descriptor_strides
        },
        "cells": _cells(picture),
    }


def _cells(picture: Picture) -> list[dict[str, int]]:
    """Return every cell of the tile: the position of its first element, and the lane that accesses it."""
    cells, accessed = picture.cells, picture.touched
    all_cells: list[dict[str, int]] = []
    positions = (array.tolist() for array in (*cells.first, cells.address))
    for row, column, address in zip(*positions, strict=True):
        cell = {"row": row, "column": column, "byte": address}
        cell |= {"line": address // LINE_BYTES, "bank": address % LINE_BYTES // BANK_BYTES}
        if accessed and accessed.lane[row, column] >= 0:
            cell["touched_by"] = int(accessed.lane[row, column])
        all_cells.append(cell)
    return all_cells
