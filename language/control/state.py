"""Python values outside of a function's own variables, before and after a body is traced.

A body is traced once, whatever the kernel does with it: a loop runs it many times, a branch perhaps not
at all. So a change is carried by the kernel, or refused. `variables.py` has the variables of the function
around a body. Here are attributes, elements of containers, globals, closures, variables of the functions
that call it, and the states of iterators and generators.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any

import numpy as np

from ..errors import TraceError
from ..values.base import Traced
from .holders import (
    Holder,
    Slot,
    attributes,
    cells,
    class_attributes,
    container,
    is_authors,
    is_authors_file,
    is_authors_module,
    names_of,
    variables,
)
from .variables import has_changed

#: Values that hold no others.
_PLAIN = (
    *(NoneType, bool, int, float, complex, str, bytes, range, slice, Enum, CodeType, np.generic),
    *(np.dtype, BuiltinFunctionType, EllipsisType),
)


class ReachableState:
    """A snapshot of the values that a frame's function can reach outside of its own variables.

    Args:
        kernel: the code of the kernel.
        frame: the frame of the function around the body. Its variables are followed, not compared.
    """

    def __init__(self, kernel: CodeType, frame: FrameType) -> None:
        self._locals = dict(frame.f_locals)
        reachable = _Reachable(kernel, frame)
        self._before = [(holder, holder.read()) for holder in reachable.holders]
        self._stateful = [(text, value, _state_of(value)) for text, value in reachable.stateful]

    def changed_slots(self, variables: Mapping[Any, Any]) -> dict[Slot, tuple[Any, Any]]:
        """Return the slots whose values changed, each with its old and its new value.

        Args:
            variables: the variables of the frame. Closures that share one of them are left out.
        """
        return {
            Slot(holder, key): (value, after[key])
            for holder, before in self._before
            for after in [holder.read()]
            for key, value in before.items()
            if key in after
            and has_changed(value, after[key])
            and not (self._locals.get(key) is value and variables.get(key) is after[key])
        }

    def before(self, slot: Slot) -> Any:
        """Return the value of a slot in the snapshot."""
        return next(
            values[slot.key]
            for holder, values in self._before
            if holder.object is slot.holder.object and slot.key in values
        )

    def check_shapes(self, region: str) -> None:
        """Check that no object has other elements, keys or attributes, or another iterator state.

        Args:
            region: the traced region, for messages.

        Raises:
            TraceError: if an object has. The kernel cannot carry that.
        """
        for text, value, state in self._stateful:
            if not _is_same(_state_of(value), state):
                raise TraceError(
                    f"{text} changes in {region}, which is traced once, however often it runs; use a "
                    "variable that counts, n = n + 1"
                )
        for holder, before in self._before:
            after = holder.read()
            if holder.text and not _is_same_keys(list(before), list(after)):
                raise TraceError(
                    f"{holder.text} gets or loses values in {region}, which is traced once, however "
                    "often it runs; do that outside of it, or give each value its place before"
                )


def _is_same_keys(before: list[Any], after: list[Any]) -> bool:
    return len(before) == len(after) and not any(map(has_changed, before, after))


class _Reachable:
    """The objects that the author's code can reach, from variables, closures and named globals.

    Attributes:
        holders: objects that keep values by keys.
        stateful: objects with a state of their own, for example iterators, each with its text.
    """

    def __init__(self, kernel: CodeType, frame: FrameType) -> None:
        self.holders: list[Holder] = []
        self.stateful: list[tuple[str, Any]] = []
        self._seen: dict[Any, Any] = {}
        self._left: list[tuple[str, Any]] = []
        frames = list(_frames(kernel, frame))
        for caller in frames:
            if caller is not frame:
                self._add(variables(caller))
            self._left += caller.f_locals.items()
            self._follow_code(caller.f_code, caller.f_globals)
        while self._left:
            text, value = self._left.pop()
            if not isinstance(value, (*_PLAIN, Traced)) and id(value) not in self._seen:
                # The reference keeps the object alive, so that no other one gets its id.
                self._seen[id(value)] = value
                self._visit(text, value)

    def _add(self, holder: Holder) -> None:
        self.holders.append(holder)
        self._left += [(holder.name(key), value) for key, value in holder.read().items()]

    def _visit(self, text: str, value: Any) -> None:
        if holder := container(text, value) or attributes(text, value):
            self._add(holder)
        elif isinstance(value, set | frozenset):
            self.stateful.append((text, value))
            self._left += [(text, element) for element in value]
        elif isinstance(value, FunctionType):
            if is_authors_file(value.__code__.co_filename):
                for holder in cells(value):
                    self._add(holder)
                self._left += [(text, default) for default in value.__defaults__ or ()]
                self._left += [(text, default) for default in (value.__kwdefaults__ or {}).values()]
                self._follow_code(value.__code__, value.__globals__)
        elif isinstance(value, MethodType):
            self._left += [(text, value.__self__), (text, value.__func__)]
        elif isinstance(value, functools.partial):
            self._left += [(text, value.func), (text, value.args), (text, value.keywords)]
        elif isinstance(value, type):
            if is_authors(value):
                self._add(class_attributes(value))
                self._left += [(text, member) for member in vars(value).values()]
        elif isinstance(value, classmethod | staticmethod):
            self._left.append((text, value.__func__))
        elif isinstance(value, GeneratorType):
            if not value.gi_running and is_authors_file(value.gi_code.co_filename):
                self.stateful.append((text, value))
                if value.gi_frame is not None:
                    self._left += value.gi_frame.f_locals.items()
        elif isinstance(value, np.ndarray | bytearray | memoryview):
            self.stateful.append((text, value))
        elif hasattr(value, "__next__") and type(value).__module__ in ("builtins", "itertools"):
            self.stateful.append((text, value))
            self._left += [(text, element) for element in _state_of_iterator(value)]
        if not isinstance(value, type) and is_authors(type(value)):
            cls: type = type(value)
            self._left.append((cls.__name__, cls))

    def _follow_code(self, code: CodeType, namespace: dict[str, Any]) -> None:
        """Follow the globals that code names, also those of the author's modules."""
        key = (id(code), id(namespace))
        if key in self._seen:
            return
        self._seen[key] = code, namespace
        names = _names(code)
        data = frozenset(
            name
            for name in names
            if name in namespace
            and not isinstance(namespace[name], FunctionType | ModuleType | type)
        )
        if data:
            self._add(names_of(namespace, data))
        for name in names - data:
            value = namespace.get(name)
            if isinstance(value, ModuleType) and is_authors_module(value):
                self._follow_module(name, value, names)
            elif value is not None:
                self._left.append((name, value))

    def _follow_module(self, text: str, module: ModuleType, names: frozenset[str]) -> None:
        """Follow what code may name of a module: `module.counter`."""
        namespace = vars(module)
        members = frozenset(name for name in names if name in namespace)
        self._add(names_of(namespace, members, text))


