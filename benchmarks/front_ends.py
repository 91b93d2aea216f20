"""What front ends take: programs of PyTorch, JAX and linalg, and random contractions, on the emulator.

    python benchmarks/front_ends.py [--only torch jax linalg contractions] [--seed 20261129] [--count 400]
        [--jobs 2] [--record FILE]

For each kind: how many programs were lowered, how many of their contractions have kernels, and why others
were refused. Each is compared with PyTorch, JAX or NumPy, results and arguments; a wrong one ends the run
with an error. `--case NAME` runs one, and shows its remarks.
"""

import argparse
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any, NamedTuple

from front_end_cases.case import Case, Wrong
from record import record
from tables import table

# Each program is compiled once.
os.environ.setdefault("MLIR_SMEM_CACHE", "off")

KINDS = ("torch", "jax", "linalg", "contractions")

#: Programs that a process runs, on average, before it is replaced, so that what it has compiled is freed.
_LIFETIME = 100

#: Numbers, names in quotes, types and positions: what differs between refusals of one kind.
_DETAILS = re.compile(r"'[^']*'|\b(?:tensor|memref)<[^>]*>|[\w./-]*:\d+:\d+:?|-?\d[\dx]*")


class Outcome(NamedTuple):
    """What became of a program.

    Attributes:
        state: "lowered", "refused", "wrong" or "crash".
        kernels: the number of its kernels.
        text: the refusal or what is wrong; the remarks of one that is lowered.
        seconds: it took.
    """

    state: str
    kernels: int
    text: str
    seconds: float


@cache
def cases_of(kind: str, seed: int, count: int) -> list[Case]:
    """The programs of a kind; none of PyTorch's without PyTorch."""
    if kind == "contractions":
        from front_end_cases.contractions import cases

        return [*cases(seed, count)]
    if kind == "torch" and find_spec("torch") is None:
        print("torch: not installed")
        return []
    return import_module(f"front_end_cases.{kind}_cases").CASES


def run_case(kind: str, seed: int, count: int, position: int) -> Outcome:
    """Compile and call a program, and compare."""
    case, begin = cases_of(kind, seed, count)[position], time.perf_counter()
    try:
        kernels, remarks = case.run()
        state, text = "lowered", "\n".join(remarks)
    except Wrong as error:
        state, kernels, text = "wrong", 0, str(error)
    except Exception as error:
        state, kernels, text = "refused", 0, f"{type(error).__name__}: {error}"
    return Outcome(state, kernels, text, round(time.perf_counter() - begin, 2))


def outcomes(kind: str, seed: int, count: int, jobs: int) -> Iterator[tuple[Case, Outcome]]:
    """Run the programs of a kind in processes of their own, and yield each with its outcome."""
    left = [*range(len(cases_of(kind, seed, count)))]
    while left:
        # A new pool: with `max_tasks_per_child`, one of Python 3.11 waits forever (cpython#115634).
        waiting, done = left[: jobs * _LIFETIME], 0
        pool = ProcessPoolExecutor(jobs, get_context("spawn"))
        futures: list[Future[Outcome]] = [
            pool.submit(run_case, kind, seed, count, i) for i in waiting
        ]
        try:
            for position, future in zip(waiting, futures, strict=True):
                yield cases_of(kind, seed, count)[position], future.result()
                done += 1
        except BrokenProcessPool:
            # One of the next programs ended the process; each of them runs alone.
            for position in waiting[done : done + jobs]:
                yield cases_of(kind, seed, count)[position], _alone(kind, seed, count, position)
            done += jobs
        finally:
            pool.shutdown(cancel_futures=True)
        left = left[done:]


def _alone(kind: str, seed: int, count: int, position: int) -> Outcome:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(run_case, kind, seed, count, position).result()
        except BrokenProcessPool:
            return Outcome("crash", 0, "the process ended", 0.0)


def reason(text: str) -> str:
    """What refusals of a kind have in common: their first line, without numbers and names."""
    return " ".join(_DETAILS.sub("_", text.strip().splitlines()[0]).split())[:160]


def summary(rows: list[tuple[Case, Outcome]]) -> dict[str, Any]:
    """The numbers of a kind of programs.

    Contractions of refused programs count as without kernels. A program's kernels count up to its
    contractions: an attention that is none to us has two products.
    """
    texts = [outcome.text for _, outcome in rows if outcome.state == "lowered"]
    return {
        "programs": len(rows),
        "states": dict(Counter(outcome.state for _, outcome in rows).most_common()),
        "contractions": sum(case.contractions for case, _ in rows),
        "with kernels": sum(min(case.contractions, outcome.kernels) for case, outcome in rows),
        "attentions": sum(text.count(": attention of ") for text in texts),
        "partly on the CPU": sum(" runs on the CPU" in text for text in texts),
        "refusals": dict(
            Counter(reason(o.text) for _, o in rows if o.state == "refused").most_common()
        ),
        "remarks": dict(
            Counter(
                reason(line)
                for case, o in rows
                if o.state == "lowered" and o.kernels < case.contractions
                for line in {*filter(None, o.text.splitlines())}
                if "stays as it is" in line
            ).most_common()
        ),
        "seconds": round(sum(outcome.seconds for _, outcome in rows), 1),
        "not lowered": {
            case.name: outcome.state for case, outcome in rows if outcome.state != "lowered"
        },
        "without kernels": [
            case.name for case, o in rows if o.state == "lowered" and o.kernels < case.contractions
        ],
    }


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", nargs="+", choices=KINDS, default=[*KINDS])
    arguments.add_argument("--seed", type=int, default=20261129)
    arguments.add_argument("--count", type=int, default=400)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--case", help="run the program of this name")
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    drawn = options.seed, options.count
    if options.case is not None:
        found = [
            c for kind in options.only for c in cases_of(kind, *drawn) if c.name == options.case
        ]
        for case in found:
            print(case.run())
        return 0 if found else 1
    results = {}
    for kind in options.only:
        rows = [*outcomes(kind, *drawn, options.jobs)]
        results[kind] = summary(rows)
        for case, outcome in rows:
            if outcome.state in ("wrong", "crash"):
                print(f"{kind}: {case.name}: {outcome.state}: {outcome.text}", flush=True)
    counts = ["contractions", "with kernels", "attentions", "partly on the CPU"]
    heading = ["", "programs", "lowered", *counts, "wrong", "crash"]
    lines = [
        [kind, str(r["programs"]), str(r["states"].get("lowered", 0))]
        + [str(r[name]) for name in counts]
        + [str(r["states"].get(state, 0)) for state in ("wrong", "crash")]
        for kind, r in results.items()
    ]
    print(table(heading, lines, markdown=False))
    if options.record:
        record(options.record, {"seed": options.seed, "kinds": results})
    failed = [r for r in results.values() if {"wrong", "crash"} & r["states"].keys()]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
