"""Values that a trace can read besides its arguments: globals and closures of the kernel and its helpers.

The names are those that the functions' code loads. Functions of the author's are followed; those of
Python's library and of installed packages are not: these do not change while a program runs.
"""

from __future__ import annotations

import builtins
import dis
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .freeze import freeze, is_constant
from .locations import LIBRARY_FOLDERS

#: Marks a name that has no value.
_MISSING = object()


class Reads:
    """A snapshot of the values that a trace of a function can read.

    Args:
        function: the function that is traced.
        constants: the constants of the call. They are part of its key, so only the values that functions
            among them read are in the snapshot.
        defaults: the defaults of the other constants. A list among them may change.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        constants: Iterable[Any] = (),
        defaults: Iterable[Any] = (),
    ) -> None:
        self._names: list[tuple[Mapping[str, Any], str, Any]] = []
        self._snapshots: list[tuple[Callable[[], Any], Any, bool]] = []
        self._seen: set[int] = set()
        self._alive: list[Any] = []
        self._seen_names: set[tuple[int, str]] = set()
        self._note(function)
        self._read(lambda: function.__code__)
        self._follow_code(function, function.__code__)
        for constant in (*constants, *defaults):
            self._follow(constant)
        for default in defaults:
            if not is_constant(default):
                self._read(lambda default=default: default)

    def hold(self) -> bool:
        """Return whether all values are still the same."""
        for namespace, name, value in self._names:
            if namespace.get(name, _MISSING) is not value:
                return False
        for read, value, constant in self._snapshots:
            current = read()
            if current is not value if constant else freeze(current) != value:
                return False
        return True

    def _follow(self, value: Any) -> None:
        """Follow a function of the author's, also within a container; other values read nothing."""
        if isinstance(value, Mapping):
            value = tuple(value.values())
        if isinstance(value, list | tuple | set | frozenset):
            if id(value) not in self._seen:
                self._note(value)
                for element in value:
                    self._follow(element)
            return
        value = _function(value)
        if value is None or id(value) in self._seen:
            return
        if value.__code__.co_filename.startswith(LIBRARY_FOLDERS):
            return
        self._note(value)
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._read(partial(getattr, value, name))
        self._follow_code(value, value.__code__)

    def _note(self, value: Any) -> None:
        """Note a value that is followed, so that it is followed once."""
        self._seen.add(id(value))
        self._alive.append(value)

    def _follow_code(self, function: FunctionType, code: CodeType) -> None:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for first, names in _chains(code):
            if first in cells and first in code.co_freevars:
                target = _content(cells[first])
                if (id(cells[first]), first) not in self._seen_names:
                    self._seen_names.add((id(cells[first]), first))
                    self._read(partial(_content, cells[first]))
            elif first in code.co_names:
                target = self._read_name(function.__globals__, first)
            else:
                continue
            self._follow_attributes(target, names)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._follow_code(function, constant)

    def _read_name(self, namespace: Mapping[str, Any], name: str) -> Any:
        """Read a global name, or that of a builtin."""
        value = namespace.get(name, _MISSING)
        if (id(namespace), name) not in self._seen_names:
            self._seen_names.add((id(namespace), name))
            if value is _MISSING or is_constant(value):
                self._names.append((namespace, name, value))
            else:
                self._read(lambda: namespace.get(name, _MISSING))
        return vars(builtins).get(name) if value is _MISSING else value

    def _read(self, read: Callable[[], Any]) -> Any:
        value = read()
        constant = value is _MISSING or is_constant(value)
        self._snapshots.append((read, value if constant else freeze(value), constant))
        return value

    def _follow_attributes(self, value: Any, names: list[str]) -> None:
        """Follow the attributes of a value that code reads, such as `tiles.M` or `config.rows()`."""
        for name in names:
            if isinstance(value, ModuleType):
                if (getattr(value, "__file__", None) or "").startswith(LIBRARY_FOLDERS):
                    return
                value = self._read_name(vars(value), name)
                continue
            self._follow(value)
            value = self._attribute(value, name)
        self._follow(value)

    def _attribute(self, value: Any, name: str) -> Any:
        """Return an attribute of an object or a class; None if only a call returns it."""
        if name in getattr(value, "__dict__", ()) and not isinstance(value, type):
            return vars(value)[name]  # a part of the object's snapshot
        cls = value if isinstance(value, type) else type(value)
        for base in cls.__mro__:
            if name in vars(base):
                attribute = self._read_name(vars(base), name)
                if isinstance(attribute, property):
                    return attribute.fget
                return getattr(attribute, "__func__", attribute)
        return None


def _function(value: Any) -> FunctionType | None:
    """Return the function that is called for a value; None if it is not written in Python."""
    while isinstance(value, partial):
        value = value.func
    # Objects that make their attributes when asked, such as `torch.classes`, are not asked.
    if isinstance(value, MethodType | staticmethod | classmethod):
        value = value.__func__
    if not isinstance(value, FunctionType | type):
        # `functools.cache` is not written in Python; it names the function that it calls.
        wrapped = inspect.getattr_static(value, "__wrapped__", None)
        value = wrapped or inspect.getattr_static(type(value), "__call__", None)
    return value if isinstance(value, FunctionType) else None


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _chains(code: CodeType) -> Iterator[tuple[str, list[str]]]:
    """Yield the globals and closures that code loads, each with the attributes that it takes of them."""
    first: str | None = None
    names: list[str] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "EXTENDED_ARG":
            continue
        if first is not None and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            names.append(instruction.argval)
            continue
        if first is not None:
            yield first, names
        loads = instruction.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_CLASSDEREF")
        first, names = (instruction.argval if loads else None), []
    if first is not None:
        yield first, names
