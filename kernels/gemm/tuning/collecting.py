"""Collect the results of `tune` from caches, those of several machines or workers, into one table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ....runtime.tuning.cache import SUFFIX
from ..call.tuned_table import MEANING, Table, as_config, gemm_key
from ..generator.problem import Problem


def collect(folders: Iterable[Path]) -> dict[str, Table]:
    """Return the tables of the results in caches, by the GPU's name.

    Where two caches have a result for one GEMM, the later folder's counts. Files that are no results of
    this version are left out.

    Raises:
        OSError: if a folder cannot be read.
    """
    tables: dict[str, Table] = {}
    for folder in folders:
        for file in sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX)):
            try:
                entry = json.loads(file.read_bytes())
                _add(tables, entry)
            except (ValueError, TypeError, LookupError, RecursionError):
                continue
    return tables


def _add(tables: dict[str, Table], entry: Any) -> None:
    task = entry["task"]
    described = task["problem"]
    if task["batch"] or described["fusion"]:
        # A table has plain products alone: an epilogue is a function, which a file does not have.
        return
    problem = Problem(**{**described, "batch": ()})
    config = as_config(entry["config"], problem)
    if config is None or task["meaning"] != MEANING:
        return
    key = gemm_key(problem, task["m"], task["n"], task["k"])
    tables.setdefault(task["gpu"], {})[key] = config