def _frames(kernel: CodeType, frame: FrameType) -> Iterator[FrameType]:
    """Yield the frames of the author's functions, from a frame to the kernel's."""
    caller: FrameType | None = frame
    while caller is not None:
        if is_authors_file(caller.f_code.co_filename):
            yield caller
        if caller.f_code is kernel:
            return
        caller = caller.f_back


@lru_cache(maxsize=4096)
def _names(code: CodeType) -> frozenset[str]:
    """Return the global names, and those of attributes, in code and in functions within it."""
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(code.co_names).union(*map(_names, nested))


def _state_of(value: Any) -> Any:
    """Return the state of an object, to compare: elements, bytes, or the position of an iterator."""
    if isinstance(value, set | frozenset):
        return frozenset(
            id(element) if isinstance(element, Traced) else element for element in value
        )
    if isinstance(value, np.ndarray):
        return value.tobytes() if value.dtype != object else tuple(map(id, value.flat))
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, GeneratorType):
        frame = value.gi_frame
        return frame and (frame.f_lasti, tuple(map(id, frame.f_locals.values())))
    return _state_of_iterator(value)


def _is_same(before: Any, after: Any) -> bool:
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(map(_is_same, before, after))
    if isinstance(before, bytes | frozenset | range):
        return bool(before == after)
    return not has_changed(before, after)


def _state_of_iterator(value: Any) -> tuple[Any, ...]:
    """Return the iterable and the position of an iterator, as `__reduce__` has them."""
    if type(value).__name__.startswith(("dict", "set")):
        return (value.__length_hint__(),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            _, *states = value.__reduce__()
        except TypeError:
            states = [repr(value)]
    return tuple(
        part for state in states for part in (state if isinstance(state, tuple) else (state,))
    )
