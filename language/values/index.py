"""Indices of the running kernel: positions, extents, loop variables."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder
from .base import Traced, describe
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
        scope: KernelScope | None = None,
        linear: Linear | None = None,
        unsigned: bool = False,
        covering: tuple[str, int] | None = None,
    ) -> None:
        super().__init__(value, scope)
        self.linear: Linear = {object(): 1} if linear is None else linear
        self.unsigned = unsigned
        self.covering = covering

    def rewrap(self, value: Any, scope: KernelScope | None = None) -> Index:
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
        return _compare(self, other, "lt")

    def __le__(self, other: Index | int) -> Bool:
        return _compare(self, other, "le")

    def __gt__(self, other: Index | int) -> Bool:
        return _compare(self, other, "gt")

    def __ge__(self, other: Index | int) -> Bool:
        return _compare(self, other, "ge")

    def __eq__(self, other: object) -> Bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compare(self, other, "eq")

    def __ne__(self, other: object) -> Bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compare(self, other, "ne")

    __hash__ = object.__hash__


def index_value(operand: Any) -> Any:
    """Return the MLIR value of an index or an integer.

    Raises:
        TypeError: for anything else.
    """
    return as_index(operand).value


def as_index(operand: Any) -> Index:
    """Return an index; an integer becomes a constant.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(operand, Index):
        return operand
    if isinstance(operand, int) and not isinstance(operand, bool):
        trace = current()
        return Index(trace.index(operand), trace.scopes[0], {None: operand}, operand >= 0)
    hint = "; x.to(sl.index) converts it" if hasattr(operand, "to") else ""
    raise TraceError(f"expected an index or an integer, not {describe(operand)}{hint}")


def is_index(operand: Any) -> bool:
    """Return whether something is an index or a Python integer."""
    return isinstance(operand, Index) or (
        isinstance(operand, int) and not isinstance(operand, bool)
    )


def difference(stop: Index | int, start: Index | int) -> int | None:
    """Return `stop - start` where it is a constant; None where it is not."""
    form = _linear(stop, start, -1)
    return form.get(None, 0) if all(key is None for key in form) else None


def _form(operand: Index | int) -> Linear:
    return operand.linear if isinstance(operand, Index) else {None: operand}


def _linear(a: Index | int, b: Index | int, sign: int) -> Linear:
    form = dict(_form(a))
    for key, factor in _form(b).items():
        form[key] = form.get(key, 0) + sign * factor
    return {key: factor for key, factor in form.items() if factor or key is None}


def index_of_op(
    value: Any, linear: Linear | None = None, unsigned: bool = False, **more: Any
) -> Index:
    """Return the result of a new op without effects as an index."""
    current().pure.append(value.owner)
    return Index(value, None, linear, unsigned, **more)


@op_builder
def _sum(a: Any, b: Any, sign: int) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    if b is not a and isinstance(b, int) and b == 0:
        return a
    if sign > 0 and isinstance(a, int) and a == 0:
        return b
    lhs, rhs = as_index(a), as_index(b)
    build = arith.addi if sign > 0 else arith.subi
    total = build(lhs.value, rhs.value)
    unsigned = sign > 0 and lhs.unsigned and rhs.unsigned
    return index_of_op(total, _linear(a, b, sign), unsigned)


@op_builder
def _product(a: Any, b: Any) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    for factor, other in ((a, b), (b, a)):
        if isinstance(factor, int) and factor == 1:
            return other
    lhs, rhs = as_index(a), as_index(b)
    product = arith.muli(lhs.value, rhs.value)
    linear = None
    for factor, other in ((a, b), (b, a)):
        if isinstance(factor, int):
            linear = {key: factor * coefficient for key, coefficient in _form(other).items()}
    return index_of_op(product, linear, lhs.unsigned and rhs.unsigned)


@op_builder
def _quotient(a: Any, b: Any) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    lhs, rhs = _divisible(a, b)
    unsigned = lhs.unsigned and rhs.unsigned
    build = arith.divui if unsigned else arith.floordivsi
    return index_of_op(build(lhs.value, rhs.value), unsigned=unsigned)


@op_builder
def _remainder(a: Any, b: Any) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    lhs, rhs = _divisible(a, b)
    if lhs.unsigned and rhs.unsigned:
        return index_of_op(arith.remui(lhs.value, rhs.value), unsigned=True)
    quotient = index_of_op(arith.floordivsi(lhs.value, rhs.value))
    product = index_of_op(arith.muli(quotient.value, rhs.value))
    return index_of_op(arith.subi(lhs.value, product.value), unsigned=rhs.unsigned)


def _divisible(a: Any, b: Any) -> tuple[Index, Index]:
    if isinstance(b, int) and b == 0:
        raise TraceError("an index is divided by 0")
    return as_index(a), as_index(b)


@op_builder
def _compare(a: Any, b: Any, relation: str) -> Any:
    if not (is_index(a) and is_index(b)):
        return NotImplemented
    lhs, rhs = as_index(a), as_index(b)
    sign = "u" if lhs.unsigned and rhs.unsigned else "s"
    name = relation if relation in ("eq", "ne") else f"{sign}{relation}"[:3]
    test = arith.cmpi(getattr(_P, name), lhs.value, rhs.value)
    current().pure.append(test.owner)
    return Bool(test)
