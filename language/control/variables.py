"""The variables of the author's function: which hold traced values, and what they hold now."""

from __future__ import annotations

import ctypes
import sys
from types import FrameType
from typing import Any

from ..errors import TraceError
from ..values.base import Traced
from ..values.boolean import Bool
from ..values.fragment import Fragment
from ..values.index import Index, as_index
from ..values.scalar import Scalar

#: Values that a loop or a branch can carry.
CARRIED = (Index, Scalar, Bool, Fragment)


def assign(frame: FrameType, values: dict[str, Any]) -> None:
    """Assign local variables of a function that runs."""
    if not values:
        return
    frame.f_locals.update(values)
    if sys.version_info < (3, 13):
        # `f_locals` is a copy before Python 3.13 (PEP 667); this writes it back, as debuggers do.
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def snapshot(frame: FrameType) -> dict[str, Any]:
    """Return the local variables of a function, by name."""
    return dict(frame.f_locals)


def is_carried(value: Any) -> bool:
    """Return whether a variable's value can be carried: a traced value that can be used now."""
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


def is_number(value: Any) -> bool:
    """Return whether a value is a Python number, which a trace takes as a constant."""
    return isinstance(value, int | float)


def same_kind(name: str, before: Any, after: Any, what: str) -> Any:
    """Check that a variable keeps its class, shape and element type, and return what it holds after.

    Args:
        name: the variable's.
        before, after: what it held before and after a loop's body or a branch.
        what: what changes it, for messages.

    Raises:
        TraceError: if it does not.
    """
    after = promoted(after)
    if isinstance(after, CARRIED) and type(after) is type(before):
        if not isinstance(after, Fragment):
            same = after.value.type == before.value.type
        else:
            same = (after.shape, after.dtype, after.axis) == (
                before.shape,
                before.dtype,
                before.axis,
            )
        if same:
            return after
    raise TraceError(
        f"{name} is {_text(before)} before {what}, and {_text(after)} after it; a variable keeps its "
        "shape and type"
    )


def _text(value: Any) -> str:
    return value.type_text if isinstance(value, Traced) else repr(value)
