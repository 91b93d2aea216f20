"""Lowering of an element expression to an `smem.map`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache, partial
from typing import Any

from ...bindings.mlir import arith, memref
from ...dialect import ops as smem
from ...dialect.arguments import REFUSED, VALUE, wrong_argument
from ...dialect.elements import accumulator_of
from ...dialect.slices import slice_dim
from ...dialect.types import shape_of, tensor_of
from ..dtypes import DType, b1, bf16, e4m3, e5m2, f16, f32, i4, i8, i16, i32, of_mlir, u4, u8
from ..errors import TraceError
from . import elements
from .base import Traced
from .node import (
    ArrayElement,
    Coordinate,
    ElementExpr,
    ElementOp,
    Operation,
    Uniform,
    fragment_of,
    leaves,
    shape_text,
    walk,
)
from .positions import PositionComparison, PositionConversion, narrow_operations

#: Element types of fragments with the positions of an accumulator.
ACCUMULATORS = (f32, f16, i32, bf16, i16, i8, u8, e4m3, e5m2, i4, u4)


def build_map(node: ElementExpr) -> Any:
    """Build the map that computes an expression, and return the MLIR value of the fragment.

    The inputs of a map have one type. Slices are therefore broadcast before, and parts of the expression
    on another element type have a map of their own.

    Raises:
        TraceError: for an expression without a fragment, or a result that no accumulator holds.
    """
    fragment = fragment_of(node)
    if fragment is not None:
        return fragment.value
    fragments = leaves(node)
    if not fragments:
        raise TraceError(
            "an expression of positions and numbers alone has no shape; use it with a fragment, or "
            "add it to sl.zeros(shape, dtype)"
        )
    if node.dtype not in ACCUMULATORS:
        raise TraceError(
            f"{shape_text(node)} is no accumulator; expected "
            f"{', '.join(dtype.name for dtype in ACCUMULATORS)}, or its use by sl.store or as A of sl.mma"
        )
    values = {id(part): build_map(part) for part in _typed_parts(node, fragments)}
    inputs = _inputs(node, values)
    matrix_shape = node.shape if node.axis is None else None
    broadcast = [_broadcast(value, matrix_shape) for value in inputs.values()]
    positions = _check_positions(node, node.axis)
    narrow = narrow_operations(node, shape_of(broadcast[0].type), node.axis)

    def body(*arguments: Any) -> Any:
        return _element(node, dict(zip(inputs, arguments, strict=False)), arguments, narrow)

    return smem.map(broadcast, body, bool(positions), node.dtype.type)


def _typed_parts(node: ElementExpr, fragments: list[ElementExpr]) -> list[ElementExpr]:
    """Return the subexpressions that have maps of their own, so that all inputs have one type: f32, that
    of the first fragment, or another one on the way to the result."""
    types = [leaf.dtype for leaf in fragments]
    first = f32 if f32 in types else types[0]
    others = [part.dtype for part in walk(node) if part.dtype in ACCUMULATORS]
    refusal: TraceError | None = None
    for main in dict.fromkeys([first, *reversed(others)]):
        try:
            return _parts(node, main)
        except TraceError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _check_positions(node: ElementExpr, axis: int | None) -> set[int]:
    """Return the dimensions whose positions an expression has; TraceError if one is a slice's `axis`."""
    positions = {part.dim for part in walk(node) if isinstance(part, Coordinate)}
    if axis in positions:
        text = shape_text(node) if node.shape else f"a slice without axis {axis}"
        raise TraceError(f"{text} has no positions along axis {axis}")
    return positions


def build_fill(node: ElementExpr, shape: tuple[int, ...], axis: int | None) -> Any:
    """Build a fragment, or a slice, of an expression without one, and return its MLIR value.

    Raises:
        TraceError: for positions along the dimension that the slice lacks.
    """
    _check_positions(node, axis)
    zero = smem.fill(elements.constant(0, node.dtype), shape, False, node.dtype.type, axis)
    narrow = narrow_operations(node, shape, axis)

    def body(_: Any, *positions: Any) -> Any:
        return _element(node, {}, positions, narrow)

    return smem.map([zero], body, True, node.dtype.type)


def rounding_source(
    node: ElementExpr, converted: Mapping[str, Collection[str]]
) -> ElementExpr | None:
    """Return the operand of a conversion at the root of an expression, if an op of the dialect converts
    it so.

    Args:
        node: the expression.
        converted: the MLIR types that the op converts to, by the accumulator type that it converts.
    """
    if not isinstance(node, Operation) or node.name != "to":
        return None
    source = node.operands[0].dtype
    if source not in ACCUMULATORS or source.bits < 8 or source.is_float != node.dtype.is_float:
        return None
    to = converted[accumulator_of(source.type).name]
    return node.operands[0] if node.dtype.mlir in to else None


