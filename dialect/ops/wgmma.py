"""`smem.wgmma`: an mma whose operands are matrix descriptors; made by `smem-materialize-descriptors`."""

from typing import Any

from ..bindings import ext, ir
from ..diagnostics import Invalid, verifier
from ..smem import Smem
from ..types import FragmentType, is_in_flight, shape_of
from .mma import check_fragment

I64 = ir.IntegerType[64]


class WgmmaOp(Smem.Operation, name="wgmma"):
    """What `smem.mma` is once each operand is one descriptor and constant steps.

    `a_steps` and `b_steps` hold, for each instruction block along m/n and then along k, what is added
    to the operand's descriptor, in 16-byte units. `element` is the ISA's name of the multiplicands'
    type; `a_major` and `b_major` are "k" or "mn".
    """

    a: ext.Operand[I64]
    b: ext.Operand[I64]
    element: ir.StringAttr
    a_major: ir.StringAttr
    b_major: ir.StringAttr
    a_steps: Any
    b_steps: Any
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_invariants(self) -> None:
        result = self.results[0].type
        check_fragment(result)
        if not is_in_flight(result):
            raise Invalid(f"results in {result}; expected a fragment in flight")
        if len(list(self.operands)) == 3 and shape_of(self.operands[2].type) != shape_of(result):
            raise Invalid("adds to a fragment of another shape than its result")
