"""Comparisons and conversions of positions, in 32 bits.

Indices have 64 bits, which take the chip two instructions to compare and several to convert to a float,
but positions are below the extents of their fragment. So `key + column <= query + row` is `column <=
row + limit` in 32 bits. The limit, `query - key`, is the same for all elements; beyond what positions
can reach, only its sign matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ...bindings.mlir import arith
from ..dtypes import DType, i32
from . import elements
from .index import Index, as_index
from .node import Coordinate, ElementExpr, Operation, Uniform, walk

#: A linear form: factors of positions, by dimension, of uniform nodes, and of None, which is 1.
_Form = dict[Any, int]

#: Positions of a larger range are compared in 64 bits, so that no sum with the limit overflows.
_MOST = 2**29


@dataclass(frozen=True)
class PositionComparison:
    """A comparison of a sum of positions with an i32.

    Attributes:
        name: the relation, as in `elements`.
        factors: of each dimension's position.
        limit: the i32.
    """

    name: str
    factors: dict[int, int]
    limit: Any

    def build(self, position: Callable[[int], Any]) -> Any:
        """Build the comparison of an element with a position (i32) for each dimension."""
        left, right = [], [self.limit]
        for dim, factor in self.factors.items():
            term = _multiple(position(dim), abs(factor))
            (left if factor > 0 else right).append(term)
        sums = [reduce(arith.addi, terms or [elements.constant(0, i32)]) for terms in (left, right)]
        return elements.build_operation(self.name, i32, sums)


@dataclass(frozen=True)
class PositionConversion:
    """The conversion of a sum of positions to a float.

    Attributes:
        factors: of each dimension's position, and of None, which is 1.
        dtype: the float type.
    """

    factors: _Form
    dtype: DType

    def build(self, position: Callable[[int], Any]) -> Any:
        """Build the conversion of an element with a position (i32) for each dimension."""
        terms = [
            elements.constant(factor, i32) if dim is None else _multiple(position(dim), factor)
            for dim, factor in self.factors.items()
        ]
        total = reduce(arith.addi, terms or [elements.constant(0, i32)])
        return elements.build_conversion(total, i32, self.dtype)


def _multiple(position: Any, factor: int) -> Any:
    return position if factor == 1 else arith.muli(position, elements.constant(factor, i32))


def narrow_operations(
    node: ElementExpr, shape: tuple[int, ...], axis: int | None
) -> dict[int, PositionComparison | PositionConversion]:
    """Return the operations in an expression that 32 bits decide, by the ids of their nodes.

    The limits of comparisons are built at the current insertion point.

    Args:
        node: the expression.
        shape, axis: of the fragment that it is computed for; a slice lacks an axis.
    """
    extents = dict(enumerate(shape)) if axis is None else {1 - axis: shape[0]}
    forms: dict[int, _Form] = {}
    narrow: dict[int, PositionComparison | PositionConversion] = {}
    for part in walk(node):
        operands = [forms[id(x)] for x in part.arguments() if id(x) in forms]
        if len(operands) < len(part.arguments()):
            continue
        if isinstance(part, Operation) and part.name in elements.COMPARISONS:
            left, right = operands
            comparison = _narrow(part.name, _add(left, right, -1), extents)
            if comparison is not None:
                narrow[id(part)] = comparison
        elif isinstance(part, Operation) and part.name == "to" and part.dtype.is_float:
            if _reaches_less_than(2**31, operands[0], extents):
                narrow[id(part)] = PositionConversion(operands[0], part.dtype)
        elif (form := _linear_form(part, operands)) is not None:
            forms[id(part)] = form
    return narrow


def _reaches_less_than(bound: int, form: _Form, extents: Mapping[int, int]) -> bool:
    """Return whether no part of a linear form of positions alone reaches a bound."""
    if not form.keys() <= {None, *extents}:
        return False
    most = {**extents, None: 2}
    return sum(abs(factor) * (most[key] - 1) for key, factor in form.items()) < bound


def _linear_form(node: ElementExpr, operands: list[_Form]) -> _Form | None:
    """Return a node's linear form, from those of its operands; None if it has none."""
    match node:
        case Coordinate(dim=dim):
            return {dim: 1}
        case Uniform(number=int() as number):
            return {None: number}
        case Uniform(number=Index()):
            return {node: 1}
        case Operation(name="neg"):
            return _add({}, operands[0], -1)
        case Operation(name="+" | "-" as sign):
            left, right = operands
            return _add(left, right, 1 if sign == "+" else -1)
        case Operation(name="*"):
            for factor, form in (operands, operands[::-1]):
                if factor.keys() <= {None}:
                    return _add({}, form, factor.get(None, 0))
    return None


def _add(left: _Form, right: _Form, factor: int) -> _Form:
    total = {key: left.get(key, 0) + factor * right.get(key, 0) for key in {**left, **right}}
    return {key: number for key, number in total.items() if number}


def _narrow(name: str, difference: _Form, extents: Mapping[int, int]) -> PositionComparison | None:
    """Return the comparison of a linear form with 0; None without positions, or for a large range."""
    factors = {dim: difference[dim] for dim in extents if dim in difference}
    reach = {dim: factor * (extents[dim] - 1) for dim, factor in factors.items()}
    least, most = (sum(f for f in reach.values() if f * sign > 0) for sign in (-1, 1))
    if not factors or most - least > _MOST:
        return None
    limit: Any = -difference.get(None, 0)
    uniforms = [(f, node.number) for node, f in difference.items() if isinstance(node, Uniform)]
    for factor, index in sorted(uniforms, key=lambda term: term[0]):
        assert isinstance(index, Index)
        limit = limit + -factor * index if factor < 0 else limit - factor * index
    return PositionComparison(name, factors, _clamp(limit, least - 1, most + 1))


def _clamp(limit: Index | int, least: int, most: int) -> Any:
    if isinstance(limit, int):
        return elements.constant(min(max(limit, least), most), i32)
    clamped = limit.value
    for build, bound in ((arith.maxsi, least), (arith.minsi, most)):
        clamped = build(clamped, as_index(bound).value)
    return arith.index_cast(i32.type, clamped)
