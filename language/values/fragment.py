"""Fragments: matrices, and slices of them, in the registers of a warpgroup."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith
from ...dialect import ops as smem
from ...dialect.slices import slice_dim
from ...dialect.types import (
    is_a_fragment,
    is_accumulator,
    is_in_flight,
    shape_of,
)
from ..dtypes import DType, b1, dtype_of, index
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder
from . import elements
from .base import Traced, describe
from .boolean import Bool, condition_value
from .index import Index, as_index, index_of_op, is_index
from .mapping import build_map, element_of
from .node import (
    Coordinate,
    ElementExpr,
    FragmentLeaf,
    Operation,
    Uniform,
    fragment_of,
    join_shapes,
    shape_text,
)
from .operators import Operators
from .scalar import Scalar, as_scalar


class Fragment(Operators, Traced):
    """A matrix (M, N) in the registers of a warpgroup, a slice of one, or an expression of them.

    Operators and functions of elements build an expression; it becomes one `smem.map` where it is used:
    stored, multiplied, reduced, or carried by a loop. A slice, the result of a reduction, meets a matrix
    without an index: the slice knows its axis.

    Attributes:
        shape: (M, N), or (M,) or (N,) of a slice, in elements; None for positions alone.
        axis: the dimension that a slice lacks; None for a matrix.
        dtype: the element type.
        in_flight: whether an unfinished mma may still write it.
        is_a: whether it is an A of `sl.mma`.
    """

    __slots__ = ("_node", "axis", "dtype", "in_flight", "is_a", "shape")

    kind = "a fragment"
    instead_of_transpose = "store it to a tile t, and read t.T"

    def __init__(
        self, value: Any = None, scope: KernelScope | None = None, node: ElementExpr | None = None
    ) -> None:
        super().__init__(value, scope)
        self._node = node
        self.in_flight = self.is_a = False
        if node is not None:
            self.shape, self.axis, self.dtype = node.shape, node.axis, node.dtype
        else:
            type_ = value.type
            self.shape, self.axis, self.dtype = (
                shape_of(type_),
                slice_dim(type_),
                element_of(type_),
            )
            self.in_flight, self.is_a = is_in_flight(type_), is_a_fragment(type_)

    @property
    def node(self) -> ElementExpr:
        """The expression; a leaf for a fragment in registers."""
        if self._node is None:
            self._node = FragmentLeaf(self.dtype, self.shape, self.axis, self)
        return self._node

    @property
    def is_expression(self) -> bool:
        """Whether it is not computed yet."""
        return self._value is None

    @property
    def value(self) -> Any:
        """The MLIR value; an expression is computed here.

        Raises:
            TraceError: if a scope that defines it has ended.
        """
        return _compute(self.node) if self._value is None else super().value

    @property
    def type_text(self) -> str:
        if self.shape is None:
            return "an expression of positions"
        text = shape_text(ElementExpr(self.dtype, self.shape, self.axis))
        if self.is_expression:
            return text
        if self.in_flight:
            return f"{text} in flight"
        return text.replace("a fragment", "an A fragment") if self.is_a else text

    def to(self, dtype: DType) -> Fragment:
        """Return the elements converted to another type: floats are rounded to nearest even.

        f32, f16 and i32 are types of accumulators. Others are those of A, which `sl.mma` takes, and of
        what `sl.store` stores.
        """
        return _convert(self, dtype)

    def max(self, axis: int, warpgroups: int = 1) -> Fragment:
        """Return the maximum along an axis, a slice; NaN if an element is."""
        return reduce(self, "max", axis, warpgroups)

    def min(self, axis: int, warpgroups: int = 1) -> Fragment:
        """Return the minimum along an axis, a slice; NaN if an element is."""
        return reduce(self, "min", axis, warpgroups)

    def sum(self, axis: int, warpgroups: int = 1) -> Fragment:
        """Return the sum along an axis, a slice."""
        return reduce(self, "sum", axis, warpgroups)

    def prod(self, axis: int, warpgroups: int = 1) -> Fragment:
        """Return the product along an axis, a slice."""
        return reduce(self, "prod", axis, warpgroups)

    @op_builder
    def __getitem__(self, index: Any) -> Fragment:
        """Return columns, `acc[:, 64:128]`; `m[:, None]` and `m[None, :]` of a slice are the slice."""
        dims = index if isinstance(index, tuple) else (index,)
        if self.axis is not None:
            if dims in ((slice(None), None), (None, slice(None))) and dims[self.axis] is None:
                return self
            expected = "m[:, None]" if self.axis == 1 else "m[None, :]"
            raise TraceError(f"{self.type_text} is indexed; expected {expected}, or no index")
        if len(dims) != 2 or dims[0] != slice(None) or not isinstance(dims[1], slice):
            raise TraceError(f"{self.type_text} is indexed; expected columns, x[:, first:last]")
        assert self.shape is not None
        first, last, step = dims[1].indices(self.shape[1])
        if step != 1 or last <= first:
            raise TraceError(f"{self.type_text} has no columns {first} : {last}")
        return Fragment(smem.columns(readable(self).value, first, last - first))

    def _apply(self, name: str, *operands: Any) -> Any:
        return apply(name, *operands)


@op_builder
def _compute(node: ElementExpr) -> Any:
    """Return the value of an expression; it is computed once in a scope."""
    fragment = fragment_of(node)
    if fragment is None:
        fragment = Fragment(build_map(node))
        if isinstance(node, Operation):
            current().remember(node.computed, "map", fragment)
    return fragment.value


def readable(fragment: Any) -> Fragment:
    """Return a fragment whose elements can be read.

    Raises:
        TraceError: for something else, or for one in flight.
    """
    if not isinstance(fragment, Fragment):
        raise TraceError(f"expected a fragment, not {describe(fragment)}")
    fragment.check()
    if fragment.in_flight:
        raise TraceError(
            f"{fragment.type_text} is read, but its mma may still run; write acc = sl.wait(acc) before"
        )
    return fragment


@op_builder
def apply(name: str, *operands: Any) -> Any:
    """Return the expression of an operation on the elements of fragments; see `elements`.

    Raises:
        TraceError: if shapes or element types do not meet.
    """
    if not all(isinstance(operand, Traced | int | float) for operand in operands):
        return NotImplemented
    dtype = _common(name, operands)
    nodes = tuple(as_node(operand, dtype) for operand in operands)
    shape, axis = join_shapes(nodes)
    result = elements.result_type(name, dtype)
    return Fragment(node=Operation(result, shape, axis, name, nodes, current().here()))


@op_builder
def where(condition: Any, first: Any, second: Any) -> Any:
    """Return `first` where a condition holds, else `second`, element by element.

    Args:
        condition: a comparison of fragments or positions; of numbers or indices, to select one of two.
        first, second: fragments or numbers of the same element type, or indices.

    Raises:
        TraceError: if shapes or element types do not meet.

    Example:
        >>> print(scores.shape, sl.where(sl.iota(1) <= sl.iota(0), scores, 0.0).shape)
        (64, 64) (64, 64)
    """
    if not any(isinstance(operand, Fragment) for operand in (condition, first, second)):
        return _select(condition, first, second)
    dtype = _common("where", (first, second))
    nodes = (as_node(condition, b1), as_node(first, dtype), as_node(second, dtype))
    shape, axis = join_shapes(nodes)
    return Fragment(node=Operation(dtype, shape, axis, "where", nodes, current().here()))


def _select(condition: Any, first: Any, second: Any) -> Any:
    """Return one of two indices or numbers."""
    test = condition_value(condition)
    if is_index(first) and is_index(second):
        first, second = as_index(first), as_index(second)
        selected = arith.select(test, first.value, second.value)
        return index_of_op(selected, unsigned=first.unsigned and second.unsigned)
    dtype = _common("where", (first, second))
    selected = arith.select(test, as_scalar(first, dtype).value, as_scalar(second, dtype).value)
    current().pure.append(selected.owner)
    return Scalar(selected)


@op_builder
def _convert(fragment: Fragment, dtype: DType) -> Fragment:
    node = readable(fragment).node
    target = dtype_of(dtype)
    if node.dtype == target:
        return fragment
    conversion = Operation(target, node.shape, node.axis, "to", (node,), current().here())
    return Fragment(node=conversion)


def _common(name: str, operands: tuple[Any, ...]) -> DType:
    """Return the element type of an operation's operands; Python numbers take that of the others."""
    types = [type_of(operand) for operand in operands if isinstance(operand, Traced)]
    if not types:
        raise TraceError(f"{name} has no fragment among its operands")
    for dtype in types[1:]:
        if dtype != types[0]:
            raise TraceError(
                f"elements of {types[0]} meet elements of {dtype}; convert one, for example by "
                f"x.to(sl.{types[0]})"
            )
    return types[0]


