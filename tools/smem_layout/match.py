"""Matches a tile to a canonical layout of the ISA; if it has none, says which mode does not fit, and
which legal layout is nearest."""

import argparse

from .printed import printed
from .tiles import add_tile, tile_of

SUMMARY = "which canonical layout a tile has, or what does not fit"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the tile."""
    add_tile(parser)


def run(options: argparse.Namespace) -> int:
    """Prints the answer."""
    return printed(tile_of(options), options.json)
