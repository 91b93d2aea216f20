"""`smem.store`: a fragment to global memory."""

from typing import Any

from ..bindings import ext, ir
from ..build import create
from ..diagnostics import Invalid, verifier
from ..memrefs import check_global, check_multiples, strides_of
from ..smem import Smem
from ..types import (
    FragmentType,
    check_fragment,
    fragment_accumulator,
    is_in_flight,
    shape_of,
    tensor_of,
)

#: Element types of memory that each accumulator is converted to, rounding to nearest even.
STORED = {"f32": ("f32", "f16", "bf16"), "f16": ("f16", "f32"), "s32": ("i32",)}


class StoreOp(Smem.Operation, name="store"):
    """Stores an accumulator to a matrix in global memory, converting to its element type.

    Pairs of neighbouring columns are stored together where the matrix is row-major; its rows must
    then begin at multiples of two elements.
    """

    fragment: ext.Operand[FragmentType]
    target: ext.Operand[ir.MemRefType]

    @verifier
    def verify_region_invariants(self) -> None:
        source, target = self.operands[0].type, self.operands[1].type
        if is_in_flight(source):
            raise Invalid("reads an accumulator in flight; put an smem.wait before it")
        check_fragment(source)
        check_global(target, "stores to")
        strides, _ = strides_of(target)
        if tuple(target.shape) != shape_of(source):
            wanted = "x".join(map(str, shape_of(source)))
            raise Invalid(
                f"stores a fragment of {wanted} to {target}; take a memref.subview of static shape "
                f"{wanted}"
            )
        stored = STORED[fragment_accumulator(source).name]
        if str(target.element_type) not in stored:
            kept = tensor_of(source).element_type
            raise Invalid(f"stores {kept} as {target.element_type}; expected {', '.join(stored)}")
        if strides[1] == 1:
            check_multiples(target, 1, 2, "stores to", "a pair of columns")


def store(value: Any, target: Any) -> None:
    """Stores a readable fragment to the memref `target`."""
    create(StoreOp, [value, target])
