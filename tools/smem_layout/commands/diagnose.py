"""Compares the layout that a kernel writes with a descriptor: the elements that instructions read from a
wrong address, and why."""

import argparse

from ...inputs import InputError
from ..arguments import DESCRIPTOR, SCALES, add_major, bit_pattern, major_of, notes_of, number
from ..printing import print_answer
from ..tiles import add_tile, scale_tile_of, tile_of

SUMMARY = "elements that are read from a wrong address, and why"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tile that was written and the descriptor that was used."""
    parser.add_argument(
        "--descriptor",
        required=True,
        help=f"for example {DESCRIPTOR}; digits as C, MLIR or LLVM IR print them, too",
    )
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
    from ....advisor import decode, decode_copy, diagnose, diagnose_scales
    from ....advisor.numbers import parse_numbers

    steps = parse_numbers("--k-steps", options.k_steps, "0,2,4,6")
    rows, start = number(options, "rows", "64"), number(options, "at", "0x400")
    subject, text = "--descriptor", options.descriptor
    if options.role == SCALES:
        if options.major is not None:
            raise InputError("--major is for operands, not for scale factors")
        tile = scale_tile_of(options)
        pattern = bit_pattern(
            subject, text, DESCRIPTOR, lambda bits: decode_copy(bits, tile.arch).suspicions
        )
        answer, order = diagnose_scales(tile, pattern.value, steps, start), tile.order
    else:
        written, major = tile_of(options), major_of(options)
        pattern = bit_pattern(
            subject,
            text,
            DESCRIPTOR,
            lambda bits: decode(bits, written.element, major, arch=written.arch).suspicions,
        )
        answer = diagnose(written, pattern.value, steps, major, rows, start)
        order = written.order
    return print_answer(answer, options.json, notes_of(pattern, order))
