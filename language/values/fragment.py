"""Fragments: matrices, and slices of them, in the registers of a warpgroup."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...bindings.mlir import arith
from ...dialect import ops as smem
from ...dialect.ops.registers import vector_type
from ...dialect.slices import slice_dim
from ...dialect.types import fragment as fragment_type
from ...dialect.types import (
    is_a_fragment,
    is_accumulator,
    is_in_flight,
    shape_of,
)
from ...ir import emit
from ...layout.fragments import WARPGROUP
from ..dtypes import DType, b1, dtype_of, f16, f32, i32, index
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder
from . import elements
from .base import Traced, describe
from .boolean import Bool, condition_value
from .index import as_index, index_of_op, is_index
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
from .operators import Operators, Unloaded
from .scalar import Number, as_scalar, common_dtype, wrap_number


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
        text = shape_text(self.node)
        if self.is_expression:
            return text
        if self.in_flight:
            return f"{text} in flight"
        return text.replace("a fragment", "an A fragment") if self.is_a else text

    def to(self, dtype: DType) -> Fragment:
        """Return the elements converted to another type: floats are rounded to nearest even.

        A number that a type of fewer than 32 bits cannot hold becomes the nearest that it holds, for
        floats of 8 bits and integers.
        """
        return _convert(self, dtype)

    def bitcast(self, dtype: DType) -> Fragment:
        """Return the elements with the same bits, as those of another type of as many bits."""
        return _bitcast(self, dtype)

    def max(self, axis: int | None = None, warpgroups: int = 1) -> Any:
        """Return the maximum along an axis, a slice, or of all, a number; NaN if an element is."""
        return reduce(self, "max", axis, warpgroups)

    def min(self, axis: int | None = None, warpgroups: int = 1) -> Any:
        """Return the minimum along an axis, a slice, or of all, a number; NaN if an element is."""
        return reduce(self, "min", axis, warpgroups)

    def sum(self, axis: int | None = None, warpgroups: int = 1) -> Any:
        """Return the sum along an axis, a slice, or of all, a number."""
        return reduce(self, "sum", axis, warpgroups)

    def prod(self, axis: int | None = None, warpgroups: int = 1) -> Any:
        """Return the product along an axis, a slice, or of all, a number."""
        return reduce(self, "prod", axis, warpgroups)

    @op_builder
    def __getitem__(self, index: Any) -> Fragment:
        """Return columns or rows, `acc[:, 64:128]`; of a slice, `m[:, None]` or `m[None, :]`, which meets
        slices along the other axis."""
        dims = index if isinstance(index, tuple) else (index,)
        if self.axis is not None:
            if dims in ((slice(None), None), (None, slice(None))) and dims[self.axis] is None:
                return self._expand()
            expected = "m[:, None]" if self.axis == 1 else "m[None, :]"
            raise TraceError(f"{self.type_text} is indexed; expected {expected}, or no index")
        dims = (*dims, slice(None))[:2] if len(dims) == 1 else dims
        if self.shape is None or len(dims) != 2 or not all(map(_is_static_slice, dims)):
            raise TraceError(
                f"{self.type_text} is indexed; expected numbers, x[:, first:last] or x[first:last, :]"
            )
        (first_row, last_row, row_step), (first, last, step) = (
            part.indices(extent) for part, extent in zip(dims, self.shape, strict=True)
        )
        if (row_step, step) != (1, 1) or last <= first or last_row <= first_row:
            raise TraceError(
                f"{self.type_text} has no rows {first_row} : {last_row}, columns {first} : {last}"
            )
        part = _rows(readable(self), first_row, last_row)
        if part is not self and (first, last) == (0, self.shape[1]):
            return part
        return Fragment(smem.columns(part.value, first, last - first))

    def __bool__(self) -> bool:  # noqa: PLE0304
        self._refuse("one truth value", "sl.where(condition, x, y), and & | ~ to combine")

    def _expand(self) -> Fragment:
        """Return a slice that meets slices along the other axis."""
        return Fragment(self._value, self.scope, replace(self.node, expanded=True))

    def _apply(self, name: str, *operands: Any) -> Any:
        return apply(name, *operands)


def _is_static_slice(index: Any) -> bool:
    return isinstance(index, slice) and not any(
        isinstance(bound, Traced) for bound in (index.start, index.stop, index.step)
    )


def _rows(fragment: Fragment, first: int, last: int) -> Fragment:
    """Return rows of a matrix, which are in registers of their own.

    Raises:
        TraceError: for rows that share a register with others, on one of the architectures.
    """
    assert fragment.shape is not None
    rows, columns = fragment.shape
    if (first, last) == (0, rows):
        return fragment
    # A tcgen05 instruction of 128 rows has them in other threads than two of 64 rows.
    step = 128 if rows % 128 == 0 else 64
    if first % step or last % step or (last - first) % 128 != rows % 128:
        raise TraceError(
            f"rows {first} : {last} are taken of {fragment.type_text}, where a thread has elements of "
            f"each {step} rows; expected {step} rows from a multiple of {step}, within {rows}"
        )
    vector = smem.to_registers(fragment.value)
    elements = range(first * columns // WARPGROUP, last * columns // WARPGROUP)
    members = [emit.extract_element(vector, i) for i in elements]
    type_ = fragment_type((last - first, columns), fragment.dtype.type)
    part = emit.value("vector.from_elements", members, vector_type(type_))
    return Fragment(smem.from_registers(part, type_))


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
        how = "; sl.load reads it" if isinstance(fragment, Unloaded) else ""
        raise TraceError(f"expected a fragment, not {describe(fragment)}{how}")
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
    dtype = common_dtype(name, operands)
    elements.check_shift(name, dtype, operands)
    nodes = tuple(as_node(operand, dtype) for operand in operands)
    result = elements.result_type(name, dtype)
    return Fragment(node=Operation(result, *join_shapes(nodes), name, nodes, current().here()))


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
    dtype = common_dtype("sl.where", (first, second))
    nodes = (as_node(condition, b1), as_node(first, dtype), as_node(second, dtype))
    return Fragment(node=Operation(dtype, *join_shapes(nodes), "where", nodes, current().here()))


def _select(condition: Any, first: Any, second: Any) -> Any:
    """Return one of two indices or numbers."""
    test = condition_value(condition)
    if is_index(first) and is_index(second):
        first, second = as_index(first), as_index(second)
        selected = arith.select(test, first.value, second.value)
        return index_of_op(selected, unsigned=first.unsigned and second.unsigned)
    dtype = common_dtype("sl.where", (first, second))
    values = [as_scalar(operand, dtype).value for operand in (first, second)]
    return wrap_number(arith.select(test, *values), dtype)


@op_builder
def _convert(fragment: Fragment, dtype: DType) -> Fragment:
    node = readable(fragment).node
    target = dtype_of(dtype)
    if node.dtype == target:
        return fragment
    conversion = Operation(target, node.shape, node.axis, "to", (node,), current().here())
    return Fragment(node=conversion)


@op_builder
def _bitcast(fragment: Fragment, dtype: DType) -> Fragment:
    target, node = dtype_of(dtype), readable(fragment).node
    as_node(fragment, node.dtype)
    elements.check_bitcast(node.dtype, target)
    operands = (node,)
    return Fragment(
        node=Operation(target, node.shape, node.axis, "bitcast", operands, current().here())
    )


def as_node(operand: Any, dtype: DType) -> ElementExpr:
    """Return the node of an operand, of an element type."""
    if isinstance(operand, Fragment):
        node = readable(operand).node
        if node.dtype != dtype:
            hint = "; expected a comparison, such as x > 0" if dtype == b1 else ""
            raise TraceError(f"elements of {node.dtype} are used as {dtype}{hint}")
        if isinstance(node, FragmentLeaf) and not (
            is_accumulator(node.fragment.value.type) or node.axis is not None
        ):
            raise TraceError(f"{operand.type_text} has no arithmetic; expected an accumulator")
        return node
    if isinstance(operand, Number):
        operand = as_scalar(operand, dtype)
    elif not isinstance(operand, Bool | int | float) or (isinstance(operand, Bool) and dtype != b1):
        raise TraceError(
            f"{describe(operand)} is used as {dtype}; expected a number, or a fragment"
        )
    elif not isinstance(operand, Bool):
        elements.check_number(operand, dtype)
    return Uniform(dtype, None, None, operand)


#: The words of `smem.reduce`, by the name here: of floats, of integers.
_REDUCTIONS = {
    "max": ("maximumf", "maxsi"),
    "min": ("minimumf", "minsi"),
    "sum": ("add", "add"),
    "prod": ("mul", "mul"),
}


@op_builder
def reduce(given: Fragment, operation: str, axis: int | None = None, warpgroups: int = 1) -> Any:
    """Return a reduction along an axis, a slice, or of all elements, a number that all threads have.

    Of all elements, those of each row are reduced first. A slice has one axis, and is reduced whole.

    Args:
        given: a readable accumulator (M, N), or an expression of one.
        operation: "max", "min", "sum", "prod", or a word of `gpu.all_reduce`, for example "maxnumf".
        axis: 1 to reduce each row, 0 to reduce each column; None to reduce all.
        warpgroups: adjacent warpgroups that hold pieces along the axis, or any pieces if it is None; all
            get the result.

    Raises:
        TraceError: for a slice with an axis, another axis, or a word that the elements do not have.

    Example:
        >>> print(sl.reduce(scores, "maxnumf", axis=1).type_text)
        a slice of 64 rows of f32
        >>> print(sl.reduce(scores, "max").type_text)
        a number of f32
    """
    value = readable(given)
    if value.axis is not None and axis is not None:
        raise TraceError(
            f"{value.type_text} is reduced along an axis; expected a matrix, or no axis"
        )
    if axis not in (0, 1, None):
        raise TraceError(
            f"a fragment is reduced along axis {axis!r}; expected 0 (columns), 1 (rows), or none"
        )
    if value.dtype.bits < 32 and value.dtype != f16:
        wider = f32 if value.dtype.is_float else i32
        raise TraceError(f"{value.type_text} is reduced; convert it, by x.to(sl.{wider})")
    float_word, integer_word = _REDUCTIONS.get(operation, (operation, operation))
    word = float_word if value.dtype.is_float else integer_word
    if axis is not None:
        return Fragment(smem.reduce(value.value, word, axis=axis, warpgroups=warpgroups))
    return _reduce_all(value, word, warpgroups)


def _reduce_all(value: Fragment, word: str, warpgroups: int) -> Any:
    """Return the reduction of all elements of a matrix or a slice."""
    part = value.value
    if value.axis is None:
        part = smem.reduce(part, word, axis=1)
    # Repeated along its other axis, a slice is reduced to one that is the same number everywhere.
    dim = 0 if slice_dim(part.type) == 0 else 1
    whole = smem.broadcast(part, (64, 8)[dim])
    registers = smem.to_registers(smem.reduce(whole, word, axis=1 - dim, warpgroups=warpgroups))
    return wrap_number(emit.extract_element(registers, 0), value.dtype)


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
