"""Encodes a matrix descriptor of wgmma: from its fields (--start, --lbo, --sbo in bytes, --swizzle,
--base-offset), or those of all instructions from the layout of a tile."""

import argparse

from ..inputs import InputError
from .arguments import number
from .printed import printed
from .tiles import SWIZZLES, add_tile, is_given, tile_of

SUMMARY = "the descriptor of given fields, or of a tile's layout"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the fields, and the tile."""
    parser.add_argument("--start", default="0", help="address, in bytes; default: 0")
    parser.add_argument("--lbo", help="leading dimension byte offset")
    parser.add_argument("--sbo", help="stride dimension byte offset")
    parser.add_argument("--base-offset", help="0 to 7; default: 0")
    add_tile(parser, required=False)


def run(options: argparse.Namespace) -> int:
    """Prints the answer."""
    from ...assistant import encode, encode_operand
    from ...layout import LayoutError, Mismatch

    start = number(options, "start", "0x400")
    lbo, sbo = number(options, "lbo", "16"), number(options, "sbo", "1024")
    offset = number(options, "base_offset", "0")
    assert start is not None
    if is_given(options):
        if any(value is not None for value in (lbo, sbo, offset)):
            raise InputError("--lbo, --sbo and --base-offset follow from the tile's layout")
        found = tile_of(options).found
        if isinstance(found, Mismatch):
            raise LayoutError(found.reason)
        return printed(encode_operand(found, start), options.json)
    if lbo is None or sbo is None:
        raise InputError("give --lbo and --sbo, or a tile by a layout, --shape or --map")
    swizzle = SWIZZLES[options.swizzle or "none"]
    return printed(encode(start, lbo, sbo, swizzle, offset or 0), options.json)
