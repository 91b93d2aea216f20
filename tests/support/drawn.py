"""Read the cells of an SVG picture: their positions, from its geometry."""

from collections import defaultdict
from dataclasses import dataclass
from xml.etree import ElementTree

_NAMESPACE = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Drawn:
    """A cell: its position on the grid, its data and label; `row` is None if it has no element."""

    line: int
    position: int
    row: int | None
    column: int | None
    byte: int
    lane: int | None
    label: str | None
    fill: str


def read(text):
    """Return the cells of each panel of an SVG document."""
    root = ElementTree.fromstring(text)
    panels = {}
    for rect in root.iter(f"{_NAMESPACE}rect"):
        if "data-byte" in rect.attrib:
            panels.setdefault(int(rect.get("data-panel", "0")), []).append(rect)
    texts = [(int(t.get("x")), int(t.get("y")), t.text) for t in root.iter(f"{_NAMESPACE}text")]
    assert panels, "no cells"
    return [_panel(rects, texts) for _, rects in sorted(panels.items())]


def _panel(rects, texts):
    (width,), (height,) = ({_number(rect, name) for rect in rects} for name in ("width", "height"))
    left, top = (min(_number(rect, name) for rect in rects) for name in ("x", "y"))
    by_cell = defaultdict(list)
    for tx, ty, text in texts:
        by_cell[(ty - top) // height, (tx - left) // width].append(text)
    cells = []
    for rect in rects:
        x, y = _number(rect, "x"), _number(rect, "y")
        (line, line_rest), (position, position_rest) = (
            divmod(y - top, height),
            divmod(x - left, width),
        )
        assert not line_rest and not position_rest, "off the grid"
        inside = by_cell[line, position]
        lane = _number(rect, "data-lane")
        labels = [t for t in inside if not t.startswith("l")]
        assert len(labels) == ("data-row" in rect.attrib)
        lanes = [t for t in inside if t.startswith("l")]
        assert lanes in ([f"lane {lane}"], [f"line {lane}"]) if lane is not None else not lanes
        data = (_number(rect, f"data-{name}") for name in ("row", "column", "byte"))
        cells.append(
            Drawn(line, position, *data, lane, labels[0] if labels else None, rect.get("fill"))
        )
    return cells


def _number(rect, name):
    return int(rect.get(name)) if name in rect.attrib else None


def check_positions(cells, picture):
    """Assert that each cell is drawn, and labelled, at the offset of its element; return the number of
    cells with elements."""
    logical, extent = picture.view.value == "logical", picture.cells.extent
    layout = picture.cells.layout
    moved = picture.start or picture.base_offset
    offsets = None if moved else layout.offsets()
    size, first_line = picture.cells.size, picture.start // 128
    places = [(cell.line, cell.position) for cell in cells]
    assert len(set(places)) == len(places)
    filled = [cell for cell in cells if cell.row is not None]
    for cell in filled:
        if offsets is not None:
            byte = int(offsets[cell.row, cell.column])
        else:
            offset = int(layout.linear()[cell.row, cell.column]) * layout.element.bits // 8
            byte = layout.swizzle.apply(picture.start + offset, picture.base_offset)
        assert cell.byte == byte
        if logical:
            assert (cell.line, cell.position) == (cell.row // extent[0], cell.column // extent[1])
            assert cell.label == f"{byte:#x}"
        else:
            assert (cell.line + first_line) * 128 + cell.position * size == byte
            assert cell.label == f"{cell.row},{cell.column}"
    return len(filled)
