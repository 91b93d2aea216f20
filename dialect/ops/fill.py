"""`smem.fill`: an accumulator, or a slice of one, with the same value in all elements."""

from collections.abc import Sequence
from typing import Any

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import arith, ext, ir
from ..arguments import ElementType, Scalar
from ..build import create
from ..builder import builder
from ..effects import Effects, Scope
from ..elements import computed_type
from ..op import SmemOp
from ..slices import slice_dim, slice_fragment
from ..types import FragmentType, check_fragment, fragment, is_accumulator, tensor_of
from ..verifier import verifier


class FillOp(SmemOp, name="fill"):
    """Sets every element of the accumulator or slice `fragment` to `value`.

    The result can have the type of an accumulator in flight, so that a loop can carry one from its first
    iteration on.
    """

    value: ext.Operand[Any]
    fragment: ext.Result[FragmentType]

    is_by_rows = True
    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        value, result = self.value.type, self.fragment.type
        check_fragment(result)
        if not is_accumulator(result) and slice_dim(result) is None:
            raise Invalid(f"fills an accumulator or a slice, not {result}")
        if value != computed_type(tensor_of(result).element_type):
            raise Invalid(f"fills {tensor_of(result).element_type} elements with {value}")


@builder
def fill(
    value: Scalar,
    shape: Sequence[int],
    in_flight: bool = False,
    element: ElementType | None = None,
    slice_dim: int | None = None,
) -> Value:
    """Build an `smem.fill`, and return its fragment.

    Args:
        value: a number, or an MLIR value.
        shape: (M, N); of a slice (rows,) or (columns,).
        in_flight: whether the result has the state `#smem.in_flight`.
        element: the MLIR element type; by default that of `value`, f32 if that is a number.
        slice_dim: the dimension along which the result is a slice; None for an accumulator.

    Example:
        >>> print(smem.fill(0, (64, 128), in_flight=True).type)
        !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
        >>> print(smem.fill(float("-inf"), (64,), slice_dim=1).type)
        !smem.fragment<tensor<64xf32>, #smem.slice<1 : i64>>
    """
    number = None if isinstance(value, int | float) else value
    if element is None:
        element = ir.F32Type.get() if number is None else number.type
    result = _result(shape, element, in_flight, slice_dim)
    if number is not None:
        return create(FillOp, [number], [result]).result
    number = arith.constant(computed_type(element), _number(value, element))
    return create(FillOp, [number], [result]).result


def _result(shape: Sequence[int], element: Type, in_flight: bool, dim: int | None) -> Type:
    if dim is None:
        return fragment(shape, element, in_flight)
    if in_flight or len(shape) != 1:
        conflict = "an accumulator in flight" if in_flight else f"the shape {list(shape)}"
        raise Invalid(f"fills a slice, but has {conflict}; expected one extent, and no in_flight")
    return slice_fragment(shape[0], element, dim)


def _number(value: float, element: Type) -> float:
    """Convert a number for a constant of an MLIR type.

    Raises:
        Invalid: if the type is an integer type and the number is not a 32-bit integer.
    """
    if not isinstance(element, ir.IntegerType):
        return float(value)
    if value != value // 1 or not -(1 << 31) <= value < 1 << 31:
        raise Invalid(f"fills with {value}; expected a 32-bit integer for elements of {element}")
    return int(value)
