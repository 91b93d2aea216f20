"""The grid of a picture: the place of each cell, and the cells that are cut off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .cells import LINE_BYTES, Outline, TileCells, View

#: Maximum number of columns of a logical view; a line of memory is always complete.
MOST_COLUMNS = 64


@dataclass(frozen=True)
class CellGrid:
    """The cells in one view.

    Attributes:
        cells: the tile's cells.
        view: memory or logical.
        lines: maximum number of lines.
    """

    cells: TileCells
    view: View
    lines: int

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """(line, column) of each cell on the grid: int64[cells] each."""
        cells = self.cells
        if self.view is View.LOGICAL:
            return cells.first[0] // cells.extent[0], cells.first[1] // cells.extent[1]
        line, byte = np.divmod(cells.address, LINE_BYTES)
        return line - self.first_line, byte // cells.size

    @property
    def first_line(self) -> int:
        """The line of memory that is drawn first, in units of 128 bytes."""
        return self.cells.start // LINE_BYTES if self.view is View.MEMORY else 0

    @cached_property
    def full_size(self) -> tuple[int, int]:
        """Lines and columns of the whole tile."""
        if self.view is View.LOGICAL:
            return self.cells.grid
        return int(self.positions[0].max()) + 1, LINE_BYTES // self.cells.size

    @property
    def drawn_size(self) -> tuple[int, int]:
        """Lines and columns that are drawn."""
        lines, columns = self.full_size
        most = MOST_COLUMNS if self.view is View.LOGICAL else columns
        return min(lines, self.lines), min(columns, most)

    @cached_property
    def drawn_cells(self) -> np.ndarray:
        """The cells that are drawn, by their index: int64[drawn]."""
        lines, columns = self.drawn_size
        return np.flatnonzero((self.positions[0] < lines) & (self.positions[1] < columns))

    @property
    def cut_note(self) -> str | None:
        """The part of the tile that is drawn, in words; None if all of it is."""
        parts = []
        (lines, columns), (all_lines, all_columns) = self.drawn_size, self.full_size
        rows_of, columns_of = self.cells.extent
        if self.view is View.MEMORY:
            if lines < all_lines:
                parts.append(f"the first {lines} of {all_lines} lines")
        else:
            rows, all_columns_of = self.cells.layout.shape
            if lines < all_lines:
                parts.append(f"rows 0 to {lines * rows_of - 1} of {rows}")
            if columns < all_columns:
                parts.append(f"columns 0 to {columns * columns_of - 1} of {all_columns_of}")
        return f"only {' and '.join(parts)} shown" if parts else None

    def labels(self) -> list[str]:
        """Return the label of each cell that is drawn."""
        if self.view is View.LOGICAL:
            return [f"{int(a):#x}" for a in self.cells.address[self.drawn_cells]]
        row, column = (first[self.drawn_cells] for first in self.cells.first)
        return [f"{r},{c}" for r, c in zip(row.tolist(), column.tolist(), strict=True)]

    def byte_at(self, line: int, column: int) -> int:
        """Return the byte address of a place of the memory view."""
        return (self.first_line + line) * LINE_BYTES + column * self.cells.size

    def line_names(self) -> list[str]:
        """Return the name of each line, at its left."""
        lines = range(self.drawn_size[0])
        if self.view is View.MEMORY:
            return [f"{self.byte_at(line, 0):#x}" for line in lines]
        return [str(line * self.cells.extent[0]) for line in lines]

    def column_names(self) -> list[str]:
        """Return the name of each column, above it."""
        columns = range(self.drawn_size[1])
        if self.view is View.LOGICAL:
            return [str(column * self.cells.extent[1]) for column in columns]
        size = self.cells.size
        if size > 4:
            return [f"{c * size // 4}-{((c + 1) * size - 1) // 4}" for c in columns]
        return [str(c * size // 4) if c * size % 4 == 0 else "" for c in columns]

    def axes(self) -> tuple[str, str]:
        """Return the titles of the line names and of the column names."""
        return ("byte", "bank") if self.view is View.MEMORY else ("row", "column")

    def outline_indices(self, outline: Outline) -> np.ndarray:
        """Return the index of the outlined subtile at each place: int64[lines, columns]; -1 for none."""
        rows, columns = self.cells.outline_extent(outline)
        row, column = (first[self.drawn_cells] for first in self.cells.first)
        ids = np.full(self.drawn_size, -1, np.int64)
        line, position = (positions[self.drawn_cells] for positions in self.positions)
        across = -(-self.cells.layout.shape[1] // columns)
        ids[line, position] = row // rows * across + column // columns
        return ids
