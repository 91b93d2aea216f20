"""Conditions of the running kernel."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith, ir
from ..dtypes import b1
from ..errors import TraceError
from ..trace import current, op_builder
from .base import Traced, describe


class Bool(Traced):  # noqa: PLW1641
    """A condition, of type i1: the result of a comparison. `&`, `|`, `^` and `~` combine conditions."""

    __slots__ = ()

    kind = "a condition"

    dtype = b1

    def __and__(self, other: Bool | bool) -> Bool:
        return _combine(arith.andi, self, other)

    __rand__ = __and__

    def __or__(self, other: Bool | bool) -> Bool:
        return _combine(arith.ori, self, other)

    __ror__ = __or__

    def __xor__(self, other: Bool | bool) -> Bool:
        return _combine(arith.xori, self, other)

    __rxor__ = __ne__ = __xor__  # pyright: ignore[reportAssignmentType]

    def __eq__(self, other: Any) -> Bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        unequal = _combine(arith.xori, self, other)
        return unequal if unequal is NotImplemented else ~unequal

    def __invert__(self) -> Bool:
        return _combine(arith.xori, self, True)


def condition_value(condition: Any) -> Any:
    """Return the MLIR value of a condition.

    Raises:
        TraceError: for anything else.
    """
    if isinstance(condition, Bool):
        return condition.value
    if isinstance(condition, bool):
        return current().constant(ir.IntegerType.get_signless(1), int(condition))
    raise TraceError(f"expected a condition, for example k < n, not {describe(condition)}")


@op_builder
def _combine(build: Any, a: Any, b: Any) -> Any:
    if not isinstance(b, Bool | bool):
        return NotImplemented
    combined = build(condition_value(a), condition_value(b))
    current().pure.append(combined.owner)
    return Bool(combined)
