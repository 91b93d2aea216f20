"""Pictures of layouts: which element lies where, as the ISA's figures draw it.

A `Picture` is what is to be drawn; it becomes a `Drawing` (rectangles, lines and texts), and that an
SVG or a PNG file.
"""

from .accesses import AccessKind
from .cells import Color, Outline, View
from .drawing import Drawing, Line, Rect, Text, side_by_side
from .picture import Picture
from .svg import svg

__all__ = [
    "AccessKind",
    "Color",
    "Drawing",
    "Line",
    "Outline",
    "Picture",
    "Rect",
    "Text",
    "View",
    "side_by_side",
    "svg",
]
