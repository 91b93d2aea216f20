"""Compares the layout that a kernel writes with a descriptor: the elements that instructions read from a
wrong address, and why."""

import argparse

from ...inputs import InputError
from ..arguments import DESCRIPTOR, SCALES, add_major, major_of, number
from ..printed import printed
from ..tiles import add_tile, scale_tile_of, tile_of

SUMMARY = "elements that are read from a wrong address, and why"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tile that was written and the descriptor that was used."""
    parser.add_argument("--descriptor", required=True, help=f"for example {DESCRIPTOR}")
    parser.add_argument(
        "--k-steps",
        default="0",
        help="offsets added to it for each instruction along K, or copy of scale factors, in 16-byte "
        "units; default: 0, the first",
    )
    parser.add_argument(
        "--at", metavar="ADDRESS", help="start of the tile; default: the descriptor's start"
    )
    add_major(parser)
    add_tile(parser)


def run(options: argparse.Namespace) -> int:
    """Print the answer."""
    from ....advisor import diagnose
    from ....advisor.numbers import parse_number, parse_numbers

    bits = parse_number("--descriptor", options.descriptor, DESCRIPTOR)
    steps = parse_numbers("--k-steps", options.k_steps, "0,2,4,6")
    rows, at = number(options, "rows", "64"), number(options, "at", "0x400")
    if options.role == SCALES:
        from ....advisor import diagnose_scales

        if options.major is not None:
            raise InputError("--major is for operands, not for scale factors")
        return printed(diagnose_scales(scale_tile_of(options), bits, steps, at), options.json)
    written = tile_of(options)
    return printed(diagnose(written, bits, steps, major_of(options), rows, at), options.json)
