"""Drawings as SVG."""

from __future__ import annotations

from html import escape

from .drawing import Drawing, DrawnShape, Line, Rect, Text

_FONT = "DejaVu Sans, Verdana, Helvetica, sans-serif"


def svg(drawing: Drawing) -> str:
    """Return the drawing as an SVG document; a rectangle's data become its `data-` attributes."""
    body = "\n".join(map(_element, drawing.shapes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width}" '
        f'height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'font-family="{_FONT}" font-size="11" text-anchor="middle" fill="#222222">\n'
        f"<title>{escape(drawing.title)}</title>\n"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="5" '
        'markerHeight="5" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>\n'
        f'<path fill="#ffffff" d="M0 0h{drawing.width}v{drawing.height}h-{drawing.width}z"/>\n'
        f"{body}\n</svg>\n"
    )


def _element(shape: DrawnShape) -> str:
    if isinstance(shape, Rect):
        data = "".join(f' data-{name}="{value}"' for name, value in shape.data)
        weight = "" if shape.weight == 1 else f' stroke-width="{shape.weight}"'
        return (
            f'<rect x="{shape.x}" y="{shape.y}" width="{shape.width}" height="{shape.height}" '
            f'fill="{shape.fill}" stroke="{shape.stroke}"{weight}{data}/>'
        )
    if isinstance(shape, Line):
        heads = ' marker-start="url(#head)" marker-end="url(#head)"' if shape.arrows else ""
        return (
            f'<path d="M{shape.x1} {shape.y1}L{shape.x2} {shape.y2}" stroke="{shape.stroke}" '
            f'stroke-width="{shape.weight}" stroke-linecap="square"{heads}/>'
        )
    # The baseline is a third of the font size below the middle.
    attributes = f'x="{shape.x}" y="{shape.y + shape.size // 3}"'
    default = Text(0, 0, "")
    if shape.size != default.size:
        attributes += f' font-size="{shape.size}"'
    if shape.anchor != default.anchor:
        attributes += f' text-anchor="{shape.anchor}"'
    if shape.fill != default.fill:
        attributes += f' fill="{shape.fill}"'
    if shape.bold:
        attributes += ' font-weight="bold"'
    return f"<text {attributes}>{escape(shape.text)}</text>"
