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

from .fuzzer import ROOT, Fuzzer
from .replay import outcomes
from .shrink import minimise
from .worker import FailedInput, Worker


def main(fuzzer: Fuzzer, argv: Sequence[str] | None = None) -> NoReturn:
    """Run a fuzzer from the command line; exit with 1 if an input failed."""
    options = _arguments(fuzzer).parse_args(argv)
    if options.only is not None:
        text = fuzzer.input_text(options.seed, options.only)
        sys.stdout.write(text)
        raise SystemExit(_report(fuzzer, [f"input {options.only} of seed {options.seed}"], [text]))
    if options.replay:
        texts = [file.read_text() for file in options.replay]
        raise SystemExit(_report(fuzzer, options.replay, texts))
    began = time.monotonic()
    print(f"fuzz.{fuzzer.name}: seed {options.seed}", flush=True)
    run = FuzzRun(fuzzer, options.seed, options.jobs)
    run.until(began + options.seconds, options.count)
    elapsed = time.monotonic() - began
    for key, failed in sorted(run.first.items()):
        _save(fuzzer, options, failed, run.times[key])
    for kind, times in run.outcomes.most_common():
        print(f"{times:7,} {kind}")
    print(
        f"fuzz.{fuzzer.name}: {run.input_count:,} inputs in {elapsed:.1f} s "
        f"({run.input_count / elapsed:,.0f}/s), "
        f"{sum(run.times.values())} failures ({len(run.first)} distinct), seed {options.seed}",
        flush=True,
    )
    if options.record:
        failures = {
            str(failed.failure): run.times[key] for key, failed in sorted(run.first.items())
        }
        result = {
            "seed": options.seed,
            "inputs": run.input_count,
            "seconds": round(elapsed),
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


class FuzzRun:
    """Random inputs, checked by several processes.

    Attributes:
        checked: the number of checked inputs.
        first: the shortest input of each failure, by key.
        times: how often each failure occurred, by key.
        outcomes: how often the check returned each outcome of inputs that did not fail.
    """

    def __init__(self, fuzzer: Fuzzer, seed: int, jobs: int) -> None:
        self._fuzzer, self._seed, self._jobs = fuzzer, seed, jobs
        self.input_count = 0
        self.first: dict[tuple[str, str], FailedInput] = {}
        self.times: dict[tuple[str, str], int] = {}
        self.outcomes: Counter[str] = Counter()

    def until(self, deadline: float, count: int | None) -> None:
        """Check inputs until a time (`time.monotonic`), or the first `count`."""
        workers: dict[int, Worker] = {}
        try:
            for first in range(self._jobs):
                workers[first] = self._start_worker(first, deadline, count)
            self._watch(workers, deadline, count)
        finally:
            for worker in workers.values():
                worker.kill()

    def _watch(self, workers: dict[int, Worker], deadline: float, count: int | None) -> None:
        """Wait for processes, and replace those that end."""
        while workers:
            waiting = {worker.pipe: number for number, worker in workers.items()}
            ready, _, _ = select.select(list(waiting), [], [], 0.5)
            for number, worker in list(workers.items()):
                if worker.pipe in ready and worker.has_ended():
                    failed = worker.result()
                elif worker.hangs:
                    failed = worker.kill()
                else:
                    continue
                del workers[number]
                done = worker.input_count
                self.outcomes.update(worker.outcomes)
                if failed:
                    self._note(failed)
                    # A failed input counts as done only if the process survived it.
                    done = (failed.number - number) // self._jobs + 1
                worker.close()
                self.input_count += done
                after = number + done * self._jobs
                if time.monotonic() < deadline and (count is None or after < count):
                    workers[after] = self._start_worker(after, deadline, count)

    def _start_worker(self, first: int, deadline: float, count: int | None) -> Worker:
        numbers = range(first, sys.maxsize if count is None else count, self._jobs)
        inputs = ((n, lambda n=n: self._fuzzer.input_text(self._seed, n)) for n in numbers)
        return Worker(self._fuzzer, inputs, deadline)

    def _note(self, failed: FailedInput) -> None:
        key = failed.failure.key
        self.times[key] = self.times.get(key, 0) + 1
        if key not in self.first or len(failed.text) < len(self.first[key].text):
            self.first[key] = failed


def _report(fuzzer: Fuzzer, names: Sequence[object], texts: Sequence[str]) -> int:
    """Check inputs and print the failure of each; return the exit code."""
    failures = outcomes(fuzzer, texts)
    for name, failure in zip(names, failures, strict=True):
        print(f"{name}: {failure or 'no failure'}", file=sys.stderr)
    return int(any(failures))


def _save(fuzzer: Fuzzer, options: argparse.Namespace, failed: FailedInput, times: int) -> None:
    """Save an input that fails, and print how to reproduce it."""
    text, alone = minimise(fuzzer, failed, options.minimise)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"{failed.failure.slug}{fuzzer.suffix}"
    if not file.exists() or len(file.read_text(errors="surrogateescape")) > len(text):
        file.write_text(text, errors="surrogateescape")
    only = f"python -m fuzz.{fuzzer.name} --seed {options.seed} --only {failed.number}"
    print(f"\n{failed.failure}\n    {times} times; {only}")
    replay = f"python -m fuzz.{fuzzer.name} --replay {file}"
    print(f"    {replay}" + ("" if alone else "    # does not fail alone"), flush=True)
