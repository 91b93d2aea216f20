"""`smem.fill`: a fragment whose elements are all the same."""

from collections.abc import Sequence
from typing import Any

from ..arguments import ElementType, Scalar
from ..bindings import arith, ext, ir
from ..build import create
from ..builder import builder
from ..diagnostics import Invalid, verifier
from ..effects import Effects, Scope
from ..op import SmemOp
from ..types import FragmentType, check_fragment, fragment, is_accumulator, tensor_of


class FillOp(SmemOp, name="fill"):
    """Sets every element of an accumulator.

    The result may be typed in flight, so that a loop can carry an accumulator in flight from its
    first iteration on.
    """

    value: ext.Operand[Any]
    fragment: ext.Result[FragmentType]

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        value, result = self.value.type, self.fragment.type
        check_fragment(result)
        if not is_accumulator(result):
            raise Invalid(f"fills an accumulator, not {result}")
        if value != tensor_of(result).element_type:
            raise Invalid(f"fills {tensor_of(result).element_type} elements with {value}")


@builder
def fill(
    value: Scalar,
    shape: Sequence[int],
    in_flight: bool = False,
    element: ElementType | None = None,
) -> Any:
    """A fragment of `shape` (M, N) filled with a value.

    Args:
        value: a number, or an MLIR value.
        shape: (M, N).
        in_flight: whether the result is typed in flight.
        element: the MLIR type of the elements for a number; f32 if left out.
    """
    if not isinstance(value, int | float):
        return create(FillOp, [value], [fragment(shape, value.type, in_flight)]).result
    element = ir.F32Type.get() if element is None else element
    result = fragment(shape, element, in_flight)
    number = arith.constant(element, _number(value, element))
    return create(FillOp, [number], [result]).result


def _number(value: float, element: Any) -> float:
    """A number as a constant of an MLIR type takes it.

    Raises:
        Invalid: if it is no integer of a type of integers.
    """
    if not isinstance(element, ir.IntegerType):
        return float(value)
    if value != value // 1 or not -(1 << 31) <= value < 1 << 31:
        raise Invalid(f"fills with {value}; expected a 32-bit integer for elements of {element}")
    return int(value)
