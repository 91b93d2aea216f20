"""Renderers: what is in a drawing is in the file."""

import builtins
import io
from xml.etree import ElementTree

import pytest

from mlir_smem.advisor.pictures import Drawing, Line, Rect, Text, side_by_side, svg
from mlir_smem.layout import LayoutError

RED = Rect(10, 20, 30, 40, "#ff0000", "#000000", data=(("row", 3),))
DRAWING = Drawing(
    100,
    80,
    "a < b",
    (RED, Line(50, 10, 50, 70, "#0000ff", 2), Text(70, 30, "<&>", bold=True)),
    head=20,
    top=30,
)


def test_svg_is_well_formed_and_has_a_title():
    root = ElementTree.fromstring(svg(DRAWING))
    kinds = [child.tag.split("}")[1] for child in root]
    assert kinds == ["title", "defs", "path", "rect", "path", "text"]
    assert root[0].text == "a < b"
    assert root[3].attrib == {
        "x": "10",
        "y": "20",
        "width": "30",
        "height": "40",
        "fill": "#ff0000",
        "stroke": "#000000",
        "data-row": "3",
    }
    assert root[5].text == "<&>" and root[5].get("font-weight") == "bold"


def test_drawings_side_by_side_are_aligned_at_their_tops():
    other = Drawing(50, 60, "c", (Text(5, 30, "above"), RED), head=25, top=55)
    both = side_by_side([DRAWING, other])
    assert both.title == "a < b | c"
    assert (both.width, both.height) == (100 + 36 + 50, 105)
    left, line, text, title, right = both.shapes
    assert isinstance(left, Rect) and isinstance(right, Rect)
    assert (left.x, left.y, left.data) == (10, 45, (("row", 3), ("panel", 0)))
    assert (right.x, right.y, right.data) == (146, 20, (("row", 3), ("panel", 1)))
    # What stands above the top stays there.
    assert line == Line(50, 10, 50, 70, "#0000ff", 2)
    assert isinstance(text, Text) and (text.x, text.y) == (70, 55)
    assert isinstance(title, Text) and (title.x, title.y) == (141, 30)


def test_png_has_the_colours_where_the_drawing_has_them():
    image_module = pytest.importorskip("PIL.Image")
    from mlir_smem.advisor.pictures.png import png

    image = image_module.open(io.BytesIO(png(DRAWING)))
    assert image.size == (200, 160)
    assert image.getpixel((50, 80)) == (255, 0, 0)
    assert image.getpixel((100, 100)) == (0, 0, 255)
    assert image.getpixel((190, 150)) == (255, 255, 255)
    letters = image.crop((120, 40, 160, 80)).convert("L").getextrema()
    assert letters[0] < 100


@pytest.mark.parametrize("ends", [(50, 10, 50, 70), (10, 40, 90, 40)])
def test_arrows_have_heads_at_both_ends(ends):
    image_module = pytest.importorskip("PIL.Image")
    from mlir_smem.advisor.pictures.png import png

    line = Line(*ends, "#0000ff", 1, arrows=True)
    image = image_module.open(io.BytesIO(png(Drawing(100, 80, "", (line,)))))
    wide = [
        sum(p != (255, 255, 255) for p in _across(image, ends, fraction))
        for fraction in (0.1, 0.5, 0.9)
    ]
    assert wide[1] <= 4 < min(wide[0], wide[2])
    assert svg(Drawing(100, 80, "", (line,))).count("url(#head)") == 2


def _across(image, ends, fraction):
    """The pixels of a line across an arrow, at a part of its length."""
    x1, y1, x2, y2 = (2 * end for end in ends)
    if x1 == x2:
        y = round(y1 + (y2 - y1) * fraction)
        return [image.getpixel((x, y)) for x in range(image.width)]
    x = round(x1 + (x2 - x1) * fraction)
    return [image.getpixel((x, y)) for y in range(image.height)]


def test_without_pillow_the_extra_is_named(monkeypatch):
    from mlir_smem.advisor.pictures.png import png

    real = builtins.__import__

    def without(name, *arguments, **named):
        if name.split(".")[0] == "PIL":
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LayoutError, match=r"pip install 'mlir-smem\[png\]', or write \.svg"):
        png(DRAWING)


def test_a_png_has_a_maximum_size():
    pytest.importorskip("PIL")
    from mlir_smem.advisor.pictures.png import png

    with pytest.raises(
        LayoutError, match="a PNG of 20000x10000 pixels; expected at most 134217728"
    ):
        png(Drawing(10000, 5000, "", ()))
