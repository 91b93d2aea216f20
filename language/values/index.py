"""Indices of the running kernel: positions, extents, loop variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...bindings.mlir import arith
from ..dtypes import DType
from ..dtypes import index as index_type
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder
from .base import describe
from .boolean import Bool
from .scalar import Number

#: A sum of products: the coefficient of each opaque value, and of None, the constant.
Linear = dict[object, int]

_P = arith.CmpIPredicate


class Index(Number, dtype=index_type):
    """An integer of type index: a position, an extent, a loop variable.

    Indices are 0 or more where that follows from how they are made; a difference may be below. `//` and
    `%` round towards minus infinity, as Python's.

    With floats, by `/`, and in functions such as `sl.sqrt`, an index is its number, an f32: exact up to
    2^24, rounded to nearest even beyond. With numbers of integer types the result is an index.

    Attributes:
        dtype: `sl.index`.
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

    def _apply(self, name: str, *operands: Any) -> Any:
        build = _OF_INDICES.get(name)
        if build is not None and all(map(is_index, operands)):
            return build(*operands)
        return super()._apply(name, *operands)


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
    raise TraceError(
        f"expected an index or an integer, not {describe(operand)}{index_hint(operand)}"
    )


def index_hint(operand: Any) -> str:
    """Return how something becomes an index, for a message."""
    dtype = getattr(operand, "dtype", None)
    if isinstance(operand, float) or (isinstance(dtype, DType) and dtype.is_float):
        return "; x.to(sl.index) converts it, and x // y is a whole quotient"
    return "; x.to(sl.index) converts it" if isinstance(operand, Number) else ""


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
    lhs, rhs = _divisible(a, b)
    unsigned = lhs.unsigned and rhs.unsigned
    build = arith.divui if unsigned else arith.floordivsi
    return index_of_op(build(lhs.value, rhs.value), unsigned=unsigned)


@op_builder
def _remainder(a: Any, b: Any) -> Any:
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
    lhs, rhs = as_index(a), as_index(b)
    sign = "u" if lhs.unsigned and rhs.unsigned else "s"
    name = relation if relation in ("eq", "ne") else f"{sign}{relation}"[:3]
    test = arith.cmpi(getattr(_P, name), lhs.value, rhs.value)
    current().pure.append(test.owner)
    return Bool(test)


#: Operations on indices, by name, that know more of the result than its value.
_OF_INDICES: dict[str, Callable[..., Any]] = {
    "+": partial(_sum, sign=1),
    "-": partial(_sum, sign=-1),
    "*": _product,
    "//": _quotient,
    "%": _remainder,
    "neg": lambda operand: _sum(0, operand, -1),
    **{
        operator: partial(_compare, relation=relation)
        for operator, relation in zip(
            ("<", "<=", ">", ">=", "==", "!="), ("lt", "le", "gt", "ge", "eq", "ne"), strict=True
        )
    },
}
