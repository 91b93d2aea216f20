"""The variables of the author's function: their values, and whether these are carried or changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, NoReturn

from ..errors import TraceError
from ..freeze import freeze
from ..rewriting import PREFIX
from ..trace import KernelScope, current, with_author_position
from ..values.array import Window
from ..values.base import Traced, escape_message
from ..values.boolean import Bool, condition_value
from ..values.elements import constant
from ..values.filled import zeros
from ..values.fragment import Fragment
from ..values.index import Index, as_index
from ..values.mapping import ACCUMULATORS
from ..values.scalar import Scalar
from .holders import Slot, set_local

#: The value of a function before it returns. Who reads it has returned, so any number stands for it.
NO_VALUE: Any = type("NoValue", (), {"__repr__": lambda _: "no value"})()

#: Values that a loop or a branch can carry.
CARRIED = (Index, Scalar, Bool, Fragment)


def assign(frame: FrameType, values: Mapping[str | Slot, Any]) -> None:
    """Assign local variables of a function that runs, and slots outside of them."""
    variables = {name: value for name, value in values.items() if isinstance(name, str)}
    if variables:
        set_local(frame, variables)
    for slot, value in values.items():
        if isinstance(slot, Slot):
            slot.write(value)


def snapshot(frame: FrameType) -> dict[str | Slot, Any]:
    """Return the local variables of a function, by name."""
    return {name: value for name, value in frame.f_locals.items() if not name.startswith(PREFIX)}


def flatten(value: Any) -> list[Any]:
    """Return the leaves of a variable's value: those of nested lists and tuples, or the value itself."""
    if isinstance(value, list | tuple):
        return [part for element in value for part in flatten(element)]
    return [value]


def unflatten(value: Any, new: Iterator[Any]) -> Any:
    """Return a variable's value with new leaves, in the order of `flatten`."""
    if isinstance(value, list | tuple):
        elements = [unflatten(element, new) for element in value]
        if isinstance(value, list):
            return elements
        return type(value)(*elements) if hasattr(value, "_fields") else tuple(elements)
    return next(new)


def is_carried(value: Any) -> bool:
    """Return whether a loop or a branch can carry a value: a traced value that can be used now, or a list
    or a tuple of such values."""
    if isinstance(value, list | tuple):
        elements = flatten(value)
        return bool(elements) and all(map(is_carried, elements))
    if not isinstance(value, CARRIED):
        return False
    if isinstance(value, Fragment) and value.shape is None:
        return False
    return value.scope.open


def promote(value: Any) -> Any:
    """Return a Python integer as an index, and a truth value as a condition; other values as they are."""
    if isinstance(value, bool):
        return Bool(condition_value(value))
    return as_index(value) if isinstance(value, int) else value


def number_like(value: Any) -> Any:
    """Return a zero of the type of a value, or a list of them.

    Raises:
        TraceError: for a fragment that is no accumulator which can be read.
    """

    def like(part: Any) -> Any:
        if isinstance(part, Fragment):
            if part.is_a or part.in_flight or part.shape is None or part.dtype not in ACCUMULATORS:
                raise TraceError(
                    f"a function returns {text_of(part)} from a branch, and goes on after it; put what "
                    "is done otherwise into else"
                )
            return zeros(part.shape, part.dtype, part.axis)
        # A constant can be used in the whole kernel.
        trace = current()
        if isinstance(part, Bool):
            return Bool(condition_value(False), trace.scopes[0])
        if isinstance(part, Scalar):
            return Scalar(constant(0, part.dtype), trace.scopes[0], part.dtype)
        return as_index(0)

    return unflatten(value, iter([like(promote(part)) for part in flatten(value)]))


def is_constant(value: Any) -> bool:
    """Return whether a value is a Python number or text, or a list of such: a constant of a trace."""
    if isinstance(value, list | tuple):
        return all(map(is_constant, value))
    return isinstance(value, int | float | str)


def check_same_type(name: str | Slot, before: Any, after: Any, region: str) -> Any:
    """Check that a variable keeps its class, shape and element type, and return its value after.

    Args:
        name: the variable's name.
        before, after: its values before and after a loop's body or a branch.
        region: the loop or the branch, for messages.

    Raises:
        TraceError: if it does not.
    """
    old, new = flatten(before), [promote(part) for part in flatten(after)]
    after = unflatten(after, iter(new))
    same = _structure(before) == _structure(after)
    if not (same and all(map(_has_same_type, old, new))):
        raise TraceError(
            f"{name} is {text_of(before)} before {region}, and {text_of(after)} after it; a variable "
            "keeps its shape and type"
        )
    return after


def check_usable(name: str | Slot, value: Any) -> Any:
    """Return a variable's value, after a check that it can be used.

    Raises:
        TraceError: if the scope of a leaf has ended.
    """
    for part in flatten(value):
        if not part.scope.open:
            raise TraceError(escape_message(part, str(name)))
    return value


def _structure(value: Any) -> Any:
    return [_structure(element) for element in value] if isinstance(value, list | tuple) else None


def _has_same_type(before: Any, after: Any) -> bool:
    """Return whether two values have one class, shape and element type."""
    if isinstance(before, Fragment) and isinstance(after, Fragment):
        old, new = ((fragment.shape, fragment.dtype, fragment.axis) for fragment in (before, after))
        return old == new
    if isinstance(before, Scalar) and isinstance(after, Scalar):
        return before.dtype == after.dtype
    return any(isinstance(before, cls) and isinstance(after, cls) for cls in (Index, Bool))


def text_of(value: Any) -> str:
    """Describe a variable's value for messages."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of, value))}]"
    return value.type_text if isinstance(value, Traced | Window) else repr(value)


def has_changed(before: Any, after: Any) -> bool:
    """Return whether a variable that is not carried has another value than before."""
    if before is after:
        return False
    return not (is_constant(before) and is_constant(after) and freeze(before) == freeze(after))


def can_be_lost(before: Any, after: Any) -> bool:
    """Return whether `lost_value` can replace a variable's values, so that each use is an error.

    It can for numbers, texts and traced values. Only `x is None` is no error: it is no operation of x.
    """
    return all(is_constant(end) or isinstance(end, Traced) for end in (before, after))


def lost_value(scope: KernelScope) -> Any:
    """Return a value whose use is an error that names the scope."""
    return Lost(None, scope)


class Lost(Index):
    """The value of a variable after a scope that has changed it: each use is an error."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """The error of each use."""
        return escape_message(self)

    def check(self) -> None:
        _refuse_use(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse_use(self)

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]


class Uncarried(Lost):
    """The value of a variable, which a loop does not carry, at the begin of a body that changes it: each
    use is an error."""

    __slots__ = ("_message",)

    def __init__(self, scope: KernelScope, message: str) -> None:
        super().__init__(None, scope)
        self._message = message

    @property
    def message(self) -> str:
        return self._message


def _refuse_use(value: Lost, *_: Any) -> NoReturn:
    raise with_author_position(TraceError(value.message))


_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"),
    *("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "invert", "abs", "bool", "int", "float"),
    *("index", "len", "iter", "contains", "getitem", "setitem", "call", "str", "format"),
)
for _name in (*_OPERATORS, *(f"r{name}" for name in _OPERATORS[:11])):
    setattr(Lost, f"__{_name}__", _refuse_use)
