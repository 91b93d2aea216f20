"""Matches a tile to a canonical layout of the ISA, or a tile of scale factors to blocks; if it does not
match, prints the mode that does not fit and the nearest legal layout."""

import argparse

from ..arguments import SCALES
from ..printing import print_answer
from ..tiles import add_tile, scale_tile_of, tile_of

SUMMARY = "the canonical layout of a tile, or the mode that does not fit"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tile."""
    add_tile(parser)


def run(options: argparse.Namespace) -> int:
    """Print the answer."""
    tile = scale_tile_of(options) if options.role == SCALES else tile_of(options)
    return print_answer(tile, options.json)
