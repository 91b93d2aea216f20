"""Numbers of the running kernel: scalar arguments, elements of arrays, and what indices share."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith, ir
from ...ir import emit
from ..dtypes import DType, b1, dtype_of, e4m3, e5m2, f16, f32, f64, i8, i32, i64, of_mlir
from ..dtypes import index as index_type
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder
from . import elements
from .base import Traced, describe
from .boolean import Bool
from .operators import Operators, Unloaded

#: The class of numbers of an element type; of other types, it is `Scalar`.
_CLASSES: dict[DType, Any] = {b1: Bool}


class Number(Operators, Traced):
    """A number of the running kernel: a `Scalar`, or an `Index`.

    Attributes:
        dtype: the element type.
    """

    __slots__ = ()

    dtype: DType

    def __init_subclass__(cls, dtype: DType | None = None) -> None:
        if dtype is not None:
            cls.dtype = dtype
            _CLASSES[dtype] = cls

    @op_builder
    def to(self, dtype: DType) -> Any:
        """Return the number converted to another type: rounded to nearest even, or, from a float to an
        integer, towards zero. What is too large becomes the nearest number of a type of fewer than 32
        bits; of other types, an integer keeps its low bits.

        Example:
            >>> print((1.0 / sl.sqrt(A.shape[1])).type_text, C[0, 0].to(sl.f16).type_text)
            a number of f32 a number of f16
        """
        value, source, dtype = self.value, self.dtype, dtype_of(dtype)
        if dtype in (e4m3, e5m2) and dtype != source:
            raise TraceError(f"{self.type_text} is converted to {dtype}; only fragments are")
        if source in (e4m3, e5m2) and dtype != source:
            value, source = _extend(value, source), f16
        if source == index_type and dtype.is_float:
            value, source = arith.index_cast(i64.type, value), i64
            current().pure.append(value.owner)
        return wrap_number(elements.build_conversion(value, source, dtype), dtype)

    def _apply(self, name: str, *operands: Any) -> Any:
        return apply(name, *operands)


class Scalar(Number):
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

    def __init__(
        self, value: Any, scope: KernelScope | None = None, dtype: DType | None = None
    ) -> None:
        super().__init__(value, scope)
        self.dtype: DType = dtype or of_mlir(value.type)

    def rewrap(self, value: Any, scope: KernelScope | None = None) -> Scalar:
        return Scalar(value, scope, self.dtype)

    @property
    def type_text(self) -> str:
        return f"a number of {self.dtype}"


def _extend(value: Any, dtype: DType) -> Any:
    """Return a float of 8 bits as f16, by the instruction for two of them."""
    byte = arith.bitcast(i8.type, value)
    pair = emit.value("vector.from_elements", (byte, byte), ir.VectorType.get([2], i8.type))
    halves = ir.VectorType.get([2], f16.type)
    type_ = ir.TypeAttr.get(dtype.type)
    converted = emit.value("nvvm.convert.f8x2.to.f16x2", (pair,), halves, srcType=type_)
    return emit.extract_element(converted, 0)


@op_builder
def apply(name: str, *operands: Any) -> Any:
    """Return an operation on numbers; `NotImplemented` for other operands.

    Raises:
        TraceError: if the types of the numbers differ.
    """
    if not all(isinstance(operand, Number | Bool | int | float) for operand in operands):
        return NotImplemented
    dtype = common_dtype(name, operands)
    elements.check_shift(name, dtype, operands)
    numbers = [as_scalar(operand, dtype) for operand in operands]
    if dtype == index_type and not all(map(_is_same, numbers, operands)):
        return numbers[0]._apply(name, *numbers)
    result = elements.result_type(name, dtype)
    values = [number.value for number in numbers]
    return wrap_number(elements.build_operation(name, dtype, values), result)


def _is_same(number: Any, operand: Any) -> bool:
    return number is operand or not isinstance(operand, Traced)


def common_dtype(name: str, operands: tuple[Any, ...]) -> DType:
    """Return the element type of an operation's operands; Python numbers take that of the others.

    An index meets f32 and f64 as a number of them, and numbers of an integer type as an index. With a
    whole float it is compared as an index.

    Args:
        name: of the operation.
        operands: values of the kernel, and Python numbers.

    Raises:
        TraceError: if the types do not meet, or for a value that has no arithmetic.
    """
    traced: list[Any] = [operand for operand in operands if isinstance(operand, Traced)]
    for operand in traced:
        operand.check()
        if not isinstance(operand, Operators | Bool) or isinstance(operand, Unloaded):
            raise TraceError(f"{describe(operand)} is an operand of {name}; {operand.instead}")
    indices = [operand for operand in traced if _is_index(operand)]
    types = list(dict.fromkeys(each.dtype for each in traced if not _is_index(each)))
    if not types:
        if all(isinstance(operand, bool) for operand in operands):
            return b1
        floats = [operand for operand in operands if isinstance(operand, float)]
        is_exact = bool(indices) and name in elements.COMPARISONS
        is_float = bool(floats) and not (is_exact and all(map(float.is_integer, floats)))
        is_float = is_float or (bool(indices) and elements.is_of_floats(name))
        return f32 if is_float else index_type if indices else i32
    (first, *others) = types
    if not others and (not indices or first in (f32, f64, index_type)):
        return first
    are_numbers = all(isinstance(operand, Number) for operand in traced)
    if not others and first.kind == "integer" and are_numbers:
        return index_type
    meets = f"elements of {others[0]}" if others else "an index"
    if b1 in types:
        meets = meets if first == b1 else f"elements of {first}"
        raise TraceError(f"a condition meets {meets}; write sl.where(condition, x, 0)")
    raise TraceError(
        f"elements of {first} meet {meets}; convert one, for example by x.to(sl.{first})"
    )


def _is_index(operand: Any) -> bool:
    return isinstance(operand, Number) and operand.dtype == index_type


def wrap_number(value: Any, dtype: DType) -> Any:
    """Return the value of an op without effects, of the class of its type."""
    current().pure.append(value.owner)
    return _number(value, dtype)


def read_scalar(value: Any) -> Scalar:
    """Return a number that memory or the call gives: unsigned integers are signless in arithmetic."""
    return Scalar(elements.signless(value), None, of_mlir(value.type))


def _number(value: Any, dtype: DType, scope: KernelScope | None = None) -> Any:
    """Return a number of the class of its type."""
    cls = _CLASSES.get(dtype)
    return Scalar(value, scope, dtype) if cls is None else cls(value, scope)


def as_scalar(operand: Any, dtype: DType) -> Any:
    """Return a number of an element type: of a Python number, a constant; an index becomes f32 or f64.

    Raises:
        TraceError: for another type.
    """
    if isinstance(operand, Number | Bool) and operand.dtype == dtype:
        return operand
    if isinstance(operand, Number):
        is_integer = dtype == index_type and operand.dtype.kind == "integer"
        if is_integer or (_is_index(operand) and dtype in (f32, f64)):
            return operand.to(dtype)
    if isinstance(operand, Scalar):
        raise TraceError(f"{operand.type_text} meets {dtype}; write x.to(sl.{dtype}) to convert it")
    if isinstance(operand, int | float) and isinstance(operand, bool) == (dtype == b1):
        return _number(elements.constant(operand, dtype), dtype, current().scopes[0])
    raise TraceError(f"{describe(operand)} meets a number of {dtype}; expected a number of {dtype}")
