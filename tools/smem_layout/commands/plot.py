"""Draws a layout: the place of each element in shared memory, and the bank conflicts of an access; or D
of a tcgen05 instruction in tensor memory."""

import argparse
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ...inputs import InputError
from ...outputs import write_all
from ..arguments import add_arch, add_order, arch_of, order_of
from ..printing import print_json

if TYPE_CHECKING:
    from ....advisor.pictures import AccumulatorPicture, Picture
    from ....layout import TileLayout

SUMMARY = "a picture of a layout, as SVG or PNG"

_FILES = (".svg", ".png")
_COLORS = ("row", "k", "bank", "instruction")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the layout, the style and the output."""
    add = parser.add_argument
    add("layout", nargs="?", help="in CuTe's notation: 'Swizzle<3,4,3> o (64,64):(64,1)'")
    add("--element", help="the layout's element type, for example bf16")
    add("--tile", help="instead of a layout, a tile: 64x64xbf16")
    add("--swizzle", type=int, default=128, choices=(0, 32, 64, 128), help="of --tile, in bytes")
    add("--contiguous", default="columns", choices=("rows", "columns"), help="of --tile")
    add("--accumulator", metavar="MxN", help="instead, D of a tcgen05 instruction: 128x256")
    add("--ctas", type=int, help="with --accumulator: CTAs of cta_group::N; default: 1")
    add("--view", default="memory", choices=("memory", "logical", "both"))
    add("--color", default="k", choices=_COLORS, help="the property that colours show")
    add("--access", choices=("store", "ldmatrix", "core", "mma"), help="highlight an access")
    add("--at", default="0,0", help="row and column of the access")
    add("--operand", choices=("a", "b"), help="the tile is A or B: show LBO and SBO")
    add("--outline", default="atom", choices=("atom", "box"), help="what thick lines enclose")
    add("--elements", action="store_true", help="one element per cell, even in contiguous bytes")
    add("--lines", type=int, default=64, help="maximum number of lines")
    add("--start", default="0", help="byte address of the tile")
    add("--base-offset", type=int, default=0, help="base offset of the swizzle pattern, 0 to 7")
    add("--k-bytes", type=int, default=32, help="bytes of K per instruction: 32, or 48 on sm_103")
    add_arch(parser)
    add_order(parser)
    add("--compare", action="store_true", help="draw the same layout without swizzle next to it")
    add("-o", "--output", help="a .svg or .png file; - writes SVG to standard output")


def run(options: argparse.Namespace) -> int:
    """Write the picture, or print its cells."""
    from ....advisor.pictures import side_by_side, svg

    output = options.output
    if output is None and not options.json:
        raise InputError("no output; expected -o FILE.svg, -o FILE.png or --json")
    if output == "-" and options.json:
        raise InputError("-o - and --json both write to standard output; expected one of them")
    if output not in (None, "-") and not output.endswith(_FILES):
        raise InputError(f"'{output}' is neither .svg nor .png; for example -o layout.svg")
    panels = [accumulator(options)] if options.accumulator else pictures(options)
    if output is not None:
        drawing = side_by_side([picture.drawing() for picture in panels])
        if output.endswith(".png"):
            from ....advisor.pictures.png import png

            write_all([(output, png(drawing))])
        else:
            write_all([(output, svg(drawing))])
    return print_json([picture.data() for picture in panels]) if options.json else 0


def accumulator(options: argparse.Namespace) -> "AccumulatorPicture":
    """Return a picture of D in tensor memory.

    Raises:
        InputError: if a layout or a tile is given as well, or no instruction has D of this shape.
        TextError: if its shape is malformed.
    """
    from ....advisor.pictures import AccumulatorPicture
    from ....layout.tcgen05 import MmaShape, MmaShapeError
    from ....layout.tcgen05.accumulator import AccumulatorLayout
    from ....layout.text_error import TextError, number_of

    if options.layout is not None or options.tile is not None:
        raise InputError("--accumulator cannot be combined with a layout or --tile")
    match = re.fullmatch(r"(\d+)x(\d+)", options.accumulator)
    m, n = map(number_of, match.groups()) if match else (None, None)
    if m is None or n is None:
        problem = "expected rows and columns of D"
        raise TextError("--accumulator", options.accumulator, 0, problem, "128x256")
    ctas = 1 if options.ctas is None else options.ctas
    try:
        return AccumulatorPicture(AccumulatorLayout(MmaShape(m, n, ctas)))
    except MmaShapeError as error:
        raise InputError(str(error)) from None


def pictures(options: argparse.Namespace) -> "list[Picture]":
    """Return the pictures from left to right: without and with swizzle, each in the requested views."""
    from ....advisor.pictures import AccessKind, Color, Outline, Picture, View
    from ....layout import Role

    if options.ctas is not None:
        raise InputError("--ctas is for --accumulator")
    role = Role(options.operand or "a")
    layout = _layout(options)
    order = order_of(options, role, len(layout.shape))
    picture = Picture(
        layout if order.assumed else order.arrange(layout),
        color=Color(options.color),
        access=options.access and AccessKind(options.access),
        at=_position(options.at),
        role=role,
        order=order if options.layout is not None else None,
        strides=options.operand is not None,
        outline=Outline(options.outline),
        elements=options.elements,
        lines=options.lines,
        start=_address(options.start),
        base_offset=options.base_offset,
        arch=arch_of(options),
        k_bytes=options.k_bytes,
    )
    compared = [picture.without_swizzle(), picture] if options.compare else [picture]
    views = [View.LOGICAL, View.MEMORY] if options.view == "both" else [View(options.view)]
    return [replace(shown_picture, view=view) for shown_picture in compared for view in views]


def _layout(options: argparse.Namespace) -> "TileLayout":
    """Return the layout of the command line, or the layout of `--tile` and its swizzle."""
    from ....advisor import TileSpec
    from ....layout import ELEMENTS, Swizzle, parse_layout, tile_of_atoms
    from ....layout.elements import NARROW
    from ....layout.tcgen05 import SCALE_ELEMENTS
    from ....layout.text_error import TextError

    if (options.layout is None) == (options.tile is None):
        raise InputError(
            "expected either a layout, for example '(64,64):(64,1)' --element bf16, or --tile "
            "64x64xbf16"
        )
    if options.tile is not None:
        if options.element is not None:
            raise InputError("--element is for a layout; --tile names its own")
        tile = TileSpec.parse(options.tile)
        contiguous = ("rows", "columns").index(options.contiguous)
        swizzle = Swizzle.of_width(options.swizzle)
        return tile_of_atoms(tile.element, tile.shape, contiguous, swizzle)
    if options.element is None:
        raise InputError("a layout needs its element type, for example --element bf16")
    elements = ELEMENTS | NARROW | SCALE_ELEMENTS
    if options.element not in elements:
        expected = f"expected one of {', '.join(elements)}"
        raise TextError("element type", options.element, 0, expected, "bf16")
    return parse_layout(options.layout, elements[options.element])


def _position(text: str) -> tuple[int, int]:
    from ....layout.text_error import TextError, number_of

    match = re.match(r"(\d+)(?:(,)(\d+)?)?", text)
    if match and match.end() == len(text) and match[3]:
        row, column = number_of(match[1]), number_of(match[3])
        if row is not None and column is not None:
            return row, column
        raise TextError("place", text, 0, "it does not fit 63 bits", "0,16")
    end = match.end() if match else 0
    raise TextError("place", text, end, "expected a row and a column", "0,16")


def _address(text: str) -> int:
    from ....advisor.numbers import parse_number

    return parse_number("address", text, "0x400")
