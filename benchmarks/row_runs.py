"""Runs of a benchmark whose results are rows: problem by problem, printed and recorded."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

from gemm_rows import Row, earlier, rendered, write
from gemms import WrongResultError


def add_arguments(arguments: argparse.ArgumentParser) -> None:
    """Add the options that runs have in common."""
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument("--record", type=Path, help="write the rows to this file, or add them")


def parse(arguments: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse options, and fail before anything is measured if the record is one of another machine."""
    options = arguments.parse_args()
    if options.record:
        try:
            earlier(options.record)
        except ValueError as error:
            arguments.error(str(error))
    return options


def run(
    problems: Iterable[Callable[[], Iterable[Row]]], options: argparse.Namespace
) -> list[Row] | None:
    """Measure problems, and return their rows; None if a result is wrong, which is printed.

    Args:
        problems: functions that measure one each.
        options: those of `add_arguments`.
    """
    rows: list[Row] = []
    for measure in problems:
        start = monotonic()
        try:
            found = list(measure())
        except (WrongResultError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return None
        rows += found
        if options.record:
            write(options.record, found)
        print(rendered(found, options.markdown))
        print(f"({monotonic() - start:.0f} s)\n", flush=True)
    print(rendered(rows, options.markdown))
    return rows
