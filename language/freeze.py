"""Snapshots of Python values, to see whether a value that a trace read has changed.

Two snapshots are equal only if a trace cannot tell the values apart: `1`, `True` and `1.0` are equal in
Python, and so are `0.0` and `-0.0`, but their snapshots are not.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any

import numpy as np

#: Classes whose values never change, so that the same object is the same value.
_CONSTANT = (
    *(NoneType, EllipsisType, bool, int, float, complex, str, bytes, range, enum.Enum, np.generic),
    *(type, FunctionType, BuiltinFunctionType, ModuleType, CodeType, np.dtype),
)


def is_constant(value: Any) -> bool:
    """Return whether a value cannot change as long as it is the same object.

    A module and a function count as constant; `Reads` has the values that a trace reads from them.
    """
    if isinstance(value, tuple | frozenset):
        return type(value) in (tuple, frozenset) and all(map(is_constant, value))
    if isinstance(value, _CONSTANT):
        return True
    if is_dataclass(value) and type(value).__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return all(is_constant(getattr(value, field.name)) for field in fields(value))
    return False


def freeze(value: Any) -> Hashable:
    """Return a snapshot of a value: equal to a later one if the value is still the same for a trace."""
    return _freeze(value, ())


def _freeze(value: Any, outer: tuple[int, ...]) -> Hashable:
    """Return a snapshot of a value within the objects of these ids."""
    kind = type(value)
    if kind in (int, bool, str, bytes, NoneType):
        return kind, value
    if kind in (float, complex):
        # Their text tells zeros apart, and NaN is equal to itself.
        return kind, repr(value)
    if id(value) in outer:
        return "itself", len(outer) - outer.index(id(value))
    inner = (*outer, id(value))
    if isinstance(value, Mapping):
        pairs = tuple((_freeze(key, inner), _freeze(entry, inner)) for key, entry in value.items())
        return kind, pairs
    if isinstance(value, set | frozenset):
        return kind, frozenset(_freeze(element, inner) for element in value)
    if isinstance(value, np.ndarray):
        return kind, value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, list | tuple | bytearray):
        return (
            kind,
            tuple(_freeze(element, inner) for element in value),
            _freeze_attributes(value, inner),
        )
    if isinstance(value, MethodType):
        return kind, _freeze(value.__func__, inner), _freeze(value.__self__, inner)
    if isinstance(value, _CONSTANT):
        return kind, _Same(value)
    return (
        kind,
        _Same(value, by_class=bool(attributes := _freeze_attributes(value, inner))),
        attributes,
    )


def _freeze_attributes(value: Any, outer: tuple[int, ...]) -> Hashable:
    """Return a snapshot of the attributes of an instance."""
    attributes = dict(getattr(value, "__dict__", {}))
    for name in _slots(type(value)):
        if hasattr(value, name):
            attributes[name] = getattr(value, name)
    return tuple(
        (name, _freeze(attribute, outer)) for name, attribute in sorted(attributes.items())
    )


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        yield from (name for name in names if name not in ("__dict__", "__weakref__"))


class _Same:
    """An object in a snapshot: equal to the same object, or by its class to one with equal attributes."""

    __slots__ = ("_by_class", "_value")

    def __init__(self, value: Any, by_class: bool = False) -> None:
        self._value, self._by_class = value, by_class

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same):
            return NotImplemented
        if self._by_class and other._by_class:
            return type(self._value) is type(other._value)
        return self._value is other._value

    def __hash__(self) -> int:
        return hash(type(self._value)) if self._by_class else id(self._value)
