"""Numbers of the running kernel: scalar arguments, elements of arrays."""

from __future__ import annotations

from typing import Any

from ..dtypes import DType, of_mlir
from ..dtypes import index as index_type
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder
from . import elements
from .base import Traced, describe
from .boolean import Bool
from .index import Index
from .operators import Operators


class Scalar(Operators, Traced):
    """A number, the same in all threads, or read by each: a scalar argument, an element of an array.

    It has the arithmetic of the elements of fragments, and can be used with them.

    Attributes:
        dtype: the element type.

    Example:
        >>> print((C[0, 0] * 2.0).type_text)
        a number of f32
    """

    __slots__ = ("dtype",)

    kind = "a number"

    def __init__(self, value: Any, scope: KernelScope | None = None) -> None:
        super().__init__(value, scope)
        self.dtype: DType = of_mlir(value.type)

    @property
    def type_text(self) -> str:
        return f"a number of {self.dtype}"

    @op_builder
    def to(self, dtype: DType) -> Any:
        """Return the number converted to another type; `sl.index` gives an `Index`."""
        return _wrap(elements.build_conversion(self.value, self.dtype, dtype), dtype)

    def _apply(self, name: str, *operands: Any) -> Any:
        return apply(name, *operands)


@op_builder
def apply(name: str, *operands: Any) -> Any:
    """Return an operation on numbers; `NotImplemented` for other operands.

    Raises:
        TraceError: if the types of the numbers differ.
    """
    if not all(isinstance(operand, Scalar | Bool | Index | int | float) for operand in operands):
        return NotImplemented
    dtype = next(operand.dtype for operand in operands if isinstance(operand, Scalar))
    values = [as_scalar(operand, dtype).value for operand in operands]
    return _wrap(elements.build_operation(name, dtype, values), elements.result_type(name, dtype))


def _wrap(value: Any, dtype: DType) -> Any:
    """Return the value of an op without effects, of the class of its type."""
    current().pure.append(value.owner)
    if dtype.kind == "bool":
        return Bool(value)
    return Index(value) if dtype == index_type else Scalar(value)


def as_scalar(operand: Any, dtype: DType) -> Any:
    """Return a scalar of an element type; a Python number becomes a constant.

    Raises:
        TraceError: for another type.
    """
    if isinstance(operand, Scalar):
        if operand.dtype != dtype:
            raise TraceError(
                f"{operand.type_text} meets {dtype}; write x.to(sl.{dtype}) to convert it"
            )
        return operand
    if isinstance(operand, int | float) and not isinstance(operand, bool):
        return Scalar(elements.constant(operand, dtype), current().scopes[0])
    raise TraceError(f"{describe(operand)} meets a number of {dtype}; expected a number of {dtype}")
