"""A tile on a command line: a layout, a shape and strides, or a map of elements."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ...layout import Arch, Role, Swizzle
from ..inputs import InputError
from .arguments import (
    add_arch,
    add_element,
    add_order,
    add_role,
    arch_of,
    element_of,
    number,
    order_of,
    scale_element_of,
)

if TYPE_CHECKING:
    import numpy as np

    from ...advisor import Matched, ScaleTile
    from ...layout import Element, TileLayout

#: Swizzling modes by name.
SWIZZLES = {
    "none": Swizzle.NONE,
    "32": Swizzle.B32,
    "64": Swizzle.B64,
    "128": Swizzle.B128,
    "128_atom_32": Swizzle.B128_ATOM_32B,
}


def add_tile(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add the options for a tile, its element type and its role."""
    tile = parser.add_argument_group("the tile: one of")
    tile.add_argument(
        "layout",
        nargs="?",
        help="CuTe's notation, for example 'Swizzle<3,4,3> o (128,64):(64,1)'",
    )
    tile.add_argument("--shape", help="extents, for example 128,64; needs --strides")
    tile.add_argument("--map", metavar="FILE", help=".npy of integers: the place of each element")
    parser.add_argument("--strides", help="strides of --shape, in elements, for example 64,1")
    parser.add_argument("--bytes", action="store_true", help="--strides are in bytes, as NumPy's")
    parser.add_argument(
        "--swizzle", choices=list(SWIZZLES), help="swizzle of --shape, in bytes; default: none"
    )
    parser.add_argument(
        "--map-unit", choices=["element", "byte"], default="element", help="unit of --map"
    )
    add_arch(parser)
    add_element(parser, required)
    add_role(parser)
    add_order(parser)


def is_given(options: argparse.Namespace) -> bool:
    """Whether the command line has a tile."""
    return any((options.layout, options.shape, options.map))


def tile_of(options: argparse.Namespace) -> Matched:
    """Return the tile, matched to a canonical layout.

    Raises:
        TextError, LayoutError: if it is malformed.
        InputError: if it is not given in exactly one way, or a file cannot be read.
    """
    from ...advisor import match_map, match_tile

    element, role = element_of(options), Role(options.role)
    rows, arch = number(options, "rows", "64"), arch_of(options)
    _check_given(options)
    if element is None:
        raise InputError("a tile needs --element")
    if options.map:
        offsets = _map(options, element)
        order = order_of(options, role, offsets.ndim)
        return match_map(offsets, element, role, rows, arch, order)
    tile = _layout(options, element)
    return match_tile(tile, role, rows, arch, order_of(options, role, len(tile.shape)))


def scale_tile_of(options: argparse.Namespace) -> ScaleTile:
    """Return the tile of scale factors, matched to blocks.

    Raises:
        TextError, LayoutError: if it is malformed.
        InputError: if it is not given in exactly one way, or with an option for operands.
    """
    from ...advisor import match_scales

    _check_given(options)
    for name in ("map", "rows"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name} is for operands; scale factors have a layout, or --shape")
    tile = _layout(options, scale_element_of(options))
    order = order_of(options, None, len(tile.shape))
    return match_scales(tile, arch_of(options, Arch.SM_100), order)


def _check_given(options: argparse.Namespace) -> None:
    """Check that a tile is given in exactly one way.

    Raises:
        InputError: if there is no tile, or more than one.
    """
    if sum(map(bool, (options.layout, options.shape, options.map))) != 1:
        raise InputError("give the tile by one of a layout, --shape (with --strides), or --map")
    if bool(options.shape) != bool(options.strides):
        raise InputError("--shape and --strides go together")
    if options.swizzle and not options.shape:
        raise InputError(
            "--swizzle is for --shape; a layout has its own, and that of a map is inferred"
        )


def _layout(options: argparse.Namespace, element: Element) -> TileLayout:
    """Return the layout of a tile that is not given by a map."""
    from ...advisor import strided
    from ...advisor.numbers import parse_numbers
    from ...layout import parse_layout

    if options.layout:
        tile = parse_layout(options.layout, element)
        if len(tile.shape) not in (2, 3):
            raise InputError(
                f"a tile has rows and columns, or stages, rows and columns, not {tile}"
            )
        return tile
    shape = parse_numbers("--shape", options.shape, "128,64")
    strides = parse_numbers("--strides", options.strides, "64,1")
    swizzle = SWIZZLES[options.swizzle or "none"]
    return strided(shape, strides, element, swizzle, options.bytes)


def _map(options: argparse.Namespace, element: Element) -> np.ndarray:
    """Return the offset of each element, in elements."""
    from ..arrays import read_npy

    offsets = read_npy("--map", options.map)
    if offsets.dtype.kind not in "iu":
        raise InputError(f"--map: {options.map} has elements of {offsets.dtype}; expected integers")
    offsets = offsets.astype("int64")
    if options.map_unit == "element":
        return offsets
    if element.bits < 8:
        raise InputError(
            f"--map: {element} has {8 // element.bits} elements per byte; expected --map-unit element"
        )
    size = element.bits // 8
    misaligned = offsets[offsets % size != 0]
    if misaligned.size:
        raise InputError(
            f"--map: {misaligned[0]} bytes is not a multiple of the {size} bytes of {element}"
        )
    return offsets // size
