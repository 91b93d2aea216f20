"""Accumulators and slices of one number, or of an expression of positions."""

from __future__ import annotations

from typing import Any

from ...dialect import ops as smem
from ..dtypes import DType
from ..errors import TraceError
from ..trace import current, op_builder
from .fragment import Fragment, as_node
from .mapping import build_fill
from .scalar import as_scalar
from .slices import extents_of


@op_builder
def full(
    shape: tuple[int, ...],
    number: Any,
    dtype: DType,
    axis: int | None = None,
    in_flight: bool = False,
) -> Fragment:
    """Return an accumulator, or a slice, with the same number in each element, or those of an expression.

    An expression, such as `bias[column + sl.iota(1)]`, is computed here, and not where it is used: loads
    begin before the next statement.

    Args:
        shape: (M, N), or (M,) for a slice of rows (axis 1), (N,) for one of columns (axis 0).
        number: a Python number, a scalar of the kernel, or an expression of positions without a fragment.
        dtype: f32, f16, i32, or another type of fragments.
        axis: of a slice, the dimension that it lacks.
        in_flight: whether `sl.wait` comes before it is read, as in a loop whose body begins with that.

    Raises:
        TraceError: for a slice without an axis; for an expression of another type, or with a fragment.

    Example:
        >>> print(sl.full((64, 128), 1.0, sl.f32).type_text)
        a fragment 64x128 of f32
        >>> print(sl.full((64,), sl.iota(0).to(sl.f32), sl.f32, axis=1).type_text)
        a slice of 64 rows of f32
    """
    shape = extents_of(shape)
    if len(shape) == 1 and axis not in (0, 1):
        raise TraceError(f"a slice of {shape[0]} elements needs its axis; expected axis=1 for rows")
    if in_flight and (len(shape) == 1 or isinstance(number, Fragment)):
        raise TraceError("what is in flight is a slice or an expression; expected an accumulator")
    if isinstance(number, Fragment):
        node = as_node(number, dtype)
        if node.shape is not None:
            raise TraceError(
                f"{number.type_text} has a shape; expected positions and numbers alone"
            )
        return Fragment(build_fill(node, shape, axis))
    value = as_scalar(number, dtype).value
    accumulator = smem.fill(value, shape, in_flight, dtype.type, axis)
    current().pure.append(accumulator.owner)
    return Fragment(accumulator)


@op_builder
def zeros(
    shape: tuple[int, ...], dtype: DType, axis: int | None = None, in_flight: bool = False
) -> Fragment:
    """Return an accumulator, or a slice, of zeros; see `full`.

    Args:
        shape, dtype, axis, in_flight: as for `full`.

    Example:
        >>> print(sl.zeros((64, 128), sl.f32).type_text)
        a fragment 64x128 of f32
    """
    return full(shape, 0, dtype, axis, in_flight)
