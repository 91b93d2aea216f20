"""Expressions of numbers, elements of tensors, and results of reductions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

from ...bindings.irtypes import Op, Value
from .loop_indices import LoopIndex

#: Conversions between floats of 16 bits or more, whose rounding is ignored, and between integers that
#: hold any index.
FLOAT_CASTS, _INTEGER_CASTS = ("arith.extf", "arith.truncf"), ("arith.index_cast", "arith.extsi")
_WIDE_FLOATS, _WIDE_INTEGERS = ("bf16", "f16", "f32", "f64"), ("i32", "i64", "index")

#: Ops whose result is the larger operand.
MAXIMA = ("arith.maximumf", "arith.maxnumf")


@dataclass(frozen=True, eq=False)
class Constant:
    """A number."""

    value: float | bool


@dataclass(frozen=True, eq=False)
class IndexValue:
    """The value of an index, as an integer."""

    index: LoopIndex


@dataclass(frozen=True, eq=False)
class TensorElement:
    """An element of a tensor.

    Attributes:
        value: the tensor.
        indices: by dimension.
    """

    value: Value
    indices: tuple[LoopIndex, ...]


@dataclass(frozen=True, eq=False)
class ReducedElement:
    """An element of the result of a reduction.

    Attributes:
        op: the `linalg.generic`.
        number: the number of the result.
        indices: by loop; None for reduced loops.
    """

    op: Op
    number: int
    indices: tuple[LoopIndex | None, ...]


@dataclass(frozen=True, eq=False)
class AppliedOp:
    """An op applied to scalars, or an opaque value.

    Attributes:
        name: the op's name; empty for an opaque value.
        type: the result's type, in MLIR's syntax.
        operands: the operands.
        detail: the number of a comparison's predicate; what identifies an opaque value.
    """

    name: str
    type: str
    operands: tuple[Node, ...]
    detail: Any


#: An expression. Equal ones of one `ExpressionBuilder` are the same object.
Node = Constant | IndexValue | TensorElement | ReducedElement | AppliedOp


def parts_of(node: Node) -> Iterator[Node]:
    """Yield an expression, then its subexpressions; terms of reductions are none."""
    seen: set[Node] = set()
    stack = [node]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        if isinstance(node, AppliedOp):
            stack += node.operands


def is_cast(node: Node) -> TypeGuard[AppliedOp]:
    """Whether an expression is a conversion of `FLOAT_CASTS` or `_INTEGER_CASTS` to a wide type."""
    if not isinstance(node, AppliedOp):
        return False
    if node.name in FLOAT_CASTS:
        return node.type in _WIDE_FLOATS
    return node.name in _INTEGER_CASTS and node.type in _WIDE_INTEGERS


def is_constant(node: Node, value: float) -> bool:
    """Whether an expression is a number."""
    return isinstance(node, Constant) and node.value == value
