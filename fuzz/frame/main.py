"""The command line of a fuzzer."""

import argparse
import select
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow
from typing import NoReturn

from benchmarks.record import record

from .alone import outcomes
from .fuzzer import ROOT, Fuzzer
from .shrink import minimised
from .worker import Found, Worker


def main(fuzzer: Fuzzer, argv: Sequence[str] | None = None) -> NoReturn:
    """Run a fuzzer from the command line; exit with 1 if an input failed."""
    options = _arguments(fuzzer).parse_args(argv)
    if options.only is not None:
        text = fuzzer.drawn(options.seed, options.only)
        sys.stdout.write(text)
        raise SystemExit(_report(fuzzer, [f"input {options.only} of seed {options.seed}"], [text]))
    if options.replay:
        texts = [file.read_text() for file in options.replay]
        raise SystemExit(_report(fuzzer, options.replay, texts))
    began = time.monotonic()
    print(f"fuzz.{fuzzer.name}: seed {options.seed}", flush=True)
    run = Run(fuzzer, options.seed, options.jobs)
    run.until(began + options.seconds, options.count)
    taken = time.monotonic() - began
    for key, found in sorted(run.first.items()):
        _save(fuzzer, options, found, run.times[key])
    for kind, times in run.outcomes.most_common():
        print(f"{times:7,} {kind}")
    print(
        f"fuzz.{fuzzer.name}: {run.done:,} inputs in {taken:.1f} s ({run.done / taken:,.0f}/s), "
        f"{sum(run.times.values())} failures ({len(run.first)} distinct), seed {options.seed}",
        flush=True,
    )
    if options.record:
        failures = {str(found.failure): run.times[key] for key, found in sorted(run.first.items())}
        result = {
            "seed": options.seed,
            "inputs": run.done,
            "seconds": round(taken),
            "failures": failures,
        }
        if run.outcomes:
            result["outcomes"] = dict(run.outcomes.most_common())
        record(options.record, result)
    raise SystemExit(1 if run.first else 0)


def _arguments(fuzzer: Fuzzer) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m fuzz.{fuzzer.name}")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="stop after this time; default: 60"
    )
    parser.add_argument("--count", type=int, help="stop after this number of inputs")
    parser.add_argument("--seed", type=int, default=randbelow(1 << 32), help="default: random")
    parser.add_argument(
        "--jobs", type=int, default=1, help="number of parallel processes; default: 1"
    )
    parser.add_argument("--record", metavar="FILE", help="write a record of the run to FILE")
    parser.add_argument("--only", type=int, metavar="I", help="print input I and check only it")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="check these inputs")
    parser.add_argument(
        "--minimise",
        type=float,
        default=20.0,
        help="seconds to reduce the input of each failure; default: 20",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "fuzz" / fuzzer.name,
        help="folder of inputs that fail; default: build/fuzz/NAME",
    )
    return parser


class Run:
    """Random inputs, checked by several processes.

    Attributes:
        done: the number of checked inputs.
        first: the shortest input of each failure, by key.
        times: how often each failure occurred, by key.
        outcomes: how often each outcome occurred that the fuzzer told of inputs that did not fail.
    """

    def __init__(self, fuzzer: Fuzzer, seed: int, jobs: int) -> None:
        self._fuzzer, self._seed, self._jobs = fuzzer, seed, jobs
        self.done = 0
        self.first: dict[tuple[str, str], Found] = {}
        self.times: dict[tuple[str, str], int] = {}
        self.outcomes: Counter[str] = Counter()

    def until(self, deadline: float, count: int | None) -> None:
        """Check inputs until a time (`time.monotonic`), or the first `count`."""
        at: dict[int, Worker] = {}
        try:
            for first in range(self._jobs):
                at[first] = self._started(first, deadline, count)
            self._watch(at, deadline, count)
        finally:
            for worker in at.values():
                worker.kill()

    def _watch(self, at: dict[int, Worker], deadline: float, count: int | None) -> None:
        """Wait for processes, and replace those that end."""
        while at:
            waiting = {worker.pipe: number for number, worker in at.items()}
            ready, _, _ = select.select(list(waiting), [], [], 0.5)
            for number, worker in list(at.items()):
                if worker.pipe in ready and worker.ended():
                    found = worker.result()
                elif worker.hangs:
                    found = worker.kill()
                else:
                    continue
                del at[number]
                done = worker.done
                self.outcomes.update(worker.outcomes)
                if found:
                    self._note(found)
                    # A failed input counts as done only if the process survived it.
                    done = (found.number - number) // self._jobs + 1
                worker.close()
                self.done += done
                after = number + done * self._jobs
                if time.monotonic() < deadline and (count is None or after < count):
                    at[after] = self._started(after, deadline, count)

    def _started(self, first: int, deadline: float, count: int | None) -> Worker:
        numbers = range(first, sys.maxsize if count is None else count, self._jobs)
        inputs = ((n, lambda n=n: self._fuzzer.drawn(self._seed, n)) for n in numbers)
        return Worker(self._fuzzer, inputs, deadline)

    def _note(self, found: Found) -> None:
        key = found.failure.key
        self.times[key] = self.times.get(key, 0) + 1
        if key not in self.first or len(found.text) < len(self.first[key].text):
            self.first[key] = found


def _report(fuzzer: Fuzzer, names: Sequence[object], texts: Sequence[str]) -> int:
    """Check inputs and print the failure of each; return the exit code."""
    failures = outcomes(fuzzer, texts)
    for name, failure in zip(names, failures, strict=True):
        print(f"{name}: {failure or 'no failure'}", file=sys.stderr)
    return int(any(failures))


def _save(fuzzer: Fuzzer, options: argparse.Namespace, found: Found, times: int) -> None:
    """Save an input that fails, and print how to reproduce it."""
    text, alone = minimised(fuzzer, found, options.minimise)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"{found.failure.slug}{fuzzer.suffix}"
    if not file.exists() or len(file.read_text(errors="surrogateescape")) > len(text):
        file.write_text(text, errors="surrogateescape")
    only = f"python -m fuzz.{fuzzer.name} --seed {options.seed} --only {found.number}"
    print(f"\n{found.failure}\n    {times} times; {only}")
    replay = f"python -m fuzz.{fuzzer.name} --replay {file}"
    print(f"    {replay}" + ("" if alone else "    # does not fail alone"), flush=True)
