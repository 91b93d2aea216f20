"""The registry of ops: for each op's name, the function that makes its step.

A module anywhere in the emulator adds an op by one function. Most are in `ops/`; those of an instruction
set or of TMA are in their own folder. The function is called once for each op of the program, with the op
(`Op`), and returns the step, which is called each time that threads execute the op.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .errors import EmulationError


@dataclass(frozen=True)
class Executor:
    """How ops of one name are executed.

    Attributes:
        make: makes the step of an op.
        raw: whether the step is called as `step(convergent, *operands)` with unchecked values, which may
            be poison or in flight; otherwise it is called as `step(*operands)` with checked arrays.
        waits: whether threads may have to wait for others at the op.
        controls: whether the step moves the threads to another position.
        collective: whether all threads of a warpgroup execute the op together.
        tracked: whether its completion is observed at an mbarrier, so that `VectorClocks` needs columns.
    """

    make: Callable[[Any], Callable[..., Any]]
    raw: bool = False
    waits: bool = False
    controls: bool = False
    collective: bool = False
    tracked: bool = False


#: Makes the step of an op of inline assembly, from the op and its text.
Assembly = Callable[[Any, str], Callable[..., Any] | None]

_EXECUTORS: dict[str, Executor] = {}
_ASSEMBLY: list[Assembly] = []


def computes(*names: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register ops that compute results from operands: `step(*arrays)` returns an array, or a tuple of
    the results."""
    return _register(names)


def executes(
    *names: str, waits: bool = False, collective: bool = False, tracked: bool = False
) -> Callable[[Callable], Callable]:
    """Register ops that access the state of the CTA: `step(convergent, *values)` returns the results as
    in `computes`, or None. See `Executor` for the flags."""
    waits |= collective
    return _register(names, raw=True, waits=waits, collective=collective, tracked=tracked)


def controls(*names: str, waits: bool = False) -> Callable[[Callable], Callable]:
    """Register ops of control flow: `step(convergent, *values)` moves the threads."""
    return _register(names, raw=True, waits=waits, controls=True)


def _register(names: tuple[str, ...], **flags: bool) -> Callable[[Callable], Callable]:
    def add(make: Callable) -> Callable:
        for name in names:
            if name in _EXECUTORS:
                raise ValueError(f"{name} is registered twice")
            _EXECUTORS[name] = Executor(make, **flags)
        return make

    return add


def assembles(make: Assembly) -> Assembly:
    """Register inline assembly: `make(op, text)` returns a step as `executes` does; None for other
    text."""
    _ASSEMBLY.append(make)
    return make


def assembly_step(op: Any, text: str) -> Callable[..., Any] | None:
    """Return the step of an op of inline assembly; None if no registered function accepts the text."""
    return next((step for make in _ASSEMBLY if (step := make(op, text))), None)


def executor(op: Any) -> Executor:
    """Return how an op (an `ir.Operation`) is executed.

    Raises:
        EmulationError: if no op of its name is registered.
    """
    if (entry := _EXECUTORS.get(op.name)) is None:
        raise EmulationError(f"'{op.name}' is an op that the emulator does not know", op.location)
    return entry


@cache
def load_ops() -> None:
    """Import every module of the emulator, so that a new file or folder registers its ops."""
    package = sys.modules[__name__.rpartition(".")[0]]
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
