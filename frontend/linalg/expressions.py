"""Expressions of numbers, of elements of tensors, and of what reductions make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...bindings.irtypes import Op, Value
from .places import Place

#: Conversions between floats of 16 bits or more, whose rounding is left out of account, and between
#: integers that hold the numbers of elements.
FLOAT_CASTS, _INTEGER_CASTS = ("arith.extf", "arith.truncf"), ("arith.index_cast", "arith.extsi")
_WIDE_FLOATS, _WIDE_INTEGERS = ("bf16", "f16", "f32", "f64"), ("i32", "i64", "index")

#: Ops whose result is the larger operand.
MAXIMA = ("arith.maximumf", "arith.maxnumf")


@dataclass(frozen=True, eq=False)
class Constant:
    """A number."""

    value: float | bool


@dataclass(frozen=True, eq=False)
class Index:
    """The number of an iteration, as an integer."""

    place: Place


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a tensor.

    Attributes:
        value: the tensor.
        at: the index along each dimension.
    """

    value: Value
    at: tuple[Place, ...]


@dataclass(frozen=True, eq=False)
class Reduced:
    """An element that a reduction makes.

    Attributes:
        op: the `linalg.generic`.
        number: that of its result.
        at: the place in each loop; None in those that are reduced.
    """

    op: Op
    number: int
    at: tuple[Place | None, ...]


@dataclass(frozen=True, eq=False)
class Applied:
    """An op on scalars; `name` is empty for what is not looked into.

    Attributes:
        name: the op's.
        type: its result's type, in MLIR's syntax.
        operands: what it is applied to.
        detail: the number of a comparison's predicate; of what is not looked into, what it is.
    """

    name: str
    type: str
    operands: tuple[Node, ...]
    detail: Any


#: An expression. Equal ones that the same `Elements` made are the same object.
Node = Constant | Index | Element | Reduced | Applied


def parts_of(node: Node) -> Iterator[Node]:
    """Yield the expressions of which one is made, without what reductions combine; itself first."""
    seen: set[Node] = set()
    rest = [node]
    while rest:
        node = rest.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        if isinstance(node, Applied):
            rest += node.operands


def is_cast(node: Node) -> bool:
    """Whether an expression converts a number to a type that holds it, but for rounding."""
    if not isinstance(node, Applied):
        return False
    if node.name in FLOAT_CASTS:
        return node.type in _WIDE_FLOATS
    return node.name in _INTEGER_CASTS and node.type in _WIDE_INTEGERS


def is_constant(node: Node, value: float) -> bool:
    """Whether an expression is a number."""
    return isinstance(node, Constant) and node.value == value
