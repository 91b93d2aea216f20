"""The results of searches, on disk next to the compiled kernels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ....runtime import cache_folder, read_cached, write_cached
from ..generator.candidates import candidates
from ..generator.config import Config
from ..generator.problem import Problem

#: The version of the search; results of another version are not read.
_VERSION = 1


@dataclass(frozen=True)
class Task:
    """The input of a search.

    Attributes:
        gpu: the GPU's name.
        problem: element types and major-ness.
        m, n, k: extents.
        configs: the configurations to search.
        batch: the leading dimensions of the result.
    """

    gpu: str
    problem: Problem
    m: int
    n: int
    k: int
    configs: tuple[Config, ...]
    batch: tuple[int, ...] = ()

    def described(self) -> dict[str, Any]:
        """Return everything that the result depends on, as JSON data."""
        described = {**vars(self), "problem": self.problem.described()}
        described["configs"] = [asdict(config) for config in self.configs]
        return {"version": _VERSION, **json.loads(json.dumps(described))}


@dataclass(frozen=True)
class Result:
    """The result of a search.

    Attributes:
        config: the fastest configuration.
        seconds: the median time of a GEMM with each measured configuration.
        dropped: the reasons why other configurations were not measured.
    """

    config: Config
    seconds: dict[Config, float]
    dropped: dict[Config, str]


def read_tuned(task: Task) -> Config | None:
    """Return the result for a task; None if there is none, or the file is not valid."""
    path = _path(task)
    try:
        entry = json.loads((path and read_cached(path)) or b"{}")
        if entry["task"] == task.described():
            index = entry["task"]["configs"].index(entry["fastest"])
            return task.configs[index]
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    return None


def tuned_config(
    gpu: str, problem: Problem, m: int, n: int, k: int, batch: tuple[int, ...] = ()
) -> Config | None:
    """Return the configuration that `tune` found among `candidates`; None if it has not run."""
    configs = tuple(candidates(problem, m, n, k, batch=batch))
    return read_tuned(Task(gpu, problem, m, n, k, configs, batch))


def write_tuned(task: Task, result: Result) -> None:
    """Write a result; warn if it cannot be written."""
    path = _path(task)
    if path is None:
        return
    described = task.described()
    entry = {
        "task": described,
        "fastest": described["configs"][task.configs.index(result.config)],
        "seconds": _by_index(task.configs, result.seconds),
        "dropped": _by_index(task.configs, result.dropped),
    }
    write_cached(path, json.dumps(entry, indent=1).encode(), "the configuration that was found")


def _by_index(configs: Sequence[Config], values: dict[Config, Any]) -> dict[str, Any]:
    return {str(i): values[config] for i, config in enumerate(configs) if config in values}


def _path(task: Task) -> Path | None:
    folder = cache_folder()
    name = sha256(json.dumps(task.described(), sort_keys=True).encode()).hexdigest()
    return folder / f"{name}.tuned.json" if folder else None
