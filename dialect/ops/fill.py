"""`smem.fill`: a fragment whose elements are all the same."""

from collections.abc import Sequence
from typing import Any

from ..bindings import arith, ext, ir
from ..build import create
from ..diagnostics import Invalid, verifier
from ..smem import Smem
from ..types import FragmentType, check_fragment, fragment, tensor_of


class FillOp(Smem.Operation, name="fill"):
    """Sets every element of an accumulator.

    The result may be typed in flight, so that a loop can carry an accumulator in flight from its
    first iteration on.
    """

    value: ext.Operand[Any]
    fragment: ext.Result[FragmentType]

    @verifier
    def verify_region_invariants(self) -> None:
        value, result = self.operands[0].type, self.results[0].type
        check_fragment(result)
        if value != tensor_of(result).element_type:
            raise Invalid(f"fills {tensor_of(result).element_type} elements with {value}")


def fill(value: Any, shape: Sequence[int], in_flight: bool = False) -> Any:
    """A fragment of `shape` (M, N) filled with an f32 value (a number or an MLIR value)."""
    f32 = ir.F32Type.get()
    if isinstance(value, int | float):
        value = arith.constant(f32, float(value))
    return create(FillOp, [value], [fragment(shape, f32, in_flight)]).result
