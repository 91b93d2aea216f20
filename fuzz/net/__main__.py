"""Record what the checker and the emulator say of 10,000 programs, or compare a tree with the record.

    python -m fuzz.net --record FILE --jobs 16 --seconds 540
    python -m fuzz.net --compare benchmarks/results/prover-net.json --jobs 16
    python -m fuzz.net --compare benchmarks/results/prover-net.json --jobs 16 --renew

A run that ends early, or that evaluates a share, adds its rows to FILE; the next one evaluates what FILE
lacks. A renewal evaluates what has changed anew, with the emulator, and writes it into FILE.
"""

import argparse
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from . import record
from .evaluating import evaluate_programs
from .programs import program
from .verdicts import RIGHT, SCHEDULES, Row, row

#: The programs of the record.
COUNT = 10_000

#: Indices that are listed of each change, at most, if it does not fail the comparison.
_MOST_LISTED = 20


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.net", description=__doc__.split("\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--record", type=Path, metavar="FILE", help="add rows to FILE, or make it")
    action.add_argument("--compare", type=Path, metavar="FILE", help="compare with FILE")
    action.add_argument(
        "--show", type=int, metavar="I", help="print program I and what is said of it"
    )
    parser.add_argument(
        "--from", type=int, default=0, dest="first", metavar="I", help="first index"
    )
    parser.add_argument("--count", type=int, default=COUNT, metavar="N", help="number of programs")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="begin no program after this time"
    )
    parser.add_argument(
        "--emulate", action="store_true", help="compare outcomes of the emulator too"
    )
    parser.add_argument(
        "--renew",
        action="store_true",
        help="with --compare: write rows that have changed into FILE",
    )
    options = parser.parse_args()
    # Products are small; threads of their own would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A run that is ended ends its processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.show is not None:
        return _show(options.show)
    return _record(options) if options.record else _compare(options)


def _show(index: int) -> int:
    drawn = program(index)
    print(drawn.text)
    print(f"// {index}: {drawn.generator}, {drawn.edit}: {row(drawn)}")
    return 0


def _record(options: argparse.Namespace) -> int:
    seed = 0
    rows, seed = record.read(options.record) if options.record.exists() else ({}, seed)
    wanted = range(options.first, options.first + options.count)
    missing = [index for index in wanted if index not in rows]
    began = time.monotonic()
    rows |= evaluate_programs(missing, seed, SCHEDULES, options.jobs, options.seconds)
    record.write(options.record, rows, seed, time.monotonic() - began)
    remaining = sum(index not in rows for index in wanted)
    print(
        f"{len(missing) - remaining} evaluated in {time.monotonic() - began:.0f} s; {remaining} are left"
    )
    proven = [i for i, entry in rows.items() if entry.verdict == "p" and {*entry.runs} - {RIGHT}]
    inserted = [
        i for i, entry in rows.items() if entry.inserted == "p" and {*entry.inserted_runs} - {RIGHT}
    ]
    if proven:
        print(f"proven, but not right under every schedule: {sorted(proven)}")
    if inserted:
        print(f"inserted and proven, but not right under every schedule: {sorted(inserted)}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    before, seed = record.read(options.compare)
    indices = [i for i in range(options.first, options.first + options.count) if i in before]
    schedules = SCHEDULES if options.emulate else 0
    after = evaluate_programs(indices, seed, schedules, options.jobs, options.seconds, before)
    remaining = len(indices) - len(after)
    if remaining:
        print(f"{remaining} programs have not been evaluated: the time was over")
    if options.renew:
        _renew(options, before, after, seed)
    # What has not been evaluated is not known to be the same.
    return print_changes(before, after) or (2 if remaining else 0)


def _renew(
    options: argparse.Namespace, before: dict[int, Row], after: dict[int, Row], seed: int
) -> None:
    """Write the programs of which another verdict is given into the record, with their outcomes."""
    began = time.monotonic()
    changed = [
        i
        for i, now in after.items()
        if record.change(before[i], now) != record.SAME or record.insertion_change(before[i], now)
    ]
    renewed = evaluate_programs(changed, seed, SCHEDULES, options.jobs, options.seconds)
    record.write(options.compare, before | renewed, seed, time.monotonic() - began)
    print(f"{len(renewed)} of {len(changed)} rows renewed")


def print_changes(before: Mapping[int, Row], after: Mapping[int, Row]) -> int:
    """Print what has become of programs since a record; return the exit code.

    Args:
        before: the rows of the record, by index.
        after: those of now; others are not compared.
    """
    changed: dict[str, list[int]] = defaultdict(list)
    insertions: dict[str, list[int]] = defaultdict(list)
    runs: list[int] = []
    for index, now in sorted(after.items()):
        was = before[index]
        changed[record.change(was, now)].append(index)
        if insertion := record.insertion_change(was, now):
            insertions[insertion].append(index)
        if now.runs and now.digest == was.digest and now.runs != was.runs:
            runs.append(index)
    for name, fails in record.CHANGES.items():
        if name in changed:
            _print(name, changed[name], everything=fails, listed=name != record.SAME)
    for name, indices in sorted(insertions.items()):
        lost = record.insertion_fails(name)
        _print(f"smem-insert-sync: {name}", indices, everything=lost)
    if runs:
        _print("other outcomes of the emulator", runs)
    lost = any(record.insertion_fails(name) for name in insertions)
    return int(lost or any(record.CHANGES[name] for name in changed))


def _print(name: str, indices: list[int], everything: bool = False, listed: bool = True) -> None:
    shown = indices if everything else indices[:_MOST_LISTED]
    more = ", ..." if len(shown) < len(indices) else ""
    print(f"{len(indices):7,} {name}" + (f": {', '.join(map(str, shown))}{more}" if listed else ""))


if __name__ == "__main__":
    sys.exit(main())
