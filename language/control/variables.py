"""The variables of the author's function: which hold traced values, and what they hold now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, NoReturn

from ..call.frozen import frozen
from ..errors import TraceError
from ..trace import Scope, located
from ..values.array import Window
from ..values.base import Traced, escaped
from ..values.boolean import Bool
from ..values.fragment import Fragment
from ..values.index import Index, as_index
from ..values.scalar import Scalar
from .holders import Slot, set_local

#: Values that a loop or a branch can carry.
CARRIED = (Index, Scalar, Bool, Fragment)


def assign(frame: FrameType, values: Mapping[str | Slot, Any]) -> None:
    """Assign local variables of a function that runs, and places outside of them."""
    named = {name: value for name, value in values.items() if isinstance(name, str)}
    if named:
        set_local(frame, named)
    for place, value in values.items():
        if isinstance(place, Slot):
            place.write(value)


def snapshot(frame: FrameType) -> dict[str | Slot, Any]:
    """Return the local variables of a function, by name."""
    return {**frame.f_locals}


def parts(value: Any) -> list[Any]:
    """Return what a variable holds: the values in nested lists and tuples, or the value itself."""
    if isinstance(value, list | tuple):
        return [part for each in value for part in parts(each)]
    return [value]


def rebuilt(value: Any, new: Iterator[Any]) -> Any:
    """Return a variable's value with new parts, in their order."""
    if isinstance(value, list | tuple):
        found = [rebuilt(each, new) for each in value]
        if isinstance(value, list):
            return found
        return type(value)(*found) if hasattr(value, "_fields") else tuple(found)
    return next(new)


def is_carried(value: Any) -> bool:
    """Return whether a variable's value can be carried: a traced value that can be used now.

    So can a list or a tuple of such.
    """
    if isinstance(value, list | tuple):
        found = parts(value)
        return bool(found) and all(map(is_carried, found))
    if not isinstance(value, CARRIED):
        return False
    if isinstance(value, Fragment) and value.shape is None:
        return False
    return value.scope.open


def promoted(value: Any) -> Any:
    """Return a Python integer as an index; other values as they are."""
    if isinstance(value, int) and not isinstance(value, bool):
        return as_index(value)
    return value


def is_constant(value: Any) -> bool:
    """Return whether a value is a Python number or text, or a list of such: a trace takes it as it is."""
    if isinstance(value, list | tuple):
        return all(map(is_constant, value))
    return isinstance(value, int | float | str)


def same_kind(name: str | Slot, before: Any, after: Any, what: str) -> Any:
    """Check that a variable keeps its class, shape and element type, and return what it holds after.

    Args:
        name: the variable's.
        before, after: what it held before and after a loop's body or a branch.
        what: what changes it, for messages.

    Raises:
        TraceError: if it does not.
    """
    one, two = parts(before), [promoted(each) for each in parts(after)]
    after = rebuilt(after, iter(two))
    same = _structure(before) == _structure(after)
    if not (same and all(map(_is_like, one, two))):
        raise TraceError(
            f"{name} is {text_of(before)} before {what}, and {text_of(after)} after it; a variable keeps "
            "its shape and type"
        )
    return after


def usable(name: str | Slot, value: Any) -> Any:
    """Return what a variable holds, if it can be used.

    Raises:
        TraceError: if the scope of a part has ended.
    """
    for part in parts(value):
        if not part.scope.open:
            raise TraceError(escaped(part, str(name)))
    return value


def _structure(value: Any) -> Any:
    return [_structure(each) for each in value] if isinstance(value, list | tuple) else None


def _is_like(before: Any, after: Any) -> bool:
    """Whether two values are of one class, shape and element type."""
    if isinstance(before, Fragment) and isinstance(after, Fragment):
        one, two = ((each.shape, each.dtype, each.axis) for each in (before, after))
        return one == two
    if isinstance(before, Scalar) and isinstance(after, Scalar):
        return before.dtype == after.dtype
    return any(isinstance(before, each) and isinstance(after, each) for each in (Index, Bool))


def text_of(value: Any) -> str:
    """Return what a variable holds, for messages."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of, value))}]"
    return value.type_text if isinstance(value, Traced | Window) else repr(value)


def changes(before: Any, after: Any) -> bool:
    """Return whether a variable that is not carried holds another thing than before."""
    if before is after:
        return False
    return not (is_constant(before) and is_constant(after) and frozen(before) == frozen(after))


def can_be_lost(before: Any, after: Any) -> bool:
    """Return whether each use of a variable that held these is an error if `lost` takes their place.

    It is for numbers, texts and traced values. But `x is None` asks for no operation of x.
    """
    return all(is_constant(each) or isinstance(each, Traced) for each in (before, after))


def lost(scope: Scope) -> Any:
    """Return a value whose use is an error, which names the scope that assigned it."""
    return Lost(None, scope)


class Lost(Index):
    """What a variable holds after a scope that has changed it: each use is an error."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse_use(self)

    __hash__ = object.__hash__


def _refuse_use(value: Lost, *_: Any) -> NoReturn:
    raise located(TraceError(escaped(value)))


_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"),
    *("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "invert", "abs", "bool", "int", "float"),
    *("index", "len", "iter", "contains", "getitem", "setitem", "call", "str", "format"),
)
for _name in (*_OPERATORS, *(f"r{each}" for each in _OPERATORS[:11])):
    setattr(Lost, f"__{_name}__", _refuse_use)
