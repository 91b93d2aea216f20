"""Runs of a benchmark whose results are rows: problem by problem, printed and recorded."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

from gemm_rows import Row, earlier_rows, render_rows, write
from gemms import WrongResultError


def add_arguments(arguments: argparse.ArgumentParser) -> None:
    """Add the options that runs have in common."""
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument("--record", type=Path, help="write the rows to this file, or add them")


def parse(arguments: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse options, and check before the measurements that the record is of this machine."""
    options = arguments.parse_args()
    if options.record:
        try:
            earlier_rows(options.record)
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
            measured_rows = list(measure())
        except (WrongResultError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return None
        rows += measured_rows
        if options.record:
            write(options.record, measured_rows)
        print(render_rows(measured_rows, options.markdown))
        print(f"({monotonic() - start:.0f} s)\n", flush=True)
    print(render_rows(rows, options.markdown))
    return rows
