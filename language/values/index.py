"""Indices of the running kernel: positions, extents, loop variables."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith
from ..errors import TraceError
from ..trace import Scope, current, traced
from .base import Traced
from .boolean import Bool

#: A sum of products: the coefficient of each opaque value, and of None, the constant.
Linear = dict[object, int]

_P = arith.CmpIPredicate


class Index(Traced):
    """An integer of type index: a position, an extent, a loop variable.

    Indices are 0 or more where that follows from how they are made; a difference may be below. `//` and
    `%` round towards minus infinity, as Python's.

    Attributes:
        linear: the value as a linear form, which shows that `row + 64 - row` is 64.
        unsigned: whether it is known to be 0 or more.
        covering: (extent, number) for `sl.cdiv(extent, number)` of a named extent, else None.
    """

    __slots__ = ("covering", "linear", "unsigned")

    kind = "an index"

    def __init__(
        self,
        value: Any,
        scope: Scope | None = None,
        linear: Linear | None = None,
        unsigned: bool = False,
        covering: tuple[str, int] | None = None,
    ) -> None:
        super().__init__(value, scope)
        self.linear: Linear = {object(): 1} if linear is None else linear
        self.unsigned = unsigned
        self.covering = covering

    def rewrapped(self, value: Any, scope: Scope | None = None) -> Index:
        return Index(value, scope, unsigned=self.unsigned)

    def __add__(self, other: Index | int) -> Index:
        return _sum(self, other, 1)

    def __radd__(self, other: int) -> Index:
        return _sum(other, self, 1)

    def __sub__(self, other: Index | int) -> Index:
        return _sum(self, other, -1)

    def __rsub__(self, other: int) -> Index:
        return _sum(other, self, -1)

    def __mul__(self, other: Index | int) -> Index:
        return _product(self, other)

    def __rmul__(self, other: int) -> Index:
        return _product(other, self)

    def __floordiv__(self, other: Index | int) -> Index:
        return _quotient(self, other)

    def __rfloordiv__(self, other: int) -> Index:
        return _quotient(other, self)

    def __mod__(self, other: Index | int) -> Index:
        return _remainder(self, other)

    def __rmod__(self, other: int) -> Index:
        return _remainder(other, self)

    def __neg__(self) -> Index:
        return _sum(0, self, -1)

    def __lt__(self, other: Index | int) -> Bool:
        return _compared(self, other, "lt")

    def __le__(self, other: Index | int) -> Bool:
        return _compared(self, other, "le")

    def __gt__(self, other: Index | int) -> Bool:
        return _compared(self, other, "gt")

    def __ge__(self, other: Index | int) -> Bool:
        return _compared(self, other, "ge")

    def __eq__(self, other: object) -> Bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compared(self, other, "eq")

    def __ne__(self, other: object) -> Bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compared(self, other, "ne")

    __hash__ = object.__hash__


def index_value(given: Any) -> Any:
    """Return the MLIR value of an index or an integer.

    Raises:
        TypeError: for anything else.
    """
    return as_index(given).value


def as_index(given: Any) -> Index:
    """Return an index; an integer becomes a constant.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(given, Index):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        trace = current()
        return Index(trace.index(given), trace.scopes[0], {None: given}, given >= 0)
    hint = "; x.to(sl.index) converts it" if hasattr(given, "to") else ""
    raise TraceError(f"expected an index or an integer, not {describe(given)}{hint}")


def describe(given: Any) -> str:
    """Describe an operand for a message."""
    return given.type_text if isinstance(given, Traced) else repr(given)


def is_index(given: Any) -> bool:
    """Return whether something is an index or a Python integer."""
    return isinstance(given, Index) or (isinstance(given, int) and not isinstance(given, bool))


def difference(stop: Index | int, start: Index | int) -> int | None:
    """Return `stop - start` where it is a constant; None where it is not."""
    form = _linear(stop, start, -1)
    return form.get(None, 0) if all(key is None for key in form) else None


def _form(given: Index | int) -> Linear:
    return given.linear if isinstance(given, Index) else {None: given}


def _linear(a: Index | int, b: Index | int, sign: int) -> Linear:
    form = dict(_form(a))
    for key, factor in _form(b).items():
        form[key] = form.get(key, 0) + sign * factor
    return {key: factor for key, factor in form.items() if factor or key is None}


def emitted(value: Any, linear: Linear | None = None, unsigned: bool = False, **more: Any) -> Index:
    """Return the index of an op without effects that has just been made."""
    current().pure.append(value.owner)
    return Index(value, None, linear, unsigned, **more)


@traced
def _sum(a: Any, b: Any, sign: int) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    if b is not a and isinstance(b, int) and b == 0:
        return a
    if sign > 0 and isinstance(a, int) and a == 0:
        return b
    left, right = as_index(a), as_index(b)
    build = arith.addi if sign > 0 else arith.subi
    made = build(left.value, right.value)
    unsigned = sign > 0 and left.unsigned and right.unsigned
    return emitted(made, _linear(a, b, sign), unsigned)


@traced
def _product(a: Any, b: Any) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    for factor, other in ((a, b), (b, a)):
        if isinstance(factor, int) and factor == 1:
            return other
    left, right = as_index(a), as_index(b)
    made = arith.muli(left.value, right.value)
    linear = None
    for factor, other in ((a, b), (b, a)):
        if isinstance(factor, int):
            linear = {key: factor * of for key, of in _form(other).items()}
    return emitted(made, linear, left.unsigned and right.unsigned)


@traced
def _quotient(a: Any, b: Any) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    left, right = _divisible(a, b)
    unsigned = left.unsigned and right.unsigned
    build = arith.divui if unsigned else arith.floordivsi
    return emitted(build(left.value, right.value), unsigned=unsigned)


@traced
def _remainder(a: Any, b: Any) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    left, right = _divisible(a, b)
    if left.unsigned and right.unsigned:
        return emitted(arith.remui(left.value, right.value), unsigned=True)
    quotient = emitted(arith.floordivsi(left.value, right.value))
    product = emitted(arith.muli(quotient.value, right.value))
    return emitted(arith.subi(left.value, product.value), unsigned=right.unsigned)


def _divisible(a: Any, b: Any) -> tuple[Index, Index]:
    if isinstance(b, int) and b == 0:
        raise TraceError("an index is divided by 0")
    return as_index(a), as_index(b)


@traced
def _compared(a: Any, b: Any, relation: str) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    left, right = as_index(a), as_index(b)
    sign = "u" if left.unsigned and right.unsigned else "s"
    name = relation if relation in ("eq", "ne") else f"{sign}{relation}"[:3]
    made = arith.cmpi(getattr(_P, name), left.value, right.value)
    current().pure.append(made.owner)
    return Bool(made)
