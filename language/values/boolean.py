"""Conditions of the running kernel."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith, ir
from ..errors import TraceError
from ..trace import current, traced
from .base import Traced


class Bool(Traced):
    """A condition, of type i1: the result of a comparison. `&`, `|` and `~` combine conditions."""

    __slots__ = ()

    kind = "a condition"

    def __and__(self, other: Bool | bool) -> Bool:
        return _combined(arith.andi, self, other)

    __rand__ = __and__

    def __or__(self, other: Bool | bool) -> Bool:
        return _combined(arith.ori, self, other)

    __ror__ = __or__

    def __invert__(self) -> Bool:
        return _combined(arith.xori, self, True)


def condition_value(given: Any) -> Any:
    """Return the MLIR value of a condition.

    Raises:
        TraceError: for anything else.
    """
    if isinstance(given, Bool):
        return given.value
    if isinstance(given, bool):
        return current().constant(ir.IntegerType.get_signless(1), int(given))
    what = given.type_text if isinstance(given, Traced) else repr(given)
    raise TraceError(f"expected a condition, for example k < n, not {what}")


@traced
def _combined(build: Any, a: Any, b: Any) -> Any:
    if not isinstance(b, Bool | bool):
        return NotImplemented
    made = build(condition_value(a), condition_value(b))
    current().pure.append(made.owner)
    return Bool(made)
