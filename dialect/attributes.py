"""Attributes: the layout of a tile, and what the registers of a fragment hold."""

from ..bindings.irtypes import Attribute
from ..bindings.mlir import ir
from ..layout import TileLayout
from ..layout.modes import format_origin
from .smem import Smem


class AutoAttr(Smem.Attribute, name="auto"):
    """`#smem.auto`: `smem-assign-layouts` chooses the layout."""


class SwizzleAttr(Smem.Attribute, name="swizzle"):
    """`#smem.swizzle<"128B", "row-major">`: the canonical layout with a swizzle width and a contiguous
    dimension.

    `width` is "none", "32B", "64B" or "128B", or "128B_ATOM_32B", which permutes units of 32 bytes
    (tcgen05 only). `order` is "row-major" or "column-major". The strides follow from both, and the tile
    is padded to whole swizzle atoms.
    """

    width: ir.StringAttr
    order: ir.StringAttr


class LayoutAttr(Smem.Attribute, name="layout"):
    """`#smem.layout<"Swizzle<3,4,3> o (128,64):(64,1)">`: a layout in CuTe's notation.

    `text` has one mode for each dimension of the tile; strides are in elements.
    """

    text: ir.StringAttr


class ComposedLayoutAttr(Smem.Attribute, name="composed_layout"):
    """`#smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">`: the layout of a
    subtile that cuts swizzle atoms.

    `text` has the whole modes of the tile that the subtile is taken from. `origin` has, for each
    dimension, the index in these modes at which the subtile begins, in elements: a number, or `16n` for
    a multiple of 16 that is known at run time only. A subtile that cuts no atom has an `#smem.layout`.
    """

    text: ir.StringAttr
    origin: ir.StringAttr


class AccumulatorAttr(Smem.Attribute, name="accumulator"):
    """`#smem.accumulator`: the fragment of matrix D (PTX ISA 9.7.15.5.1.1); its registers can be read."""


class InFlightAttr(Smem.Attribute, name="in_flight"):
    """`#smem.in_flight`: an accumulator that an unfinished mma may still write; `smem.wait` ends that."""


class AFragmentAttr(Smem.Attribute, name="a_fragment"):
    """`#smem.a_fragment`: the fragment of matrix A (PTX ISA 9.7.15.5.1), four registers for each
    instruction."""


class MetadataAttr(Smem.Attribute, name="metadata"):
    """`#smem.metadata`: the metadata of a sparse A, which elements of A are stored. The fragment has the
    shape and element type of the full A, zeros included."""


class SliceAttr(Smem.Attribute, name="slice"):
    """`#smem.slice<1>`: a slice of an accumulator along dimension `dim`, which the slice does not have.

    A slice along dimension 1 has one element for each row, a slice along dimension 0 one for each
    column. A thread holds those of its rows, or of its columns, of the accumulator; all threads that
    hold elements of one row, or column, hold the same value. (Triton's `SliceLayout`.)
    """

    dim: ir.IntegerAttr


def auto() -> Attribute:
    """Return `#smem.auto`."""
    return AutoAttr.get()


def slice_along(dim: int) -> Attribute:
    """Return `#smem.slice<dim>`."""
    return SliceAttr.get(ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim))


def dim_of(slice_: Attribute) -> int:
    """Return the dimension of `#smem.slice<dim>`."""
    return ir.IntegerAttr(slice_.params[0]).value


def swizzle(width: str, order: str = "row-major") -> Attribute:
    """Return `#smem.swizzle<width, order>`."""
    return SwizzleAttr.get(ir.StringAttr.get(width), ir.StringAttr.get(order))


def layout(text: object) -> Attribute:
    """Return the attribute for a layout: CuTe notation, or the `TileLayout` of a tile or subtile."""
    if isinstance(text, TileLayout) and text.origin:
        parameters = (text.cute, format_origin(text.origin))
        return ComposedLayoutAttr.get(*map(ir.StringAttr.get, parameters))
    return LayoutAttr.get(ir.StringAttr.get(str(text)))
