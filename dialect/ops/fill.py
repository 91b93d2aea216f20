"""`smem.fill`: a fragment whose elements are all the same."""

from collections.abc import Sequence
from typing import Any

from ..bindings import arith, ext, ir
from ..build import create
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


def fill(value: Any, shape: Sequence[int], in_flight: bool = False, element: Any = None) -> Any:
    """A fragment of `shape` (M, N) filled with a value.

    Args:
        value: a number, or an MLIR value.
        shape: (M, N).
        in_flight: whether the result is typed in flight.
        element: the MLIR type of the elements for a number; f32 if left out.
    """
    if isinstance(value, int | float):
        element = ir.F32Type.get() if element is None else element
        integer = isinstance(element, ir.IntegerType)
        value = arith.constant(element, int(value) if integer else float(value))
    return create(FillOp, [value], [fragment(shape, value.type, in_flight)]).result
