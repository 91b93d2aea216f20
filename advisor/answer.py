"""What every answer is: a value that holds facts, said as text, as HTML and as data for JSON.

`text`, `html` and `data` are open to new answers: a module of a package of renderings registers how an
answer is said, and the module that computes the answer knows none of them. An answer for which nothing is
registered is said by its fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, singledispatch
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

#: The packages that `say_by` added.
_packages: list[str] = []


def say_by(package: str) -> None:
    """Adds a package of renderings.

    Args:
        package: its name. It has packages `text`, `html` and `data`, and in each of them modules that are
            named like the modules of answers. One is imported when an answer of its namesake is first
            said, and registers how.
    """
    _packages.append(package)


@singledispatch
def data(answer: Answer) -> Any:
    """An answer for JSON; by default, a dictionary of its fields.

    Args:
        answer: a frozen dataclass. What is neither a number, a truth value, an answer nor a sequence of
            these is said by its `str`.
    """
    if how := _registered(data, answer):
        return how(answer)
    return {field.name: _plain(getattr(answer, field.name)) for field in fields(answer)}


@singledispatch
def text(answer: Answer) -> str:
    """An answer for people; by default, a line for each entry of its data."""
    if how := _registered(text, answer):
        return how(answer)
    return "\n".join(f"{name}: {said}" for name, said in data(answer).items())


@singledispatch
def html(answer: Answer) -> str:
    """An answer for a notebook; by default, its text as it is."""
    if how := _registered(html, answer):
        return how(answer)
    return f"<pre>{escape(text(answer))}</pre>"


@dataclass(frozen=True, eq=False)
class Answer:
    """A frozen dataclass of facts, which says itself by what is registered for it."""

    def data(self) -> Any:
        """The answer for JSON; see `data`."""
        return data(self)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return html(self)


def _registered(say: Any, answer: Answer) -> Callable[[Answer], Any] | None:
    """What the renderings register for an answer, which are imported; None if they register nothing."""
    for package in _packages:
        _import(f"{package}.{say.__name__}", type(answer).__module__.rpartition(".")[2])
    how = say.dispatch(type(answer))
    return None if how is say.dispatch(object) else how


@cache
def _import(room: str, module: str) -> None:
    """Imports a module of a package, if there is one of that name."""
    if find_spec(f"{room}.{module}"):
        import_module(f"{room}.{module}")


def _plain(value: Any) -> Any:
    """A field's value as JSON has it."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Answer):
        return data(value)
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return str(value)
