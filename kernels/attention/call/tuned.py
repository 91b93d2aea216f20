"""Configurations on disk that `tune` has measured, by the inputs of the search."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ....runtime.tuning.cache import is_used, read_config
from ..generator.config import Config, default_config
from ..generator.problem import Problem
from .operands import AttentionExtents

#: The version of what a `Config` means. Raise it where the generator makes another kernel of equal
#: fields: results of another version are not read.
_MEANING = 1


@dataclass(frozen=True)
class AttentionTask:
    """The input of a search for a configuration.

    Attributes:
        gpu: the GPU's name; None for the emulator.
        problem: the problem.
        extents: the extents of the kernel's arrays.
        sequences: the number of sequences.
        longest: an upper bound of the queries of a sequence, times the heads of a tile.
    """

    gpu: str | None
    problem: Problem
    extents: AttentionExtents
    sequences: int
    longest: int

    @property
    def default(self) -> Config:
        """The configuration without a search."""
        keys = -(-self.extents.keys // max(self.sequences, 1))
        return default_config(self.problem, self.longest, keys)

    def key(self) -> dict[str, Any]:
        """Return the key of the result's file, as JSON data."""
        return {"meaning": _MEANING, "kernel": "attention"} | asdict(self)


def tuned_config(task: AttentionTask) -> Config | None:
    """Return the configuration that `tune` found; None if it found none, or `MLIR_SMEM_TUNED` is off."""
    if task.gpu is None or not is_used():
        return None
    return read_config(task.key(), Config(), task.problem)


def read_searched(task: AttentionTask, caller_configs: object) -> Config | None:
    """Return the result of an earlier search.

    Args:
        task: the input of the search.
        caller_configs: the configurations that the caller gives, as JSON data; None for the candidates,
            which may differ in another version.
    """
    return read_config(task.key(), Config(), task.problem, caller_configs)
