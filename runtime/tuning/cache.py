"""The results of searches, on disk next to the compiled kernels."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from ..cache import cache_folder, read_cached, write_cached
from .halving import SearchResult

#: What the name of a result's file ends with.
SUFFIX = ".tuned.json"

#: Stands for any configurations that a caller may have given.
_ANY = object()

#: A configuration; a dataclass, where it is read as such.
D = TypeVar("D", bound=Any)


def is_used() -> bool:
    """Return whether results are used: not if the environment has `MLIR_SMEM_TUNED=off`."""
    return os.environ.get("MLIR_SMEM_TUNED") != "off"


def read_config(
    key: Mapping[str, Any], default: D, problem: object, caller_configs: object = _ANY
) -> D | None:
    """Return the configuration that was written by a key; None if there is none that fits.

    Args:
        key: the input of the search, as JSON data.
        default: a configuration, whose `check` takes the problem.
        problem: the problem.
        caller_configs: as for `write_entry`, if it must be the same.
    """
    entry = read_entry(key)
    if entry is None or (caller_configs is not _ANY and entry.get("given") != caller_configs):
        return None
    return fitting(entry["config"], default, problem)


def fitting(data: Any, default: D, problem: object) -> D | None:
    """Return a configuration from JSON data; None if it is none, or does not fit."""
    try:
        config = config_of(data, default)
        config.check(problem)
    except (TypeError, ValueError, LookupError):  # a ConfigError is a ValueError
        return None
    return config


def read_entry(key: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what was written by a key, if it has a configuration; None if the file is not valid."""
    path = entry_path(key)
    try:
        entry = json.loads((path and read_cached(path)) or b"{}")
        if entry["task"] == key and "config" in entry:
            return entry
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    return None


def write_entry(
    key: Mapping[str, Any],
    caller_configs: object,
    result: SearchResult[D],
    to_data: Callable[[D], Any] = asdict,
) -> None:
    """Write a result; warn if it cannot be written.

    Args:
        key: the input of the search, as JSON data.
        caller_configs: the configurations of the caller, as JSON data; None for the candidates.
        result: the result.
        to_data: returns a configuration as JSON data.
    """
    path = entry_path(key)
    if path is None:
        return
    entry = {
        "task": key,
        "given": caller_configs,
        "config": to_data(result.config),
        "seconds": [[to_data(config), time] for config, time in result.seconds.items()],
        "dropped": [[to_data(config), reason] for config, reason in result.dropped.items()],
    }
    write_cached(path, json.dumps(entry, indent=1).encode(), "the configuration that was found")


def entry_path(key: Mapping[str, Any]) -> Path | None:
    """Return the file of a key; None if the cache is off."""
    folder = cache_folder()
    name = sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    return folder / f"{name}{SUFFIX}" if folder else None


def config_of(data: Any, default: D) -> D:
    """Return the configuration of JSON data, whose values have the types of the default's.

    Raises:
        ValueError: for other data.
        TypeError: for a value that is missing.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a configuration is {data!r}")
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in data.items()
    }
    unknown = values.keys() - {field.name for field in fields(default)}
    if unknown:
        raise ValueError(f"a configuration has no {', '.join(sorted(unknown))}")
    config = type(default)(**values)
    for field in fields(default):
        value = getattr(config, field.name)
        if _types(value) != _types(getattr(default, field.name)):
            raise ValueError(f"{field.name} is {value!r}")
    return config


def _types(value: Any) -> list[type]:
    return [type(element) for element in value] if isinstance(value, tuple) else [type(value)]
