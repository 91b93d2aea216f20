"""The results of searches: on disk next to the compiled kernels, and in tables of the package."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from ....runtime.tuning.cache import is_used, read_config, write_entry
from ....runtime.tuning.halving import SearchResult
from ..generator.config import Config
from ..generator.problem import Problem
from .tuned_table import MEANING, packaged_config


@dataclass(frozen=True)
class Task:
    """The input of a search.

    Attributes:
        gpu: the GPU's name.
        problem: element types and major-ness.
        m, n, k: extents.
        configs: the configurations to search, the default first.
        from_caller: whether the caller of `tune` gave them; else they are the candidates, which may
            differ in another version.
        batch: the leading dimensions of the result.
    """

    gpu: str
    problem: Problem
    m: int
    n: int
    k: int
    configs: tuple[Config, ...]
    from_caller: bool = False
    batch: tuple[int, ...] = ()

    def key(self) -> dict[str, Any]:
        """Return the key of the result's file, as JSON data."""
        extents = {"m": self.m, "n": self.n, "k": self.k, "batch": list(self.batch)}
        return {"meaning": MEANING, "gpu": self.gpu, "problem": self.problem.described(), **extents}


def read_tuned(task: Task) -> Config | None:
    """Return the result for a task; None if there is none, or the file is not valid.

    A result of the candidates is one of later candidates, too: a search need not be repeated because the
    list has changed. Where the caller gave the configurations, they are those of the result.
    """
    return read_config(task.key(), Config(), task.problem, _caller_configs(task))


def tuned_config(
    gpu: str, problem: Problem, m: int, n: int, k: int, batch: tuple[int, ...] = ()
) -> Config | None:
    """Return the configuration that `tune` found, or else that of the package's table.

    None if there is neither, or the environment has `MLIR_SMEM_TUNED=off`.
    """
    if not is_used():
        return None
    key = Task(gpu, problem, m, n, k, (), batch=batch).key()
    config = read_config(key, Config(), problem)
    return config or (None if batch else packaged_config(gpu, problem, m, n, k))


def write_tuned(task: Task, result: SearchResult[Config]) -> None:
    """Write a result; warn if it cannot be written."""
    write_entry(task.key(), _caller_configs(task), result)


def _caller_configs(task: Task) -> list[dict[str, Any]] | None:
    if not task.from_caller:
        return None
    return json.loads(json.dumps([asdict(config) for config in task.configs]))
