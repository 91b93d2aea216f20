"""Tables of configurations that were tuned ahead, `tuned/<gpu>.json`: one file for each GPU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ....runtime.tuning.cache import config_of, fitting
from ..generator.config import Config
from ..generator.problem import Problem

#: The version of what a `Config` means. Raise it where the generator makes another kernel of equal
#: fields: results of another version are not read. A new field whose default is the old kernel needs
#: no new version.
MEANING = 1

#: The tables of the package.
FOLDER = Path(__file__).parents[1] / "tuned"

#: The configuration of each GEMM, by `gemm_key`.
Table = dict[str, Config]


class TableError(ValueError):
    """A file that is no table; the message states what it lacks."""


def gemm_key(problem: Problem, m: int, n: int, k: int) -> str:
    """Return a GEMM as the key of a table.

    Example:
        >>> gemm_key(Problem(), 512, 256, 128)
        'bf16,bf16,bf16,k,n,n 512x256x128'
    """
    types = problem.a, problem.b, problem.c, problem.a_major, problem.b_major, problem.c_major
    text = ",".join(types)
    if problem.batch or problem.fusion:
        described = json.dumps(problem.described(), sort_keys=True)
        text += f",{sha256(described.encode()).hexdigest()[:16]}"
    return f"{text} {m}x{n}x{k}"


def packaged_config(gpu: str, problem: Problem, m: int, n: int, k: int) -> Config | None:
    """Return the configuration of the package's table; None if it has none that fits."""
    numbers, configs = _read_packaged(FOLDER, gpu)
    try:
        return as_config(configs[numbers[gemm_key(problem, m, n, k)]], problem)
    except (LookupError, TypeError):
        return None


def as_config(data: Any, problem: Problem) -> Config | None:
    """Return a configuration from JSON data; None if it is none, or does not fit."""
    return fitting(data, Config(), problem)


def table_name(gpu: str) -> str:
    """Return the file's name of a GPU's table.

    Example:
        >>> table_name("NVIDIA H200")
        'nvidia-h200.json'
    """
    return "".join(c if c.isalnum() else "-" for c in gpu.lower()) + ".json"


def write_table(path: Path, gpu: str, table: Mapping[str, Config]) -> None:
    """Write a table. A configuration stands in it once, and GEMMs have its number."""
    configs = list(dict.fromkeys(table.values()))
    numbers = {config: number for number, config in enumerate(configs)}
    data = {
        "meaning": MEANING,
        "gpu": gpu,
        "configs": [asdict(config) for config in configs],
        "gemms": {key: numbers[table[key]] for key in sorted(table)},
    }
    path.write_text(json.dumps(data, indent=0) + "\n")


def read_table(path: Path, gpu: str) -> Table:
    """Return the table of a file.

    Raises:
        TableError: if the file is no table of this GPU and `MEANING`.
        OSError: if it cannot be read.
    """
    try:
        numbers, configs = _read_checked(path, gpu)
        return {key: _config(configs[number]) for key, number in numbers.items()}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise TableError(f"{path} is no table of {gpu}: {error}") from None


@lru_cache(maxsize=4)
def _read_packaged(folder: Path, gpu: str) -> tuple[dict[str, int], list[Any]]:
    try:
        return _read_checked(folder / table_name(gpu), gpu)
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return {}, []


def _read_checked(path: Path, gpu: str) -> tuple[dict[str, int], list[Any]]:
    data = json.loads(path.read_bytes())
    for name, expected in (("meaning", MEANING), ("gpu", gpu)):
        if data[name] != expected:
            raise TableError(f"its {name} is {data[name]!r}; expected {expected!r}")
    numbers, configs = data["gemms"], data["configs"]
    if not (isinstance(numbers, dict) and isinstance(configs, list)):
        raise TableError("its gemms are no object, or its configs no list")
    return numbers, configs


def _config(data: Any) -> Config:
    return config_of(data, Config())
