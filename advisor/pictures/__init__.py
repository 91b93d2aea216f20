"""Pictures of layouts: which element lies where, as the ISA's figures draw it.

A `Picture` is what is to be drawn; it becomes a `Drawing` (rectangles, lines and texts), and that an
SVG or a PNG file. A notebook shows a `Picture` by itself.
"""

# The panels register how pictures are drawn.
from . import accumulator_panel, panel  # noqa: F401
from .accesses import AccessKind
from .accumulator import AccumulatorPicture
from .cells import Color, Outline, View
from .drawing import Drawing, Line, Rect, Text, side_by_side
from .picture import Picture
from .pictured import drawing
from .svg import svg

__all__ = [
    "AccessKind",
    "AccumulatorPicture",
    "Color",
    "Drawing",
    "Line",
    "Outline",
    "Picture",
    "Rect",
    "Text",
    "View",
    "drawing",
    "side_by_side",
    "svg",
]
