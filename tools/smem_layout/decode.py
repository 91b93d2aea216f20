"""Says what a 64-bit matrix descriptor of wgmma means, and what is suspicious about it."""

import argparse

from .arguments import DESCRIPTOR, add_element, add_major, element_of, major_of, number
from .printed import printed

SUMMARY = "a descriptor's fields in words, what it reads, what is suspicious"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the descriptor, and what is known of the instruction."""
    parser.add_argument("descriptor", help=f"for example {DESCRIPTOR}")
    add_element(parser, required=False)
    add_major(parser)
    parser.add_argument("--rows", default="64", help="extent along m/n: 64 for A, N for B")
    parser.add_argument(
        "--at", metavar="ADDRESS", help="where the tile begins, if not at the start"
    )


def run(options: argparse.Namespace) -> int:
    """Prints the answer."""
    from ...assistant import decode
    from ...assistant.numbers import parse_number

    bits = parse_number("descriptor", options.descriptor, DESCRIPTOR)
    rows = number(options, "rows", "64")
    assert rows is not None
    at = number(options, "at", "0x400")
    answer = decode(bits, element_of(options), major_of(options), rows, at)
    return printed(answer, options.json)
