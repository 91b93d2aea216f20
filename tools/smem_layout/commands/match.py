"""Matches a tile to a canonical layout of the ISA, or a tile of scale factors to their blocks; if it has
none, says which mode does not fit, and which legal layout is nearest."""

import argparse

from ..arguments import SCALES
from ..printed import printed
from ..tiles import add_tile, scale_tile_of, tile_of

SUMMARY = "which canonical layout a tile has, or what does not fit"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the tile."""
    add_tile(parser)


def run(options: argparse.Namespace) -> int:
    """Prints the answer."""
    tile = scale_tile_of(options) if options.role == SCALES else tile_of(options)
    return printed(tile, options.json)
