"""Drawings as PNG, with Pillow (the extra `png`)."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import Any

from ...layout.modes import LayoutError
from .drawing import Drawing, Line, Rect, Text

#: Pixels of the file per pixel of the drawing, for dense screens.
_SCALE = 2

#: Maximum number of pixels of a file: few programs open larger ones. A pixel takes 3 bytes of memory
#: here.
_MOST = 1 << 27

_ANCHORS = {"start": "lm", "middle": "mm", "end": "rm"}

#: Length, and half the width, of an arrow head.
_HEAD = (9, 4)


def png(drawing: Drawing) -> bytes:
    """Return the drawing as a PNG file, with `_SCALE` pixels per pixel of the drawing.

    Raises:
        LayoutError: if Pillow is not installed, or the drawing is too large for a PNG.
    """
    width, height = drawing.width * _SCALE, drawing.height * _SCALE
    if width * height > _MOST:
        raise LayoutError(
            f"a PNG of {width}x{height} pixels; expected at most {_MOST} in all: draw fewer lines "
            "(--lines), leave out --elements, or write .svg"
        )
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise LayoutError(
            "PNG needs Pillow, which is not installed: pip install 'mlir-smem[png]', or write .svg"
        ) from None
    image = Image.new("RGB", (width, height), "#ffffff")
    canvas = ImageDraw.Draw(image)
    font_of = cache(ImageFont.load_default)
    for shape in drawing.shapes:
        if isinstance(shape, Rect):
            left, top = shape.x * _SCALE, shape.y * _SCALE
            right, bottom = left + shape.width * _SCALE, top + shape.height * _SCALE
            weight = shape.weight * _SCALE
            canvas.rectangle((left, top, right, bottom), shape.fill, shape.stroke, weight)
        elif isinstance(shape, Line):
            _line(canvas, shape)
        else:
            _text(canvas, shape, font_of(shape.size * _SCALE))
    file = BytesIO()
    # Cells compress well at any level; Pillow's default level takes four times as long.
    image.save(file, "png", compress_level=3)
    return file.getvalue()


def _line(canvas: Any, line: Line) -> None:
    ends = [(line.x1 * _SCALE, line.y1 * _SCALE), (line.x2 * _SCALE, line.y2 * _SCALE)]
    canvas.line(ends, line.stroke, line.weight * _SCALE)
    if not line.arrows:
        return
    length, half = (size * _SCALE for size in _HEAD)
    (x1, y1), (x2, y2) = ends
    far = max(abs(x2 - x1), abs(y2 - y1), 1)
    # Lines with heads are parallel to an axis: (dx, dy) points from the first end to the second.
    dx, dy = (x2 - x1) / far, (y2 - y1) / far
    for (x, y), way in (((x1, y1), 1), ((x2, y2), -1)):
        back = (x + way * dx * length, y + way * dy * length)
        sides = [(back[0] + s * dy * half, back[1] + s * dx * half) for s in (1, -1)]
        canvas.polygon([(x, y), *sides], "#222222")


def _text(canvas: Any, text: Text, font: Any) -> None:
    position = (text.x * _SCALE, text.y * _SCALE)
    # Pillow's font has no bold face; a thin stroke replaces it.
    stroke = 0.2 * _SCALE if text.bold else 0
    canvas.text(position, text.text, text.fill, font, _ANCHORS[text.anchor], stroke_width=stroke)
