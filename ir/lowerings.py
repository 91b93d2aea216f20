"""The registry of lowering functions by op class."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, TypeVar

from ..bindings.irtypes import Op
from ..dialect.op import SmemOp

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Lowerings:
    """Functions that lower ops, registered by op class.

    Each file of a pass's folder registers functions; `load` imports all files.
    """

    def __init__(self) -> None:
        self._functions: dict[type[SmemOp], Callable[..., Any]] = {}

    def of(self, *classes: type[SmemOp]) -> Callable[[_Function], _Function]:
        """Return a decorator that registers a function for op classes and their subclasses."""

        def add(function: _Function) -> _Function:
            for class_ in classes:
                if class_ in self._functions:
                    raise ValueError(f"{class_.__name__} is registered twice")
                self._functions[class_] = function
            return function

        return add

    @property
    def classes(self) -> tuple[type[SmemOp], ...]:
        """The op classes with a registered function."""
        return tuple(self._functions)

    def find(self, op: Op) -> Callable[..., Any] | None:
        """Return the function for an op; None if none is registered for its class."""
        return next((self._functions[c] for c in type(op).__mro__ if c in self._functions), None)

    def __getitem__(self, op: Op) -> Callable[..., Any]:
        """Return the function for an op; one must be registered for its class."""
        function = self.find(op)
        assert function is not None, op
        return function


def load(package: str, folder: Any) -> None:
    """Import every module of a package, so that their functions are registered.

    Args:
        package: the package (`__name__` of its `__init__.py`).
        folder: its path (`__path__`).
    """
    for module in pkgutil.iter_modules(folder):
        importlib.import_module(f"{package}.{module.name}")
