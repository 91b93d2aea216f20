"""Check inputs in processes of their own."""

import math
import select
from collections.abc import Sequence

from .fuzzer import Failure, Fuzzer
from .worker import FailedInput, Worker


def outcome(fuzzer: Fuzzer, text: str) -> Failure | None:
    """Check an input in a process of its own; return its failure."""
    return outcomes(fuzzer, [text])[0]


def outcomes(fuzzer: Fuzzer, texts: Sequence[str]) -> list[Failure | None]:
    """Check inputs one after another; return the failure of each.

    One process checks them until one fails; another one checks the next.
    """
    failures: list[Failure | None] = []
    while len(failures) < len(texts):
        inputs = [(n, lambda n=n: texts[n]) for n in range(len(failures), len(texts))]
        worker = Worker(fuzzer, inputs, math.inf)
        try:
            failed = _end(worker)
            passed = failed.number - len(failures) if failed else worker.input_count
        finally:
            worker.close()
        failures += [None] * passed
        if failed:
            failures.append(failed.failure)
    return failures


def _end(worker: Worker) -> FailedInput | None:
    """Wait until a process ends; return the input that failed."""
    while True:
        ready, _, _ = select.select([worker.pipe], [], [], 0.5)
        if ready and worker.has_ended():
            return worker.result()
        if worker.hangs:
            return worker.kill()
