"""Count the sides that notice mutants of the code that computes layouts and descriptors.

    python tests/mutation/run.py --jobs 16 --record benchmarks/results/mutants.json

Each side evaluates each mutant in its own process. It is a fork of a process that has loaded other
packages, but nothing of this one.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import platform
import random
import resource
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
from mutation.mutations import ROOT, Mutant
from mutation.sides import EMULATOR, LIT, ORACLE, noticed_by
from mutation.targets import SHARE, draw_mutants

SIDES = (LIT, EMULATOR, ORACLE)

#: Limits of a process that evaluates: seconds of wall clock, and bytes of memory.
SECONDS, BYTES = 120, 12 << 30


def load() -> None:
    """Import the packages of others that every process needs."""
    for name in (
        "filecheck.matcher",
        "hypothesis",
        "ml_dtypes",
        "numpy",
        "pytest",
        "torch_mlir.ir",
    ):
        importlib.import_module(name)

    ours = [name for name in sys.modules if name.partition(".")[0] == "mlir_smem"]
    assert not ours, f"loaded before any mutant: {ours}"


@dataclass(eq=False)
class Evaluating:
    """A process that evaluates a mutant.

    Attributes:
        mutant: the mutant; None for the unchanged package.
        side: one of `SIDES`.
        test: the lit test that runs; None for all tests of the side.
        file: the file of its result; its output is next to it.
    """

    mutant: Mutant | None
    side: str
    test: str | None
    file: Path
    pid: int = 0
    until: float = 0.0

    def start(self) -> None:
        self.until = time.monotonic() + SECONDS
        self.pid = os.fork()
        if self.pid:
            return
        try:
            os.setpgid(0, 0)
            self._evaluate()
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(1)

    def _evaluate(self) -> None:
        output = os.open(self.output, os.O_WRONLY | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        imported = import_with(self.mutant) if self.mutant else []
        test = self.test
        noticed = (None if lit_files.passes(test) else test) if test else noticed_by(self.side)
        self.file.write_text(json.dumps([noticed, bool(imported)]))

    @property
    def output(self) -> Path:
        """The file of what it prints."""
        return self.file.with_suffix(".output")

    def has_ended(self) -> bool:
        """Return whether it has ended; kill it if it takes too long."""
        if os.waitpid(self.pid, os.WNOHANG)[0]:
            return True
        if time.monotonic() > self.until:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            return True
        return False

    def outcome(self) -> tuple[str | None, bool]:
        """Return the test that notices the mutant, or None, and whether the mutant was imported."""
        if self.file.exists():
            noticed, imported = json.loads(self.file.read_text())
            return noticed, imported
        late = time.monotonic() > self.until
        return ("the process does not end" if late else "the process dies"), True


def evaluate(evaluations: list[Evaluating], jobs: int, until: float, done) -> None:
    """Run evaluations in order, several at a time; start none after `until`.

    Args:
        evaluations: the evaluations.
        jobs: the number of processes that run at a time.
        until: the time after which no process starts (`time.monotonic`).
        done: a function that is called with each evaluation that has ended.
    """
    waiting, running = evaluations[::-1], []
    while waiting or running:
        while waiting and len(running) < jobs:
            if time.monotonic() > until:
                waiting.clear()
                break
            running.append(waiting.pop())
            running[-1].start()
        time.sleep(0.01)
        ended = [evaluation for evaluation in running if evaluation.has_ended()]
        running = [evaluation for evaluation in running if evaluation not in ended]
        for evaluation in ended:
            done(evaluation)


def check_baseline(folder: Path, jobs: int) -> None:
    """Exit unless every side passes without a mutant; print the time of each."""
    began, failed = time.monotonic(), []

    def report(evaluation: Evaluating) -> None:
        print(f"{evaluation.side}: {time.monotonic() - began:.0f} s without a mutant", flush=True)
        if evaluation.outcome()[0]:
            failed.append(
                f"{evaluation.side}: {evaluation.outcome()[0]}\n{evaluation.output.read_text()[-4000:]}"
            )

    evaluate(
        [Evaluating(None, side, None, folder / side) for side in SIDES], jobs, began + 600, report
    )
    if failed:
        sys.exit("fails without a mutant: " + "\n".join(failed))


def evaluate_all(
    mutants: list[Mutant], folder: Path, jobs: int, until: float
) -> dict[Mutant, dict]:
    """Return the sides that notice each mutant; without mutants that not all sides have evaluated."""
    sides: dict[Mutant, dict[str, str | None]] = {mutant: {} for mutant in mutants}
    loaded: set[Mutant] = set()
    began = time.monotonic()

    def record(evaluation: Evaluating) -> None:
        mutant, (noticed, imported) = evaluation.mutant, evaluation.outcome()
        sides[mutant][evaluation.side] = noticed
        if imported:
            loaded.add(mutant)
        for file in (evaluation.file, evaluation.output):
            file.unlink(missing_ok=True)
        if len(sides[mutant]) == len(SIDES):
            by = [side for side in SIDES if sides[mutant][side]]
            count = f"{len(by)} notice it" + ("" if len(by) > 1 else f": {by}")
            print(f"{time.monotonic() - began:5.0f} s  {mutant.name}: {count}", flush=True)
            if mutant not in loaded:
                sys.exit(f"no side imports {mutant.file}")

    evaluations = [
        Evaluating(mutant, side, None, folder / f"{i}-{side}")
        for i, mutant in enumerate(mutants)
        for side in SIDES
    ]
    evaluate(evaluations, jobs, until, record)
    return {mutant: by for mutant, by in sides.items() if len(by) == len(SIDES)}


def recheck(record: Path, count: int, folder: Path, jobs: int) -> None:
    """Exit unless `count` mutants of a record are still noticed by the lit tests that noticed them."""
    rows = json.loads(record.read_text())["mutants"]
    tests = {row["mutant"]: row["noticed"][LIT] for row in rows}
    chosen = random.Random(0).sample(
        [
            mutant
            for mutant in draw_mutants(1.0)
            if (tests.get(mutant.name) or "").startswith("lit_tests/")
        ],
        count,
    )
    missed = []

    def report(evaluation: Evaluating) -> None:
        print(f"{evaluation.mutant.name}: {evaluation.outcome()[0]}", flush=True)
        if not evaluation.outcome()[0]:
            missed.append(f"{evaluation.test} no longer notices {evaluation.mutant.name}")

    evaluations = [Evaluating(m, LIT, tests[m.name], folder / str(i)) for i, m in enumerate(chosen)]
    evaluate(evaluations, jobs, time.monotonic() + 600, report)
    if missed:
        sys.exit("\n".join(missed))


def recorded_sides(record: Path, every: list[Mutant]) -> dict[Mutant, dict]:
    """Return the sides that notice each mutant of a record."""
    rows = {row["mutant"]: row["noticed"] for row in json.loads(record.read_text())["mutants"]}
    return {mutant: rows[mutant.name] for mutant in every if mutant.name in rows}


def by_two(by: dict[str, str | None]) -> bool:
    """Return whether two or more sides notice a mutant."""
    return sum(map(bool, by.values())) > 1


def write(record: Path, sides_of: dict[Mutant, dict], share: float, count: int, seconds: float):
    """Write the record: for each mutant, the first test of each side that notices it."""
    import numpy

    rows = [
        {"mutant": m.name, "line": m.line, "noticed": {side: by[side] for side in SIDES}}
        for m, by in sorted(
            sides_of.items(), key=lambda item: (item[0].file, item[0].line, item[0].name)
        )
    ]
    facts = {
        "command": circumstances()["command"],
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "share": share,
        "drawn": count,
        "evaluated": len(rows),
        "seconds": round(seconds),
        "mutants": rows,
    }
    record.write_text(json.dumps(facts, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the results to FILE")
    parser.add_argument(
        "--share",
        type=float,
        default=SHARE,
        help="share of the mutants of other places that is drawn",
    )
    parser.add_argument(
        "--only", default="", help="evaluate only mutants whose names contain this text"
    )
    parser.add_argument(
        "--left",
        action="store_true",
        help="keep the results of FILE; evaluate what it lacks, then what fewer than two sides notice",
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel processes")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="start no evaluation after this time"
    )
    parser.add_argument(
        "--again",
        type=int,
        metavar="N",
        help="only check that N mutants of FILE are still noticed",
    )
    options = parser.parse_args()
    if options.left and not options.record:
        parser.error("--left needs --record FILE")
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Sets have the same order in each run.
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    if options.record:
        options.record = options.record.resolve()
    os.chdir(ROOT)
    load()
    with TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        if options.again:
            recheck(options.record, options.again, folder, options.jobs)
            return
        every = draw_mutants(options.share)
        mutants = [m for m in every if options.only in m.name]
        random.Random(0).shuffle(mutants)
        recorded = recorded_sides(options.record, every) if options.left else {}
        mutants = sorted(
            (m for m in mutants if not by_two(recorded.get(m, {}))), key=recorded.__contains__
        )
        print(f"{len(mutants)} of {len(every)} mutants", flush=True)
        check_baseline(folder, options.jobs)
        until = began + options.seconds
        evaluated = evaluate_all(mutants, folder, options.jobs, until)
        seconds = time.monotonic() - began
    twice = sum(map(by_two, evaluated.values()))
    print(f"{len(evaluated)} evaluated in {seconds:.0f} s; two sides or more notice {twice}")
    if options.record:
        write(options.record, recorded | evaluated, options.share, len(every), seconds)


if __name__ == "__main__":
    main()
