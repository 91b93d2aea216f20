"""What becomes of many programs of `fuzz.sync`, and of their mutants: counts, for a record.

python -m fuzz.sync_count --count 10000 --seed 1 --record benchmarks/results/insert-sync-programs.json

Program I follows from the seed and I; `--only I` prints one and checks only it. With `--keep FILE`, what
became of each program is also written to a file, from which a run that was ended goes on.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Self

from benchmarks.record import record

from .frame.fuzzer import Wrong, failure_of, generator
from .sync import Outcome, draw, generator_of, outcome

#: Programs that a worker checks at a time.
_CHUNK = 10

#: Seconds after which a program is left; its mutants take most of them.
_LIMIT = 60


class CountedProgram(NamedTuple):
    """The outcome of a program.

    Attributes:
        number: the program's.
        generator: the name of its generator.
        outcome: the outcome.
        failure: what is wrong; empty if nothing is.
    """

    number: int
    generator: str
    outcome: Outcome
    failure: str

    @classmethod
    def read(cls, line: str) -> Self:
        """Read what `line` wrote."""
        number, generator, outcome, failure = json.loads(line)
        inserted, mutants = Counter(outcome["inserted"]), Counter(outcome["mutants"])
        program_outcome = Outcome(outcome["kind"], inserted, mutants, outcome["survivors"])
        return cls(number, generator, program_outcome, failure)

    @property
    def line(self) -> str:
        """The text of it, in one line."""
        return json.dumps([self.number, self.generator, vars(self.outcome), self.failure])


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise a `TimeoutError` after some seconds."""

    def end(signal: int, frame: FrameType | None) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, _LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def run(seed: int, number: int) -> CountedProgram:
    """Check a program."""
    text = draw(generator(seed, number))
    name = generator_of(text)
    try:
        with _time_limit():
            return CountedProgram(number, name, outcome(text, generator(seed, number)), "")
    except TimeoutError:
        return CountedProgram(number, name, Outcome(f"not finished in {_LIMIT} s"), "")
    except Wrong as error:
        return CountedProgram(number, name, Outcome("wrong"), str(error))
    except Exception as error:
        return CountedProgram(number, name, Outcome("wrong"), str(failure_of(error)))


def run_some(seed: int, numbers: list[int]) -> list[CountedProgram]:
    """Check a chunk of programs."""
    return [run(seed, number) for number in numbers]


def run_all(
    seed: int, numbers: Iterable[int], jobs: int, keep: Path | None
) -> list[CountedProgram]:
    """Check programs on several cores, except for those that a file already knows."""
    lines = keep.read_text().splitlines() if keep and keep.exists() else []
    counted = {program.number: program for program in map(CountedProgram.read, lines)}
    remaining = [number for number in numbers if number not in counted]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        chunks = [
            pool.submit(run_some, seed, remaining[start : start + _CHUNK])
            for start in range(0, len(remaining), _CHUNK)
        ]
        for chunk in as_completed(chunks):
            for program in chunk.result():
                counted[program.number] = program
                if keep:
                    with keep.open("a") as file:
                        file.write(f"{program.line}\n")
    return [counted[number] for number in sorted(counted)]


def main() -> int:
    """Check programs on all cores; return 1 if any is wrong."""
    parser = argparse.ArgumentParser(prog="fuzz.sync_count", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="number of programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="I", help="print program I and check only it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="file of what became of each program")
    parser.add_argument("--record", help="file of the record")
    options = parser.parse_args()
    if options.only is not None:
        print(draw(generator(options.seed, options.only)))
        print(run(options.seed, options.only))
        return 0
    # Each worker has a core.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    begin = time.monotonic()
    counted = run_all(options.seed, range(options.count), options.jobs, options.keep)
    result = summary(counted)
    print(json.dumps(result, indent=1), f"{time.monotonic() - begin:.0f} s")
    if options.record:
        record(options.record, {"seed": options.seed} | result)
    return int(bool(result["wrong"]))


def summary(counted: list[CountedProgram]) -> dict[str, object]:
    """Return the counts of a record."""
    inserted: Counter[str] = Counter()
    mutants: Counter[str] = Counter()
    for program in counted:
        inserted += program.outcome.inserted
        mutants += program.outcome.mutants
    return {
        "programs": dict(sorted(Counter(program.generator for program in counted).items())),
        "outcomes": dict(Counter(program.outcome.kind for program in counted).most_common()),
        "inserted": dict(inserted.most_common()),
        "mutants": dict(mutants.most_common()),
        "mutants_that_nothing_rejects": {
            str(program.number): program.outcome.survivors
            for program in counted
            if program.outcome.survivors
        },
        "wrong": {str(program.number): program.failure for program in counted if program.failure},
    }


if __name__ == "__main__":
    sys.exit(main())
