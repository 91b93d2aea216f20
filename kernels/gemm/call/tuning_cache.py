"""The results of searches: on disk next to the compiled kernels, and in tables of the package."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ....runtime import cache_folder, read_cached, write_cached
from ...tuning.halving import Result
from ..generator.config import Config
from ..generator.problem import Problem
from .tuned_table import MEANING, as_config, packaged_config

#: What the name of a result's file ends with.
SUFFIX = ".tuned.json"


@dataclass(frozen=True)
class Task:
    """The input of a search.

    Attributes:
        gpu: the GPU's name.
        problem: element types and major-ness.
        m, n, k: extents.
        configs: the configurations to search, the default first.
        given: whether the caller of `tune` gave them; else they are the candidates, which may be others
            in another version.
        batch: the leading dimensions of the result.
    """

    gpu: str
    problem: Problem
    m: int
    n: int
    k: int
    configs: tuple[Config, ...]
    given: bool = False
    batch: tuple[int, ...] = ()

    def key(self) -> dict[str, Any]:
        """Return what the result's file is named after, as JSON data."""
        extents = {"m": self.m, "n": self.n, "k": self.k, "batch": list(self.batch)}
        return {"meaning": MEANING, "gpu": self.gpu, "problem": self.problem.described(), **extents}


def read_tuned(task: Task) -> Config | None:
    """Return the result for a task; None if there is none, or the file is not valid.

    A result of the candidates is one of later candidates, too: a search need not be repeated because the
    list has changed. Where the caller gave the configurations, they are those of the result.
    """
    entry = _entry(task)
    if entry is None or entry.get("given") != _given(task):
        return None
    return as_config(entry["config"], task.problem)


def tuned_config(
    gpu: str, problem: Problem, m: int, n: int, k: int, batch: tuple[int, ...] = ()
) -> Config | None:
    """Return the configuration that `tune` found, or else that of the package's table.

    None if there is neither, or the environment has `MLIR_SMEM_TUNED=off`.
    """
    if os.environ.get("MLIR_SMEM_TUNED") == "off":
        return None
    entry = _entry(Task(gpu, problem, m, n, k, (), batch=batch))
    found = as_config(entry["config"], problem) if entry else None
    return found or (None if batch else packaged_config(gpu, problem, m, n, k))


def write_tuned(task: Task, result: Result[Config]) -> None:
    """Write a result; warn if it cannot be written."""
    path = _path(task)
    if path is None:
        return
    entry = {
        "task": task.key(),
        "given": _given(task),
        "config": asdict(result.config),
        "seconds": [[asdict(config), time] for config, time in result.seconds.items()],
        "dropped": [[asdict(config), reason] for config, reason in result.dropped.items()],
    }
    write_cached(path, json.dumps(entry, indent=1).encode(), "the configuration that was found")


def _given(task: Task) -> list[dict[str, Any]] | None:
    if not task.given:
        return None
    return json.loads(json.dumps([asdict(config) for config in task.configs]))


def _entry(task: Task) -> dict[str, Any] | None:
    """Return the file's data if it is the task's and has a configuration."""
    path = _path(task)
    try:
        entry = json.loads((path and read_cached(path)) or b"{}")
        if entry["task"] == task.key() and "config" in entry:
            return entry
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    return None


def _path(task: Task) -> Path | None:
    folder = cache_folder()
    name = sha256(json.dumps(task.key(), sort_keys=True).encode()).hexdigest()
    return folder / f"{name}{SUFFIX}" if folder else None
