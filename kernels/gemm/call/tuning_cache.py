"""What searches found, kept on disk beside the compiled kernels."""

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

#: What is searched, and how; results of another version are not read.
_VERSION = 1


@dataclass(frozen=True)
class Task:
    """What a search is for.

    Attributes:
        gpu: the GPU's name.
        problem: element types and majors.
        m, n, k: extents.
        configs: the configurations to search.
    """

    gpu: str
    problem: Problem
    m: int
    n: int
    k: int
    configs: tuple[Config, ...]

    def described(self) -> dict[str, Any]:
        """All that the result depends on, for JSON."""
        return {"version": _VERSION, **json.loads(json.dumps(asdict(self)))}


@dataclass(frozen=True)
class Result:
    """What a search found.

    Attributes:
        config: the fastest configuration.
        seconds: of a product with each that was measured, the median.
        dropped: why others were not.
    """

    config: Config
    seconds: dict[Config, float]
    dropped: dict[Config, str]


def read_tuned(task: Task) -> Config | None:
    """What was found for a task; None if nothing was, or the file holds anything else."""
    path = _path(task)
    try:
        entry = json.loads((path and read_cached(path)) or b"{}")
        if entry["task"] == task.described():
            number = entry["task"]["configs"].index(entry["fastest"])
            return task.configs[number]
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    return None


def tuned_config(gpu: str, problem: Problem, m: int, n: int, k: int) -> Config | None:
    """What `tune` found for a product among its own candidates; None if it was not asked yet."""
    return read_tuned(Task(gpu, problem, m, n, k, tuple(candidates(problem, m, n, k))))


def write_tuned(task: Task, result: Result) -> None:
    """Keeps what was found; where it cannot be written, it is done without, with a warning."""
    path = _path(task)
    if path is None:
        return
    described = task.described()
    entry = {
        "task": described,
        "fastest": described["configs"][task.configs.index(result.config)],
        "seconds": _by_number(task.configs, result.seconds),
        "dropped": _by_number(task.configs, result.dropped),
    }
    write_cached(path, json.dumps(entry, indent=1).encode(), "the configuration that was found")


def _by_number(configs: Sequence[Config], said: dict[Config, Any]) -> dict[str, Any]:
    return {str(i): said[config] for i, config in enumerate(configs) if config in said}


def _path(task: Task) -> Path | None:
    folder = cache_folder()
    name = sha256(json.dumps(task.described(), sort_keys=True).encode()).hexdigest()
    return folder / f"{name}.tuned.json" if folder else None
