"""The configurations that `tune` has found, by what they depend on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...tuning.cache import is_used, read_config
from ..generator.config import Config, default_config
from ..generator.problem import Problem
from .operands import AttentionExtents

#: The version of what a `Config` means. Raise it where the generator makes another kernel of equal
#: fields: results of another version are not read.
_MEANING = 1


@dataclass(frozen=True)
class AttentionTask:
    """What a configuration is task for.

    Attributes:
        gpu: the GPU's name; None for the emulator.
        problem: the problem.
        extents: those of the kernel's arrays.
        sequences: how many there are.
        longest: a number of queries that no sequence has more of, times the heads of a tile.
    """

    gpu: str | None
    problem: Problem
    extents: AttentionExtents
    sequences: int
    longest: int

    @property
    def default(self) -> Config:
        """The configuration without a search."""
        of_one = -(-self.extents.keys // max(self.sequences, 1))
        return default_config(self.problem, self.longest, of_one)

    def key(self) -> dict[str, Any]:
        """Return what the result's file is named after, as JSON data."""
        return {"meaning": _MEANING, "kernel": "attention"} | asdict(self)


def tuned_config(task: AttentionTask) -> Config | None:
    """Return the configuration that `tune` found; None if it found none, or `MLIR_SMEM_TUNED` is off."""
    if task.gpu is None or not is_used():
        return None
    return read_config(task.key(), Config(), task.problem)


def read_searched(task: AttentionTask, caller_configs: object) -> Config | None:
    """Return the result of an earlier search.

    Args:
        task: what for.
        caller_configs: the configurations that the caller gives, as JSON data; None if these are the candidates,
            which may be others in another version.
    """
    return read_config(task.key(), Config(), task.problem, caller_configs)