def type_of(operand: Traced) -> DType:
    """Return the element type of an operand.

    Raises:
        TraceError: for a tile or an array.
    """
    operand.check()
    if isinstance(operand, Fragment | Scalar):
        return operand.dtype
    if isinstance(operand, Index):
        return index
    if isinstance(operand, Bool):
        return b1
    raise TraceError(f"{operand.type_text} is no operand of arithmetic; sl.load reads it")


def as_node(operand: Any, dtype: DType) -> ElementExpr:
    """Return the node of an operand, of an element type."""
    if isinstance(operand, Fragment):
        node = readable(operand).node
        if node.dtype != dtype:
            raise TraceError(f"elements of {node.dtype} are used as {dtype}")
        if isinstance(node, FragmentLeaf) and not (
            is_accumulator(node.fragment.value.type) or node.axis is not None
        ):
            raise TraceError(f"{operand.type_text} has no arithmetic; expected an accumulator")
        return node
    if isinstance(operand, Traced):
        if type_of(operand) != dtype:
            raise TraceError(f"{operand.type_text} is used as {dtype}")
        return Uniform(dtype, None, None, operand)
    if not isinstance(operand, int | float):
        raise TraceError(f"{operand!r} is used as {dtype}; expected a number, or a fragment")
    return Uniform(dtype, None, None, operand)


