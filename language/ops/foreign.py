"""Ops without a function of their own: of the dialect, and of upstream's dialects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...bindings.mlir import ir
from ...dialect import ops as smem
from ...dialect.types import FragmentType, TileType
from ..dtypes import DType, dtype_of
from ..errors import TraceError
from ..trace import current, op_builder
from ..values.array import Window
from ..values.base import Traced
from ..values.boolean import Bool
from ..values.fragment import Fragment, as_node, readable
from ..values.index import Index
from ..values.node import ElementOp, join_shapes
from ..values.scalar import Number, Scalar
from ..values.tile import Tile


@op_builder
def op(builder: Callable[..., Any], *operands: Any, **named: Any) -> Any:
    """Call a builder of MLIR's bindings, or of `mlir_smem.dialect.ops`, with values of the kernel.

    Args:
        builder: the function that builds an op, for example `nvvm.griddepcontrol`.
        operands, named: its arguments; values of the kernel, also in lists, become MLIR values.

    Returns:
        What the builder returns; a value as a value of the kernel, if the language has its type.

    Example:
        >>> from mlir_smem.dialect import ops as smem
        >>> from mlir_smem.bindings import arith
        >>> print(sl.op(arith.divui, sl.block_id(0), sl.block_id(1)).type_text)
        an index
        >>> print(sl.op(smem.scale_d, acc, sl.block_id(0) < 1).type_text)
        a fragment 64x64 of f32
    """
    keywords = {name: unwrap(operand) for name, operand in named.items()}
    return wrap(builder(*map(unwrap, operands), **keywords))


def unwrap(operand: Any) -> Any:
    """Return the MLIR value of a value of the kernel; of each in a list; other things as they are."""
    if isinstance(operand, Traced | Window):
        return operand.value
    if isinstance(operand, list | tuple):
        return [unwrap(element) for element in operand]
    return operand


def wrap(built: Any) -> Any:
    """Return an MLIR value as a value of the kernel; other things as they are."""
    if not isinstance(built, ir.Value):
        return built
    type_ = built.type
    if isinstance(type_, ir.IndexType):
        return Index(built)
    if isinstance(type_, TileType):
        return Tile(built)
    if isinstance(type_, FragmentType):
        return Fragment(built)
    if isinstance(type_, ir.IntegerType) and type_.width == 1:
        return Bool(built)
    is_number = isinstance(type_, ir.IntegerType | ir.FloatType)
    return Scalar(built) if is_number else built


@op_builder
def map_(
    function: Callable[..., Any],
    *fragments: Any,
    with_position: bool = False,
    dtype: DType | None = None,
) -> Fragment:
    """Return a function of the elements of fragments, whose ops are those of MLIR's bindings.

    Operators and the functions of this package need no such function.

    Args:
        function: builds the element: it takes an MLIR value of each fragment, and returns one.
        fragments: readable accumulators, or slices, of one element type; with `dtype` also expressions,
            positions and numbers of the kernel, each of its own type.
        with_position: whether the function also takes the row and the column.
        dtype: the type of what the function returns. The result is then an expression, which is computed
            where it is used, as one of operators.

    Raises:
        TraceError: without fragments and `dtype`, for a fragment in flight, or for a function that
            returns another type than `dtype`.
        TypeError: for a function that returns no value.

    Example:
        >>> from mlir_smem.bindings import math
        >>> print(sl.map(math.cbrt, acc).type_text)
        a fragment 64x64 of f32
        >>> from mlir_smem.bindings import arith
        >>> whole = lambda x: arith.fptosi(sl.i32.type, x)
        >>> print(sl.map(whole, acc + 1.0, dtype=sl.i32).type_text)
        a fragment 64x64 of i32
    """
    if dtype is not None:
        if with_position:
            raise TraceError("sl.map takes with_position or dtype; with dtype, give sl.iota")
        return _expression(function, fragments, dtype_of(dtype))
    if not fragments:
        raise TraceError("sl.map has no fragment; expected one or more")
    values = [readable(fragment).value for fragment in fragments]
    return Fragment(smem.map(values, function, with_position=with_position))


def _expression(function: Callable[..., Any], operands: tuple[Any, ...], dtype: DType) -> Fragment:
    checked = [x if isinstance(x, Number) else readable(x) for x in operands]
    nodes = tuple(as_node(operand, operand.dtype) for operand in checked)
    here = current().here()
    return Fragment(node=ElementOp(dtype, *join_shapes(nodes), "map", nodes, here, build=function))


@op_builder
def broadcast(slice_: Fragment, extent: int) -> Fragment:
    """Return a slice as a matrix, without an instruction; arithmetic with a matrix does so by itself.

    Args:
        slice_: the slice.
        extent: of the matrix, along the axis that the slice lacks.

    Raises:
        TraceError: for a matrix.

    Example:
        >>> print(sl.broadcast(acc.max(axis=1), 128).type_text)
        a fragment 64x128 of f32
    """
    if readable(slice_).axis is None:
        raise TraceError(
            f"{slice_.type_text} is broadcast; expected a slice, such as x.max(axis=1)"
        )
    return Fragment(smem.broadcast(slice_.value, extent))
