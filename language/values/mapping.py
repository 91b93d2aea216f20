"""From an element expression to an `smem.map`."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith, memref
from ...dialect import ops as smem
from ...dialect.arguments import REFUSED, VALUE, wrong_argument
from ...dialect.slices import slice_dim
from ...dialect.types import shape_of, tensor_of
from ..dtypes import DType, b1, f16, f32, i32, of_mlir
from ..errors import TraceError
from . import elements
from .base import Traced
from .node import (
    ArrayElement,
    ElementOp,
    Node,
    Operation,
    Position,
    Uniform,
    fragment_of,
    leaves,
    shape_text,
    walk,
)

#: Element types of accumulators.
ACCUMULATORS = (f32, f16, i32)


def mapped(node: Node) -> Any:
    """Build what computes an expression, and return the MLIR value of the fragment.

    The inputs of a map have one type. Slices are therefore broadcast before, and parts of the expression
    on another element type have a map of their own.

    Raises:
        TraceError: for an expression without a fragment, or a result that no accumulator holds.
    """
    known = fragment_of(node)
    if known is not None:
        return known.value
    found = leaves(node)
    if not found:
        raise TraceError(
            "an expression of positions and numbers alone has no shape; use it with a fragment, or "
            "add it to sl.zeros(shape, dtype)"
        )
    if node.dtype not in ACCUMULATORS:
        raise TraceError(
            f"{shape_text(node)} is no accumulator; expected f32, f16 or i32, or its use by sl.store or "
            "as A of sl.mma"
        )
    types = {leaf.dtype for leaf in found}
    main = f32 if f32 in types else found[0].dtype
    values: dict[int, Any] = {}
    for part in _parts(node, main):
        values[id(part)] = mapped(part)
    inputs, wide = _inputs(node, values)
    broadcast = [_broadcast(value, wide) for value in inputs.values()]
    places = {key: place for place, key in enumerate(inputs)}

    def body(*arguments: Any) -> Any:
        return _element(node, {key: arguments[place] for key, place in places.items()}, arguments)

    positions = _check_positions(node, node.axis)
    return smem.map(broadcast, body, with_position=bool(positions))


def _check_positions(node: Node, axis: int | None) -> set[int]:
    """Return the dimensions whose positions an expression has; TraceError if one is a slice's `axis`."""
    positions = {each.dim for each in walk(node) if isinstance(each, Position)}
    if axis in positions:
        what = shape_text(node) if node.shape else f"a slice without axis {axis}"
        raise TraceError(f"{what} has no positions along axis {axis}")
    return positions


def filled(node: Node, shape: tuple[int, ...], axis: int | None) -> Any:
    """Build a fragment, or a slice, of an expression without one, and return its MLIR value.

    Raises:
        TraceError: for positions along the dimension that the slice lacks.
    """
    _check_positions(node, axis)
    zero = smem.fill(elements.constant(0, node.dtype), shape, slice_dim=axis)

    def body(_: Any, *positions: Any) -> Any:
        return _element(node, {}, positions)

    return smem.map([zero], body, with_position=True)


def rounded_from(node: Node) -> Node | None:
    """Return what a conversion at the root of an expression converts, if an accumulator holds it."""
    if isinstance(node, Operation) and node.name == "to" and node.operands[0].dtype in ACCUMULATORS:
        return node.operands[0]
    return None


def _parts(node: Node, main: DType) -> list[Node]:
    """Return the largest subexpressions on leaves of other types than `main` that result in `main`.

    Raises:
        TraceError: if a leaf of another type is not converted to `main`.
    """
    found: list[Node] = []
    stack, seen = [node], set[int]()
    while stack:
        at = stack.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        types = {leaf.dtype for leaf in leaves(at)}
        if not types - {main}:
            continue
        if main not in types and at.dtype == main and at is not node:
            found.append(at)
        elif fragment_of(at) is not None:
            raise TraceError(
                f"{shape_text(at)} meets elements of {main} in one expression; convert it first, by "
                f"x.to(sl.{main})"
            )
        else:
            stack.extend(at.arguments())
    return found


def _inputs(node: Node, values: dict[int, Any]) -> tuple[dict[int, Any], tuple[int, ...] | None]:
    """Return the values that are inputs, by node, and the shape of matrices among them."""
    inputs: dict[int, Any] = {}
    stack, seen = [node], set[int]()
    while stack:
        at = stack.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        if id(at) in values:
            inputs[id(at)] = values[id(at)]
        elif (known := fragment_of(at)) is not None:
            inputs[id(at)] = known.value
        else:
            stack.extend(reversed(at.arguments()))
    shapes = [shape_of(value.type) for value in inputs.values()]
    return inputs, next((shape for shape in shapes if len(shape) == 2), None)


def _broadcast(value: Any, wide: tuple[int, ...] | None) -> Any:
    axis = slice_dim(value.type)
    return value if wide is None or axis is None else smem.broadcast(value, wide[axis])


def _element(node: Node, inputs: dict[int, Any], arguments: tuple[Any, ...]) -> Any:
    """Build the expression for an element, and return its value."""
    known = dict(inputs)
    positions = {id(each) for each in walk(node) if isinstance(each, Position)}
    stack = [(node, False)]
    while stack:
        at, ready = stack.pop()
        if id(at) in known:
            continue
        if id(at) in positions:
            assert isinstance(at, Position)
            known[id(at)] = arguments[len(inputs) + min(at.dim, len(arguments) - len(inputs) - 1)]
        elif isinstance(at, Uniform):
            known[id(at)] = _uniform(at)
        elif ready:
            assert isinstance(at, Operation)
            with at.location:
                known[id(at)] = _operation(at, [known[id(each)] for each in at.operands])
        else:
            stack.append((at, True))
            stack.extend((each, False) for each in reversed(at.arguments()))
    return known[id(node)]


def _uniform(node: Uniform) -> Any:
    if isinstance(node.given, Traced):
        return node.given.value
    return elements.constant(node.given, node.dtype)


def _operation(node: Operation, values: list[Any]) -> Any:
    if isinstance(node, ArrayElement):
        return memref.load(node.array.value, values)
    if isinstance(node, ElementOp):
        return _built(node, values)
    if node.name == "to":
        return elements.converted(values[0], node.operands[0].dtype, node.dtype)
    if node.name == "where":
        return arith.select(*values)
    dtype = node.operands[0].dtype
    if node.dtype == b1 and node.name not in elements.COMPARISONS:
        dtype = b1
    return elements.computed(node.name, dtype, values)


def _built(node: ElementOp, values: list[Any]) -> Any:
    given = node.build(*values)
    made = VALUE.take(given)
    if made is REFUSED:
        raise wrong_argument("sl.map", "the result of the function", given, VALUE.expected)
    if made.type != node.dtype.type:
        raise TraceError(f"the function of sl.map returns {made.type}; expected {node.dtype.type}")
    return made


def element_of(type_: Any) -> DType:
    """Return the element type of a fragment type."""
    return of_mlir(tensor_of(type_).element_type)
