"""Objects that keep values by keys: containers, objects with attributes, closures, globals."""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from ..locations import FOLDER, LIBRARY_FOLDERS
from .bytecode import is_read_after

#: Folders of this package whose state is not the author's; kernels are written in others.
_PROJECT_FOLDERS = tuple(
    f"{Path(FOLDER).parent}/{room}/"
    for room in (
        "language",
        "bindings",
        "dialect",
        "layout",
        "ir",
        "passes",
        "codegen",
        "emulator",
        "runtime",
    )
)

#: Classes of Python's library whose objects an author fills.
_LIBRARY = ("types", "collections", "argparse")

#: Attributes of a class that are no data of it.
_METHODS = (FunctionType, property, classmethod, staticmethod, type)


@dataclass(frozen=True, eq=False)
class Holder:
    """An object that keeps values by keys.

    Attributes:
        text: the author's name of it.
        object: the object itself.
        read: returns its values by key.
        write: assigns the value of a key.
        form: the author's notation for the value of a key, for example "{}[{!r}]".
    """

    text: str
    object: Any
    read: Callable[[], dict[Any, Any]]
    write: Callable[[Any, Any], None]
    form: str

    def name(self, key: Any) -> str:
        """Return the author's notation for the value of a key."""
        return self.form.format(self.text, key)


class Slot:
    """A value outside of a function's own variables: a key of a holder. Slots compare by object and key.

    Attributes:
        holder: the holder of the value.
        key: the key of the value in the holder.
    """

    def __init__(self, holder: Holder, key: Any) -> None:
        self.holder = holder
        self.key = key

    def __str__(self) -> str:
        return self.holder.name(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slot) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[int, Any]:
        return id(self.holder.object), self.key

    @property
    def is_read(self) -> bool:
        """Whether its value may be read; that of a variable, before the variable is assigned."""
        frame = self.holder.object
        return not isinstance(frame, FrameType) or is_read_after(frame, self.key)

    def read(self) -> Any:
        """Return the value; None if the holder has no such key."""
        return self.holder.read().get(self.key)

    def write(self, value: Any) -> None:
        """Assign the value."""
        self.holder.write(self.key, value)


def container(text: str, value: Any) -> Holder | None:
    """Return the holder for a list, a tuple or a dictionary; None for another object."""
    if isinstance(value, list | deque | tuple):
        write = _refuse if isinstance(value, tuple) else value.__setitem__
        return Holder(text, value, lambda: dict(enumerate(value)), write, "{}[{!r}]")
    if isinstance(value, dict):
        return Holder(text, value, lambda: dict(value), value.__setitem__, "{}[{!r}]")
    return None


def attributes(text: str, value: Any) -> Holder | None:
    """Return the holder for the attributes of an author's object; None if it has none."""
    cls = type(value)
    if not is_authors(cls):
        return None
    slots = _slots(cls)
    if not slots and not hasattr(value, "__dict__"):
        return None

    def read() -> dict[str, Any]:
        values = dict(getattr(value, "__dict__", ()))
        values.update((name, getattr(value, name)) for name in slots if hasattr(value, name))
        return {
            name: attribute
            for name, attribute in values.items()
            if name not in _cached_properties(cls)
        }

    def write(name: str, new: Any) -> None:
        object.__setattr__(value, name, new)

    return Holder(text, value, read, write, "{}.{}")


def class_attributes(cls: type) -> Holder:
    """Return the holder for the data of a class."""

    def read() -> dict[str, Any]:
        return {
            name: value
            for name, value in vars(cls).items()
            if not name.startswith("__")
            and not isinstance(value, _METHODS)
            and not hasattr(value, "__get__")
        }

    return Holder(cls.__name__, cls, read, lambda name, new: setattr(cls, name, new), "{}.{}")


def cells(function: FunctionType) -> list[Holder]:
    """Return the holders for the variables of other functions that a function uses."""

    def holder(name: str, cell: CellType) -> Holder:
        def write(name: str, new: Any) -> None:
            cell.cell_contents = new

        return Holder(
            "", cell, lambda: {name: cell.cell_contents} if _has_content(cell) else {}, write, "{1}"
        )

    names = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return [holder(name, cell) for name, cell in names]


def variables(frame: FrameType) -> Holder:
    """Return the holder for the variables of a function that runs."""

    def write(name: str, new: Any) -> None:
        set_local(frame, {name: new})

    return Holder("", frame, lambda: dict(frame.f_locals), write, "{1}")


def set_local(frame: FrameType, values: Mapping[str, Any]) -> None:
    """Assign local variables of a function that runs."""
    frame.f_locals.update(values)
    if sys.version_info < (3, 13):
        # `f_locals` is a copy before Python 3.13 (PEP 667); this writes it back, as debuggers do.
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def names_of(namespace: dict[str, Any], names: frozenset[str], text: str = "") -> Holder:
    """Return the holder for some names of a module."""

    def read() -> dict[str, Any]:
        return {name: namespace[name] for name in names if name in namespace}

    form = "{}.{}" if text else "{1}"
    return Holder(text, namespace, read, namespace.__setitem__, form)


@cache
def is_authors(cls: type) -> bool:
    """Return whether a class is the author's, and not one of Python, a package or the language."""
    name = cls.__module__.partition(".")[0]
    if name in _LIBRARY:
        return True
    if cls.__module__ == "builtins":
        return bool(
            cls.__flags__ & 1 << 9
        )  # made by a class statement, in a namespace without a name
    return is_authors_file(getattr(sys.modules.get(cls.__module__), "__file__", None))


def is_authors_file(file: str | None) -> bool:
    """Return whether a file is the author's: not of Python's library, a package, or the language."""
    return file is None or not file.startswith((*LIBRARY_FOLDERS, *_PROJECT_FOLDERS))


def is_authors_module(module: ModuleType) -> bool:
    """Return whether a module is the author's."""
    file = getattr(module, "__file__", None)
    return file is not None and is_authors_file(file)


@cache
def _slots(cls: type) -> tuple[str, ...]:
    names: list[str] = []
    for base in cls.__mro__:
        slots: Sequence[str] | str = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(names)


@cache
def _cached_properties(cls: type) -> frozenset[str]:
    """Return the names of cached properties, whose first use is no change."""
    members: Mapping[str, Any] = {
        name: member for base in cls.__mro__ for name, member in vars(base).items()
    }
    return frozenset(
        name for name, member in members.items() if type(member).__name__ == "cached_property"
    )


def _has_content(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _refuse(key: Any, new: Any) -> None:
    raise TypeError("a tuple does not change")
