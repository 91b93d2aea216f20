"""A drawing as data: shapes on a canvas, independent of the file format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

#: Pixels between drawings that stand side by side.
GAP = 36


@dataclass(frozen=True)
class Rect:
    """A rectangle; pixels, from the top left corner of the drawing.

    Attributes:
        fill, stroke: colours as `#rrggbb`.
        weight: width of the stroke.
        data: the meaning of the rectangle as names and values, written to the file.
    """

    x: int
    y: int
    width: int
    height: int
    fill: str
    stroke: str
    weight: int = 1
    data: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Line:
    """A straight line; `arrows` adds a head at both ends."""

    x1: int
    y1: int
    x2: int
    y2: int
    stroke: str
    weight: int = 2
    arrows: bool = False


@dataclass(frozen=True)
class Text:
    """A line of text; (x, y) is the middle of its height, and its left end, middle or right end."""

    x: int
    y: int
    text: str
    size: int = 11
    anchor: Literal["start", "middle", "end"] = "middle"
    fill: str = "#222222"
    bold: bool = False


DrawnShape = Rect | Line | Text


@dataclass(frozen=True)
class Drawing:
    """Shapes on a white canvas, drawn in order.

    Attributes:
        width, height: of the canvas, in pixels.
        title: the accessible title.
        shapes: the shapes.
        head: the y below the title; side by side, titles are not moved down.
        top: the y at which drawings are aligned side by side.
    """

    width: int
    height: int
    title: str
    shapes: tuple[DrawnShape, ...]
    head: int = 0
    top: int = 0


def side_by_side(drawings: Sequence[Drawing]) -> Drawing:
    """Return drawings from left to right on one canvas; the shapes' data get a `panel`, counted from
    0."""
    shapes: list[DrawnShape] = []
    top = max(drawing.top for drawing in drawings)
    x = height = 0
    for panel, drawing in enumerate(drawings):
        y = top - drawing.top
        shapes += [_move(shape, x, y, drawing.head, panel) for shape in drawing.shapes]
        x += drawing.width + GAP
        height = max(height, y + drawing.height)
    title = " | ".join(drawing.title for drawing in drawings)
    return Drawing(x - GAP, height, title, tuple(shapes), top=top)


def _move(shape: DrawnShape, x: int, y: int, head: int, panel: int) -> DrawnShape:
    """Return the shape moved to the right by `x`, and down by `y` if it is below `head`."""
    if isinstance(shape, Line):
        down = y if shape.y1 >= head else 0
        return replace(
            shape, x1=shape.x1 + x, y1=shape.y1 + down, x2=shape.x2 + x, y2=shape.y2 + down
        )
    moved = replace(shape, x=shape.x + x, y=shape.y + (y if shape.y >= head else 0))
    if isinstance(moved, Rect) and moved.data:
        return replace(moved, data=(*moved.data, ("panel", panel)))
    return moved
