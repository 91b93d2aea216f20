"""What a pass does with an op, by the op's class."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, TypeVar

from ..dialect.op import SmemOp

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Lowerings:
    """Functions that lower ops; each is registered for the classes of ops that it takes.

    A file of the pass's folder adds an op by one function; `load` imports all of them.
    """

    def __init__(self) -> None:
        self._functions: dict[type[SmemOp], Callable[..., Any]] = {}

    def of(self, *classes: type[SmemOp]) -> Callable[[_Function], _Function]:
        """Registers a function for ops of some classes, and of those that inherit from them."""

        def add(function: _Function) -> _Function:
            for each in classes:
                assert each not in self._functions, each
                self._functions[each] = function
            return function

        return add

    @property
    def classes(self) -> tuple[type[SmemOp], ...]:
        """The classes of the ops that are lowered."""
        return tuple(self._functions)

    def find(self, op: Any) -> Callable[..., Any] | None:
        """The function for an op; None if it is of none of the classes."""
        return next((self._functions[c] for c in type(op).__mro__ if c in self._functions), None)

    def __getitem__(self, op: Any) -> Callable[..., Any]:
        """The function for an op, which is of one of the classes."""
        function = self.find(op)
        assert function is not None, op
        return function


def load(package: str, folder: Any) -> None:
    """Imports every file of a folder, so that adding one is enough.

    Args:
        package: the folder's package (`__name__` of its `__init__.py`).
        folder: where it lies (`__path__`).
    """
    for module in pkgutil.iter_modules(folder):
        importlib.import_module(f"{package}.{module.name}")