#: The words of `smem.reduce`, by the name here: of floats, of integers.
_REDUCTIONS = {
    "max": ("maximumf", "maxsi"),
    "min": ("minimumf", "minsi"),
    "sum": ("add", "add"),
    "prod": ("mul", "mul"),
}


@op_builder
def reduce(given: Fragment, operation: str, axis: int, warpgroups: int = 1) -> Fragment:
    """Return a reduction along an axis, a slice.

    Args:
        given: a readable accumulator (M, N), or an expression of one.
        operation: "max", "min", "sum", "prod", or a word of `gpu.all_reduce`, for example "maxnumf".
        axis: 1 to reduce each row, 0 to reduce each column.
        warpgroups: adjacent warpgroups that hold pieces along the axis; all get the result.

    Raises:
        TraceError: for a slice, another axis, or a word that the elements do not have.

    Example:
        >>> print(sl.reduce(scores, "maxnumf", axis=1).type_text)
        a slice of 64 rows of f32
    """
    value = readable(given)
    if value.axis is not None:
        raise TraceError(f"{value.type_text} is reduced; expected a matrix")
    if axis not in (0, 1):
        raise TraceError(
            f"a fragment is reduced along axis {axis!r}; expected 0 (columns) or 1 (rows)"
        )
    float_word, integer_word = _REDUCTIONS.get(operation, (operation, operation))
    word = float_word if value.dtype.is_float else integer_word
    return Fragment(smem.reduce(value.value, word, axis=axis, warpgroups=warpgroups))


@op_builder
def iota(axis: int) -> Fragment:
    """Return the position of each element along an axis: its row (0) or its column (1).

    It takes the shape of the fragment that it is used with. In a slice, it is the position in the slice.

    Args:
        axis: 0 for rows, 1 for columns.

    Raises:
        TraceError: for another axis.

    Example:
        >>> masked = sl.where(sl.iota(1) < 32, scores, 0.0)
        >>> print(masked.type_text)
        a fragment 64x64 of f32
    """
    if axis not in (0, 1):
        raise TraceError(f"positions are along axis 0 (rows) or 1 (columns), not {axis!r}")
    return Fragment(node=Coordinate(index, None, None, axis))
