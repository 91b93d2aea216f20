"""The base class of answers, and their renderings as text, as HTML and as data for JSON.

`text`, `html` and `data` are generic functions. A module of a rendering package registers the renderings
of an answer; the module that computes the answer does not import it. An answer without a registered
rendering prints its fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, singledispatch
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

#: The rendering packages, in the order of `register_renderings`.
_packages: list[str] = []


def register_renderings(package: str) -> None:
    """Add a package of renderings.

    Args:
        package: its name. Its modules have the names of the answers' modules. A module is imported when
            an answer of the module of the same name is first rendered, and registers the renderings.
    """
    _packages.append(package)


@singledispatch
def data(answer: Answer) -> Any:
    """Return an answer as JSON data; by default, a dictionary of its fields.

    Args:
        answer: a frozen dataclass. A field that is not a number, a bool, an answer or a sequence of these
            becomes its `str`.
    """
    if render := _find_rendering(data, answer):
        return render(answer)
    return {field.name: _plain(getattr(answer, field.name)) for field in fields(answer)}


@singledispatch
def text(answer: Answer) -> str:
    """Return an answer as text; by default, one line for each entry of its data."""
    if render := _find_rendering(text, answer):
        return render(answer)
    return "\n".join(f"{name}: {value}" for name, value in data(answer).items())


@singledispatch
def html(answer: Answer) -> str:
    """Return an answer as HTML for a notebook; by default, its text, preformatted."""
    if render := _find_rendering(html, answer):
        return render(answer)
    return f"<pre>{escape(text(answer))}</pre>"


@dataclass(frozen=True, eq=False)
class Answer:
    """A frozen dataclass of facts, rendered by the registered functions.

    Example:
        >>> answer = encode(start=0, lbo=16, sbo=1024, swizzle=Swizzle.B128)
        >>> isinstance(answer, Answer), sorted(answer.data())[:2]
        (True, ['arch', 'constant'])
    """

    def data(self) -> Any:
        """Return the answer as JSON data; see `data`."""
        return data(self)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return html(self)


def _find_rendering(generic: Any, answer: Answer) -> Callable[[Answer], Any] | None:
    """Import the renderings of an answer; return the one that a generic function has, or None."""
    for package in _packages:
        _import(package, type(answer).__module__.rpartition(".")[2])
    render = generic.dispatch(type(answer))
    return None if render is generic.dispatch(object) else render


@cache
def _import(package: str, module: str) -> None:
    """Import a module of a package, if it exists."""
    if find_spec(f"{package}.{module}"):
        import_module(f"{package}.{module}")


def _plain(value: Any) -> Any:
    """Return a field's value as JSON data."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Answer):
        return data(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value)
