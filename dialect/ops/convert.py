"""`smem.convert`: an accumulator becomes the A of another mma."""

from typing import Any

from ..arguments import ElementType, Fragment
from ..bindings import ext
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..diagnostics import Invalid, verifier
from ..effects import Effects, Scope
from ..op import SmemOp
from ..types import (
    FragmentType,
    a_fragment,
    check_fragment,
    check_readable,
    fragment_accumulator,
    is_a_fragment,
    shape_of,
    tensor_of,
)

#: Element types of the multiplicands that each accumulator becomes.
CONVERTED = {
    "f32": ("f16", "bf16", "tf32", "f8E4M3FN", "f8E5M2"),
    "f16": ("f16", "f8E4M3FN", "f8E5M2"),
    "s32": ("i8", "si8", "ui8", "i1"),
}


class ConvertOp(SmemOp, name="convert"):
    """Converts an accumulator (M, N) to a multiplicand A of the same shape: the D of one mma becomes
    the A of the next.

    Floats are rounded to nearest (even; tf32: away from zero). 8-bit types stay at their largest and
    smallest finite values beyond these. i1 is the lowest bit of an integer. An f32 multiplicand, as
    loaded from a tile, becomes tf32.

    16-bit types stay in the same threads; others are exchanged between the four threads that hold a
    row of 8 columns.
    """

    source: ext.Operand[FragmentType]
    result: ext.Result[FragmentType]

    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.source.type, self.result.type)


@cached_in_context
def _check(source: Any, result: Any) -> None:
    check_fragment(result)
    if not is_a_fragment(result):
        raise Invalid(f"results in {result}; expected #smem.a_fragment")
    kept = tensor_of(result).element_type
    if is_a_fragment(source):
        held = tensor_of(source).element_type
        if (str(held), str(kept)) != ("f32", "tf32"):
            raise Invalid(f"converts a multiplicand of {held} to {kept}; expected f32 to tf32")
    else:
        check_readable(source)
        expected = CONVERTED[fragment_accumulator(source).name]
        if str(kept) not in expected:
            raise Invalid(
                f"converts {tensor_of(source).element_type} to {kept}; expected {', '.join(expected)}"
            )
    if shape_of(source) != shape_of(result):
        raise Invalid(f"converts {tensor_of(source)} to {tensor_of(result)}; the shapes differ")


@builder
def convert(value: Fragment, element: ElementType) -> Any:
    """The accumulator (or multiplicand of f32) `value` as a multiplicand of the MLIR type `element`."""
    return create(ConvertOp, [value], [a_fragment(shape_of(value.type), element)]).result
