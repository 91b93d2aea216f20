"""Attributes: how a tile's layout is given, and what a fragment's registers hold."""

from typing import Any

from ..layout import TileLayout
from ..layout.modes import format_origin
from .bindings import ir
from .smem import Smem


class AutoAttr(Smem.Attribute, name="auto"):
    """`#smem.auto`: the layout is left to `smem-assign-layouts`."""


class SwizzleAttr(Smem.Attribute, name="swizzle"):
    """`#smem.swizzle<"128B", "row-major">`: a layout forced by its swizzle and contiguity.

    The width is "none", "32B", "64B" or "128B", or "128B_ATOM_32B", which exchanges units of 32 bytes (of
    tcgen05); the second parameter "row-major" or "column-major". The strides follow; the tile is padded
    to whole atoms.
    """

    width: ir.StringAttr
    order: ir.StringAttr


class LayoutAttr(Smem.Attribute, name="layout"):
    """`#smem.layout<"Swizzle<3,4,3> o (128,64):(64,1)">`: a layout in CuTe's notation.

    Strides in elements, one entry for each dimension of the tile.
    """

    text: ir.StringAttr


class ComposedLayoutAttr(Smem.Attribute, name="composed_layout"):
    """`#smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">`: of a part that cuts atoms.

    Whole modes of the tile that it is a part of, and for each dimension where the part begins within
    them: a number, or `16n` for a multiple of 16 that only the running kernel knows. The layout of a
    part that cuts no atom is `#smem.layout`.
    """

    text: ir.StringAttr
    origin: ir.StringAttr


class AccumulatorAttr(Smem.Attribute, name="accumulator"):
    """`#smem.accumulator`: registers as the ISA's figure of matrix D has them, readable."""


class InFlightAttr(Smem.Attribute, name="in_flight"):
    """`#smem.in_flight`: an accumulator that a `wgmma` may still be writing."""


class AFragmentAttr(Smem.Attribute, name="a_fragment"):
    """`#smem.a_fragment`: registers as the ISA's figures of matrix A have them, four for each
    instruction."""


class MetadataAttr(Smem.Attribute, name="metadata"):
    """`#smem.metadata`: which elements of a sparse A are kept. The fragment's shape and element type
    are those of A with its zeros."""


def auto() -> Any:
    """`#smem.auto`."""
    return AutoAttr.get()


def swizzle(width: str, order: str = "row-major") -> Any:
    """`#smem.swizzle<width, order>`."""
    return SwizzleAttr.get(ir.StringAttr.get(width), ir.StringAttr.get(order))


def layout(text: object) -> Any:
    """`#smem.layout<text>`; takes a `TileLayout` too, of a tile or of a part."""
    if isinstance(text, TileLayout) and text.origin:
        subtiles = (text.cute, format_origin(text.origin))
        return ComposedLayoutAttr.get(*map(ir.StringAttr.get, subtiles))
    return LayoutAttr.get(ir.StringAttr.get(str(text)))
