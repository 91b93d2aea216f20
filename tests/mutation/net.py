"""Count the mutants of the checker, of `smem-insert-sync` and of `smem-allocate` that the net notices.

    python tests/mutation/net.py --jobs 16 --seconds 540 --record benchmarks/results/mutants-net.json

The net is the record of `python -m fuzz.net`: a mutant is noticed by the first of its programs of which a
pass says something else. Those that the net does not notice are evaluated by the lit tests of passes and
by files of tests. A run that ends early adds its rows to FILE; the next one evaluates what FILE
lacks.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from benchmarks.record import circumstances
from mutation import lit_files
from mutation.importing import import_with
from mutation.mutations import ROOT, Mutant, mutants_of
from mutation.run import Evaluating, evaluate, load
from mutation.sides import Files, failing_test

NET = ROOT / "benchmarks" / "results" / "prover-net.json"

#: How many mutants of each pass are drawn.
SHARES = {"check_async": 110, "order": 50, "insert_sync": 30, "allocate": 10}
COUNT = sum(SHARES.values())

#: By how many programs each mutant is evaluated, at most.
PROGRAMS = 200

#: Files that only write messages.
_MESSAGES = ("report.py",)

#: What evaluates what the net does not notice: lit tests, by how their names begin, and files of tests;
#: of each test, so many cases.
_LIT = ("lit_tests/passes/", "lit_tests/invalid/")
_FILES = (
    "passes/test_integers_of_the_checker.py",
    "passes/order/test_*.py",
    "language/test_assume.py",
    "language/test_buffers_in_turn.py",
    "language/test_cluster_loads.py",
    "language/test_grouped_products.py",
    "language/test_partition_exchange.py",
    "language/test_pipeline_refusals.py",
    "language/test_varying_trips.py",
    "passes/test_*.py",
)
_CASES = 3

#: Seconds after which a program hangs, and a process is killed.
_PROGRAM_SECONDS, _SECONDS = 60, 3000

#: What mutants that decide something contain, in their original text.
_DECIDES = (" < ", " <= ", " > ", " >= ", " == ", " != ", " and ", " or ", " in ", " is ", "not ")


def files(prefix: str) -> list[str]:
    """Return the files of a pass that are mutated; not those that only write messages."""
    paths = (ROOT / "passes").glob(f"{prefix}*.py"), (ROOT / "passes").glob(f"{prefix}*/**/*.py")
    names = sorted(str(file.relative_to(ROOT)) for file in itertools.chain(*paths))
    return [name for name in names if Path(name).name not in _MESSAGES]


def draw_mutants() -> list[Mutant]:
    """Return the mutants, drawn by a seed."""
    draw = random.Random("net")
    return [
        mutant for prefix, count in SHARES.items() for mutant in _draw_of_pass(draw, prefix, count)
    ]


def _draw_of_pass(draw: random.Random, prefix: str, count: int) -> list[Mutant]:
    """Draw mutants of a pass: one of each file in turn, mostly of conditions."""
    left = {file: mutants_of(file) for file in files(prefix)}
    chosen: list[Mutant] = []
    while len(chosen) < count and any(left.values()):
        for file in draw.sample([*left], len(left)):
            if not left[file] or len(chosen) == count:
                continue
            weights = [4 if _decides(mutant) else 1 for mutant in left[file]]
            (mutant,) = draw.choices(left[file], weights)
            left[file].remove(mutant)
            chosen.append(mutant)
    return chosen


def _decides(mutant: Mutant) -> bool:
    original = mutant.change.partition(" -> ")[0]
    return any(part in f" {original} " for part in _DECIDES)


class _Late(BaseException):
    """A program takes too long; what evaluates it catches every `Exception`."""


@dataclass(eq=False)
class NetEvaluating(Evaluating):
    """A process that evaluates a mutant by programs of the net.

    Attributes:
        programs: the indices of the programs.
        net: the record of the net.
    """

    programs: range = range(0)
    net: Path = NET

    def start(self) -> None:
        super().start()
        self.until = time.monotonic() + _SECONDS

    def _evaluate(self) -> None:
        output = os.open(self.output, os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        imported = import_with(self.mutant) if self.mutant else []
        emulates = not self.mutant or "passes/allocate" in self.mutant.file
        noticed = _difference(self.net, self.programs, emulates) if self.mutant else None
        if not _fails(noticed):
            noticed = _failing_test() or noticed
        self.file.write_text(json.dumps([noticed, bool(imported)]))


def _difference(net: Path, programs: range, emulates: bool) -> str | None:
    """Return the first program that fails a comparison with the record; if none does, the first whose row
    differs, with "passes: " before it; None if no row differs.

    Args:
        net: the record.
        programs: the indices of the programs.
        emulates: whether the emulator runs each, under one schedule.
    """
    from fuzz.net.programs import program
    from fuzz.net.record import CHANGES, change, insertion_change, insertion_fails, read
    from fuzz.net.verdicts import VERDICTS, row

    rows, seed = read(net)
    passing = None

    def hangs(*_: object) -> None:
        raise _Late

    signal.signal(signal.SIGALRM, hangs)
    for index in programs:
        before = rows[index]
        if not before.digest:
            continue
        drawn_program = program(index, seed)
        signal.alarm(_PROGRAM_SECONDS)
        try:
            now = row(drawn_program, int(emulates), before)
        except _Late:
            return f"program {index}: does not end"
        finally:
            signal.alarm(0)
        differences = []
        if now.verdict != before.verdict:
            differences.append(f"{VERDICTS[before.verdict]} -> {VERDICTS[now.verdict]}")
        if (now.inserted, now.count) != (before.inserted, before.count):
            counts = f"{before.inserted}{before.count} -> {now.inserted}{now.count}"
            differences.append(f"smem-insert-sync {counts}")
        if now.runs and now.runs != before.runs[:1]:
            differences.append(f"emulator: {before.runs[:1]} -> {now.runs}")
        if CHANGES[change(before, now)] or insertion_fails(insertion_change(before, now)):
            return f"program {index}: {', '.join(differences) or 'another text'}"
        if differences and passing is None:
            passing = f"passes: program {index}: {', '.join(differences)}"
    return passing


def _failing_test() -> str | None:
    """Return the first test of passes that fails in this process; None if all pass."""
    names = sorted(name for name in lit_files.tests() if name.startswith(_LIT))
    lit = next((name for name in names if not lit_files.passes(name)), None)
    tests = ROOT / "tests"
    paths = dict.fromkeys(file for pattern in _FILES for file in sorted(tests.glob(pattern)))
    files: Files = {str(x.relative_to(tests).with_suffix("")): (_CASES, ()) for x in paths}
    return lit or failing_test(files)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, metavar="FILE", help="add the results to FILE")
    parser.add_argument("--net", type=Path, default=NET, help="the record of the net")
    parser.add_argument("--programs", type=int, default=PROGRAMS, help="programs of each mutant")
    parser.add_argument("--only", default="", help="evaluate only mutants with this in their names")
    parser.add_argument(
        "--left", action="store_true", help="evaluate again, by tests, what nothing has noticed"
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel processes")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="start no evaluation after this time"
    )
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    rows = {}
    if options.record and options.record.exists():
        rows = {row["mutant"]: row for row in json.loads(options.record.read_text())["mutants"]}
    mutants = draw_mutants()
    rows = {mutant.name: rows[mutant.name] for mutant in mutants if mutant.name in rows}
    missing = [m for m in mutants if m.name not in rows and options.only in m.name]
    if options.left:
        missing = [m for m in mutants if m.name in rows and not fails(rows[m.name])]
        options.programs = 0
    print(f"{len(missing)} of {len(mutants)} mutants", flush=True)
    load()
    began = time.monotonic()

    def add_row(evaluation: Evaluating) -> None:
        noticed, imported = evaluation.outcome()
        assert evaluation.mutant
        if not imported:
            noticed = "never imported"
        rows[evaluation.mutant.name] = {
            "mutant": evaluation.mutant.name,
            "line": evaluation.mutant.line,
            "noticed": noticed,
        }
        print(f"{time.monotonic() - began:5.0f} s  {evaluation.mutant.name}: {noticed}", flush=True)
        if options.record:
            _write(options.record, [rows[m.name] for m in mutants if m.name in rows], options)

    with TemporaryDirectory() as name:
        unchanged = NetEvaluating(None, "net", None, Path(name) / "unchanged")
        evaluate([unchanged], 1, began + options.seconds, lambda _: None)
        if failing := unchanged.outcome()[0]:
            sys.exit(f"fails without a mutant: {failing}")
        evaluations = [
            NetEvaluating(m, "net", None, Path(name) / str(i), programs=range(options.programs))
            for i, m in enumerate(missing)
        ]
        for evaluation in evaluations:
            evaluation.net = options.net.resolve()
        evaluate(evaluations, options.jobs, began + options.seconds, add_row)
    noticed = sum(fails(row) for row in rows.values())
    print(f"{len(rows)} of {len(mutants)} evaluated; {noticed} are noticed")


def fails(row: dict) -> bool:
    """Return whether a comparison with the record, or a test, fails for a mutant."""
    return _fails(row["noticed"])


def _fails(noticed: str | None) -> bool:
    return bool(noticed) and not noticed.startswith("passes: ")


def _write(file: Path, rows: list[dict], options: argparse.Namespace) -> None:
    facts = {
        "command": circumstances()["command"],
        "date": datetime.date.today().isoformat(),
        "programs": options.programs,
        "drawn": COUNT,
        "evaluated": len(rows),
        "mutants": rows,
    }
    file.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
