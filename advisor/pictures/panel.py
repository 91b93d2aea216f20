"""The drawing of a picture: its title, axes, cells, outlines, brackets and legend."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from .drawing import Drawing, DrawnShape, Line, Rect, Text
from .picture import Picture
from .picture_base import drawing
from .strides import Stride

#: Pastels that colour-blind readers can distinguish, also next to each other.
PALETTE = (
    "#9ecae9",
    "#fdc086",
    "#a6dba0",
    "#f4b6c9",
    "#c2b5e3",
    "#fff2a1",
    "#8fd3c7",
    "#d8c0a3",
)
INK, GRID, FADED, EMPTY = "#222222", "#8a8a8a", "#f6f6f6", "#e4e4e4"
BAD, GOOD, PALE = "#b3261e", "#1b6e3c", "#9a9a9a"

_MARGIN = 14
_CELL_HEIGHT = 24
_LANE_HEIGHT = 34
_TEXT_LINE = 17
_BRACKET = 22
_LEAST_WIDTH = 440
#: Maximum width of a character as a fraction of the font size.
_WIDE = 0.66


@drawing.register
def _(picture: Picture) -> Drawing:
    return _Panel(picture).drawing()


class _Panel:
    """The dimensions of a picture in pixels, and its shapes."""

    def __init__(self, picture: Picture):
        self.picture, self.grid = picture, picture.grid
        self.lines, self.columns = self.grid.drawn_size
        self.labels = self.grid.labels()
        self.lane_name = picture.touched.lane_name if picture.touched else ""
        self.height = _LANE_HEIGHT if self.lane_name else _CELL_HEIGHT
        self.label_size = 10 if self.grid.cells.size < 16 else 11
        names = [*self.labels, *self.grid.column_names()]
        self.width = 8 + max(_wide(name, self.label_size) for name in names)
        names = [*self.grid.line_names(), self.grid.axes()[0]]
        self.left = _MARGIN + 8 + max(map(_wide, names))
        self.right = self.left + self.columns * self.width
        self.across = [stride for stride in picture.descriptor_strides if self._end(stride)[0] == 0]
        # The longest bracket is next to the cells, so that no bracket crosses the label of another.
        down = [stride for stride in picture.descriptor_strides if self._end(stride)[0] > 0]
        self.down = sorted(down, key=lambda stride: -self._end(stride)[0])
        self.shades = self._shades()
        self.total = self._total()
        self.head = self._head()
        self.above = _MARGIN + len(self.head) * _TEXT_LINE
        self.top = self.above + 44 + _BRACKET * len(self.across)
        self.bottom = self.top + self.lines * self.height

    def _total(self) -> int:
        """Return the width of the drawing."""
        legend = self.left + _wide(self._shade_title) + 10 + sum(w for _, _, w in self.shades)
        labels = max((_wide(str(stride)) for stride in self.down), default=0)
        above = [self.left + self._end(s)[1] * self.width + 7 + _wide(str(s)) for s in self.across]
        brackets = self.right + len(self.down) * _BRACKET + labels
        return max(_LEAST_WIDTH, _MARGIN + max(legend, brackets, *above))

    def drawing(self) -> Drawing:
        """Return all shapes; outlines, brackets and the legend are drawn over the cells."""
        shapes = [
            *self._title(),
            *self._axes(),
            *self._cells(),
            *self._outlines(),
            *self._brackets(),
            *self._legend(),
        ]
        height = self.bottom + 44
        return Drawing(self.total, height, self.picture.title, tuple(shapes), self.above, self.top)

    def _head(self) -> list[tuple[str, str, bool]]:
        """Return the lines of the title: text, colour, and whether it is bold."""
        accessed = self.picture.touched
        sentences = [(self.picture.title, INK, True)]
        if accessed:
            colour = INK if accessed.access is None else BAD if accessed.access.conflicts else GOOD
            sentences.append((accessed.sentence, colour, True))
        sentences += [(note, BAD if "(red)" in note else INK, False) for note in self.picture.notes]
        lines = []
        for text, colour, bold in sentences:
            chars = int((self.total - 2 * _MARGIN) / (11 * (_WIDE if bold else 0.58)))
            lines += [(line, colour, bold) for line in textwrap.wrap(text, chars)]
        return lines

    def _title(self) -> Iterator[DrawnShape]:
        for i, (text, colour, bold) in enumerate(self.head):
            y = _MARGIN + i * _TEXT_LINE + _TEXT_LINE // 2
            yield Text(_MARGIN, y, text, anchor="start", fill=colour, bold=bold)

    def _axes(self) -> Iterator[DrawnShape]:
        down, across = self.grid.axes()
        y = self.top - 10
        yield Text(self.left - 6, y, down, anchor="end", fill=GRID)
        yield Text(self.left, y - 16, across, anchor="start", fill=GRID)
        for column, name in enumerate(self.grid.column_names()):
            yield Text(self.left + column * self.width + self.width // 2, y, name, fill=GRID)
        for line, name in enumerate(self.grid.line_names()):
            middle = self.top + line * self.height + self.height // 2
            yield Text(self.left - 6, middle, name, anchor="end", fill=GRID)

    def _cells(self) -> Iterator[DrawnShape]:
        cells, accessed, drawn = self.grid.cells, self.picture.touched, self.grid.drawn_cells
        line, column = (positions[drawn].tolist() for positions in self.grid.positions)
        shade = cells.shade(self.picture.color)[drawn].tolist()
        first = [first[drawn].tolist() for first in cells.first]
        address = cells.address[drawn].tolist()
        cell_at: dict[tuple[int, int], int] = {}
        for i, position in enumerate(zip(line, column, strict=True)):
            cell_at.setdefault(position, i)
        overlaps = len(cell_at) < len(drawn)
        counts = np.zeros(self.grid.drawn_size, np.int64)
        np.add.at(counts, (line, column), 1)
        for position in np.ndindex(self.grid.drawn_size):
            i = cell_at.get(position)
            x, y = self.left + position[1] * self.width, self.top + position[0] * self.height
            if i is None:
                data = (("byte", self.grid.byte_at(*position)),)
                yield Rect(x, y, self.width, self.height, EMPTY, GRID, data=data)
                continue
            lane = -1 if accessed is None else int(accessed.lane[first[0][i], first[1][i]])
            faded = accessed is not None and lane < 0
            data = (("row", first[0][i]), ("column", first[1][i]), ("byte", address[i]))
            if self.lane_name and not faded:
                data = (*data, ("lane", lane))
            fill = FADED if faded else PALETTE[shade[i]]
            yield Rect(x, y, self.width, self.height, fill, GRID, data=data)
            ink = BAD if overlaps and counts[position] > 1 else PALE if faded else INK
            middle = y + self.height // 2
            if self.lane_name and not faded:
                lane_label = f"{self.lane_name} {lane}"
                yield Text(x + self.width // 2, middle + 8, lane_label, 9, fill="#555555")
                middle -= 6
            label = self.labels[i]
            yield Text(x + self.width // 2, middle, label, self.label_size, fill=ink)

    def _outlines(self) -> Iterator[DrawnShape]:
        ids = self.grid.outline_indices(self.picture.outline)
        framed = np.pad(ids, 1, constant_values=-1)
        # Between each line and the next, then between each column and the next.
        below = framed[:-1, 1:-1] != framed[1:, 1:-1]
        right = framed[1:-1, :-1] != framed[1:-1, 1:]
        for line, edge in enumerate(below):
            for begin, end in _runs(edge):
                y = self.top + line * self.height
                x1, x2 = (self.left + position * self.width for position in (begin, end))
                yield Line(x1, y, x2, y, INK)
        for column, edge in enumerate(right.T):
            for begin, end in _runs(edge):
                x = self.left + column * self.width
                y1, y2 = (self.top + position * self.height for position in (begin, end))
                yield Line(x, y1, x, y2, INK)

    def _end(self, stride: Stride) -> tuple[int, int]:
        """Return the lines and columns of the grid from the first cell to the end of a stride."""
        cells, grid = self.grid.cells, self.grid
        index = (stride.to[0] // cells.extent[0]) * cells.grid[1] + stride.to[1] // cells.extent[1]
        line, column = (int(place[index]) for place in grid.positions)
        return line - int(grid.positions[0][0]), column - int(grid.positions[1][0])

    def _brackets(self) -> Iterator[DrawnShape]:
        ends = [min(self.top + self._end(s)[0] * self.height, self.bottom) for s in self.down]
        for i, (stride, y, above) in enumerate(
            zip(self.down, ends, [*ends, self.top][1:], strict=True)
        ):
            x = self.right + (i + 1) * _BRACKET - 8
            yield Line(x, self.top, x, y, INK, 1, arrows=True)
            yield Line(self.right + 2, y, x + 4, y, GRID, 1)
            yield Text(x + 7, (above + y) // 2, str(stride), anchor="start", bold=True)
        for i, stride in enumerate(self.across):
            y = self.top - 38 - i * _BRACKET
            x1 = self.left
            x2 = min(self.left + self._end(stride)[1] * self.width, self.right)
            yield Line(x1, y, x2, y, INK, 1, arrows=True)
            yield Line(x2, y - 4, x2, self.top - 2, GRID, 1)
            yield Text(x2 + 7, y, str(stride), anchor="start", bold=True)

    @property
    def _shade_title(self) -> str:
        return self.grid.cells.shade_title(self.picture.color)

    def _shades(self) -> list[tuple[str, str, int]]:
        """Return the colours that are used, each with its name and the width of its swatch."""
        cells, color, accessed = self.grid.cells, self.picture.color, self.picture.touched
        drawn = self.grid.drawn_cells
        if accessed:
            drawn = drawn[accessed.lane[cells.first[0][drawn], cells.first[1][drawn]] >= 0]
        used = set(cells.shade(color)[drawn].tolist())
        names = cells.shade_names(color)
        return [(PALETTE[i], names[i], 16 + _wide(names[i], 9)) for i in sorted(used)]

    def _legend(self) -> Iterator[DrawnShape]:
        y = self.bottom + 22
        yield Text(self.left, y, self._shade_title, anchor="start", fill=GRID)
        x = self.left + 10 + _wide(self._shade_title)
        for fill, name, width in self.shades:
            yield Rect(x, y - 9, width, 18, fill, GRID)
            yield Text(x + width // 2, y, name, 9)
            x += width


def _wide(text: str, size: int = 11) -> int:
    """Return the maximum width of a text."""
    return int(len(text) * size * _WIDE)


def _runs(edge: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each run of true values."""
    changes = np.flatnonzero(np.diff(np.concatenate(([False], edge, [False])).astype(np.int8)))
    yield from zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)
