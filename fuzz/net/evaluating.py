"""Evaluate programs of the net in several processes; a crash or a hang is an outcome."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from ..frame.fuzzer import Fuzzer
from ..frame.main import FuzzRun
from ..frame.worker import FailedInput
from .programs import program
from .verdicts import Row, row

#: CPU seconds after which a program counts as a hang.
_SECONDS = 60.0


def evaluate_programs(
    indices: Sequence[int],
    seed: int,
    schedules: int,
    jobs: int,
    seconds: float,
    before: Mapping[int, Row] | None = None,
) -> dict[int, Row]:
    """Return the rows of programs, by index.

    Args:
        indices: the programs.
        seed: the seed of the programs.
        schedules: under how many schedules the emulator runs each.
        jobs: the number of processes.
        seconds: wall seconds after which no other program is begun; its row is missing then.
        before: earlier rows of programs; see `row`.
    """

    def check(text: str) -> str:
        index = int(text)
        was = before.get(index) if before else None
        return json.dumps([index, asdict(row(program(index, seed), schedules, was))])

    fuzzer = _Net("net", lambda _: "", check, lifetime=300, seconds=_SECONDS, indices=indices)
    run = _Evaluations(fuzzer, seed, min(jobs, max(1, len(indices))))
    run.until(time.monotonic() + seconds, len(indices))
    rows = {}
    for outcome in run.outcomes:
        index, fields = json.loads(outcome)
        runs = {name: tuple(fields[name]) for name in ("runs", "inserted_runs")}
        rows[index] = Row(**fields | runs)
    for failed in run.failures:
        code = "h" if failed.failure.kind == "hang" else "c"
        index = indices[failed.number]
        rows[index] = Row(program(index, seed).digest, code)
    return rows


@dataclass(frozen=True)
class _Net(Fuzzer):
    """The programs of some indices, each as the text of its index."""

    indices: Sequence[int] = ()

    def input_text(self, seed: int, number: int) -> str:
        return str(self.indices[number])


class _Evaluations(FuzzRun):
    """Programs that are evaluated.

    Attributes:
        failures: every program that crashed or hung.
    """

    def __init__(self, fuzzer: Fuzzer, seed: int, jobs: int) -> None:
        super().__init__(fuzzer, seed, jobs)
        self.failures: list[FailedInput] = []

    def _note(self, failed: FailedInput) -> None:
        self.failures.append(failed)
