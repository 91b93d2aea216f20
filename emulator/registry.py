"""What the emulator knows to execute: for each op's name, how to make a step of it.

A module anywhere in the emulator adds an op by one function. Most are in `ops/`; those of an
instruction set or of a copy engine are in its folder. The function is called once for each op of the
program, with the op (`Op`), and returns what to call each time that threads execute it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import EmulationError


@dataclass(frozen=True)
class Executor:
    """How ops of one name are executed.

    Attributes:
        make: from the op to what is called at each execution.
        raw: whether it is called as `step(convergent, *operands)` with values as they are, which may be
            poison or in flight; otherwise as `step(*operands)` with arrays that have been checked.
        waits: whether threads may have to wait at it for others.
        controls: whether it moves the threads to another place itself.
        collective: whether the threads of a warpgroup execute it together.
        tracked: whether an mbarrier says when it is complete, so that `VectorClocks` needs columns for it.
    """

    make: Callable[[Any], Callable[..., Any]]
    raw: bool = False
    waits: bool = False
    controls: bool = False
    collective: bool = False
    tracked: bool = False


#: Makes a step of an op and its assembly.
Assembly = Callable[[Any, str], Callable[..., Any] | None]

_EXECUTORS: dict[str, Executor] = {}
_ASSEMBLY: list[Assembly] = []


def computes(*names: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Registers ops that compute results from operands: `step(*arrays)` gives an array, or a tuple
    of the results."""
    return _adds(names)


def executes(
    *names: str, waits: bool = False, collective: bool = False, tracked: bool = False
) -> Callable[[Callable], Callable]:
    """Registers ops that touch the CTA's state: `step(convergent, *values)` gives what `computes`
    gives, or None. See `Executor` for the others."""
    waits |= collective
    return _adds(names, raw=True, waits=waits, collective=collective, tracked=tracked)


def controls(*names: str, waits: bool = False) -> Callable[[Callable], Callable]:
    """Registers ops that move threads to another place: `step(convergent, *values)` does it."""
    return _adds(names, raw=True, waits=waits, controls=True)


def _adds(names: tuple[str, ...], **kind: bool) -> Callable[[Callable], Callable]:
    def add(make: Callable) -> Callable:
        for name in names:
            assert name not in _EXECUTORS, name
            _EXECUTORS[name] = Executor(make, **kind)
        return make

    return add


def assembles(make: Assembly) -> Assembly:
    """Registers inline assembly: `make(op, text)` gives a step as `executes` does, or None if the text
    is not its own."""
    _ASSEMBLY.append(make)
    return make


def assembled(op: Any, text: str) -> Callable[..., Any] | None:
    """The step of an op of inline assembly of that text; None if nothing knows the text."""
    return next((step for make in _ASSEMBLY if (step := make(op, text))), None)


def executor(name: str, location: Any) -> Executor:
    """How ops of that name are executed.

    Raises:
        EmulationError: if the emulator does not know.
    """
    if name not in _EXECUTORS:
        raise EmulationError(f"'{name}' is an op that the emulator does not know", location)
    return _EXECUTORS[name]


def load_ops() -> None:
    """Imports every module of the emulator's folders, so that adding a file or a folder is enough."""
    package = sys.modules[__name__.rpartition(".")[0]]
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