def _parts(node: ElementExpr, main: DType) -> list[ElementExpr]:
    """Return the largest subexpressions on leaves of other types than `main` that result in `main`.

    Raises:
        TraceError: if a leaf of another type is not converted to `main`.
    """
    subexpressions: list[ElementExpr] = []
    stack, seen = [node], set[int]()
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        types = {leaf.dtype for leaf in leaves(part)}
        if not types - {main}:
            continue
        if main not in types and part.dtype == main and part is not node:
            subexpressions.append(part)
        elif fragment_of(part) is not None:
            raise TraceError(
                f"{shape_text(part)} meets elements of {main} in one expression; convert it first, by "
                f"x.to(sl.{main})"
            )
        else:
            stack.extend(part.arguments())
    return subexpressions


def _inputs(node: ElementExpr, values: dict[int, Any]) -> dict[int, Any]:
    """Return the values that are inputs, by node."""
    inputs: dict[int, Any] = {}
    stack, seen = [node], set[int]()
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if id(part) in values:
            inputs[id(part)] = values[id(part)]
        elif (fragment := fragment_of(part)) is not None:
            inputs[id(part)] = fragment.value
        else:
            stack.extend(reversed(part.arguments()))
    return inputs


def _broadcast(value: Any, shape: tuple[int, ...] | None) -> Any:
    axis = slice_dim(value.type)
    return value if shape is None or axis is None else smem.broadcast(value, shape[axis])


def _element(
    node: ElementExpr,
    inputs: dict[int, Any],
    arguments: tuple[Any, ...],
    narrow: dict[int, PositionComparison | PositionConversion],
) -> Any:
    """Build the expression for an element, and return its value."""
    computed = dict(inputs)
    position = partial(_position, arguments[len(inputs) :])
    narrow_position = cache(lambda dim: arith.index_cast(i32.type, position(dim)))
    positions = {id(part) for part in walk(node) if isinstance(part, Coordinate)}
    stack = [(node, False)]
    while stack:
        part, ready = stack.pop()
        if id(part) in computed:
            continue
        if id(part) in positions:
            assert isinstance(part, Coordinate)
            computed[id(part)] = position(part.dim)
        elif id(part) in narrow:
            assert isinstance(part, Operation)
            with part.location:
                computed[id(part)] = narrow[id(part)].build(narrow_position)
        elif isinstance(part, Uniform):
            computed[id(part)] = _uniform(part)
        elif ready:
            assert isinstance(part, Operation)
            with part.location:
                computed[id(part)] = _operation(
                    part, [computed[id(operand)] for operand in part.operands]
                )
        else:
            stack.append((part, True))
            stack.extend((argument, False) for argument in reversed(part.arguments()))
    return computed[id(node)]


def _position(positions: tuple[Any, ...], dim: int) -> Any:
    """Return the position along a dimension; a slice has one position."""
    return positions[min(dim, len(positions) - 1)]


def _uniform(node: Uniform) -> Any:
    if isinstance(node.number, Traced):
        return node.number.value
    return elements.constant(node.number, node.dtype)


def _operation(node: Operation, values: list[Any]) -> Any:
    if isinstance(node, ArrayElement):
        return elements.signless(memref.load(node.array.value, values))
    if isinstance(node, ElementOp):
        return _build_element_op(node, values)
    if node.name == "to":
        return elements.build_conversion(values[0], node.operands[0].dtype, node.dtype)
    if node.name == "bitcast":
        return elements.build_bitcast(values[0], node.operands[0].dtype, node.dtype)
    if node.name == "where":
        return arith.select(*values)
    dtype = node.operands[0].dtype
    if node.dtype == b1 and node.name not in elements.COMPARISONS:
        dtype = b1
    return elements.build_operation(node.name, dtype, values)


def _build_element_op(node: ElementOp, values: list[Any]) -> Any:
    built = node.build(*values)
    element = VALUE.take(built)
    if element is REFUSED:
        raise wrong_argument("sl.map", "the result of the function", built, VALUE.expected)
    expected = node.dtype.computed_type
    if element.type != expected:
        raise TraceError(f"the function of sl.map returns {element.type}; expected {expected}")
    return element


def element_of(type_: Any) -> DType:
    """Return the element type of a fragment type."""
    return of_mlir(tensor_of(type_).element_type)
