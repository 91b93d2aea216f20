"""What becomes of many programs of `fuzz.sync`, and of their mutants: counts, for a record.

python -m fuzz.sync_count --count 10000 --seed 1 --record benchmarks/results/insert-sync-programs.json

Program I follows from the seed and I; `--only I` prints one and checks only it.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import NamedTuple

from benchmarks.record import record

from .frame.fuzzer import Wrong, failure_of, generator
from .sync import Outcome, draw, outcome

#: Programs that a worker checks at a time.
_CHUNK = 20


class Counted(NamedTuple):
    """What became of a program.

    Attributes:
        number: the program's.
        generator: what drew it.
        outcome: what became of it.
        failure: what is wrong; empty if nothing is.
    """

    number: int
    generator: str
    outcome: Outcome
    failure: str


def run(seed: int, number: int) -> Counted:
    """Check a program."""
    text = draw(generator(seed, number))
    drawn_by = next((x for x in ("pipeline", "blocks") if f"generator = '{x}'" in text), "gemm")
    name = "language" if "sl." in text else drawn_by
    try:
        return Counted(number, name, outcome(text, generator(seed, number)), "")
    except Wrong as error:
        return Counted(number, name, Outcome("wrong"), str(error))
    except Exception as error:
        return Counted(number, name, Outcome("wrong"), str(failure_of(error)))


def run_all(seed: int, first: int, end: int) -> list[Counted]:
    """Check a chunk of programs."""
    return [run(seed, number) for number in range(first, end)]


def main() -> int:
    """Check programs on all cores; return 1 if any is wrong."""
    parser = argparse.ArgumentParser(prog="fuzz.sync_count", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="number of programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="I", help="print program I and check only it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--record", help="file of the record")
    given = parser.parse_args()
    if given.only is not None:
        print(draw(generator(given.seed, given.only)))
        print(run(given.seed, given.only))
        return 0
    # Each worker has a core.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    begin, found = time.monotonic(), []
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        chunks = [
            pool.submit(run_all, given.seed, first, min(first + _CHUNK, given.count))
            for first in range(0, given.count, _CHUNK)
        ]
        for chunk in as_completed(chunks):
            found += chunk.result()
    result = summary(sorted(found, key=lambda each: each.number))
    print(result, f"{time.monotonic() - begin:.0f} s")
    if given.record:
        record(given.record, {"seed": given.seed} | result)
    return int(bool(result["wrong"]))


def summary(found: list[Counted]) -> dict[str, object]:
    """Return the counts of a record."""
    inserted: Counter[str] = Counter()
    mutants: Counter[str] = Counter()
    for each in found:
        inserted += each.outcome.inserted
        mutants += each.outcome.mutants
    return {
        "programs": dict(sorted(Counter(each.generator for each in found).items())),
        "outcomes": dict(Counter(each.outcome.kind for each in found).most_common()),
        "inserted": dict(inserted.most_common()),
        "mutants": dict(mutants.most_common()),
        "mutants_that_nothing_rejects": {
            str(each.number): each.outcome.survivors for each in found if each.outcome.survivors
        },
        "wrong": {str(each.number): each.failure for each in found if each.failure},
    }


if __name__ == "__main__":
    sys.exit(main())
