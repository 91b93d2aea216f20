"""Pictures of layouts: the place of each element, as in the ISA's figures.

A `Picture` describes what is drawn. It becomes a `Drawing` (rectangles, lines and texts), which becomes
an SVG or PNG file. A notebook shows a `Picture` as SVG.
"""

# These modules register the functions that draw pictures.
from . import accumulator_panel, panel  # noqa: F401
from .accesses import AccessKind
from .accumulator import AccumulatorPicture
from .cells import Color, Outline, View
from .drawing import Drawing, Line, Rect, Text, side_by_side
from .picture import Picture
from .picture_base import drawing
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
