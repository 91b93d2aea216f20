"""`smem.convert`: an accumulator to the A fragment of another mma."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext
from ..arguments import ElementType, Fragment
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
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
from ..verifier import verifier

#: Element types of A fragments, by accumulator type.
CONVERTED = {
    "f32": ("f16", "bf16", "tf32", "f8E4M3FN", "f8E5M2"),
    "f16": ("f16", "f8E4M3FN", "f8E5M2"),
    "s32": ("i8", "si8", "ui8", "i1"),
    "bf16": ("bf16",),
    "e4m3": ("f8E4M3FN",),
    "e5m2": ("f8E5M2",),
    "s16": (),
    "s8": ("i8", "si8"),
    "u8": ("ui8",),
    "s4": (),
    "u4": (),
}


class ConvertOp(SmemOp, name="convert"):
    """Converts the accumulator `source` (M, N) to an A fragment of the same shape: D of one mma becomes
    A of the next.

    Floats are rounded to nearest, ties to even (tf32: ties away from zero). 8-bit types saturate to their
    finite range. i1 is the lowest bit of an integer. An f32 A fragment, as loaded from a tile, is
    converted to tf32.

    Elements of 16 bits stay in their threads; others are exchanged between the four threads that hold a
    row of 8 columns.
    """

    source: ext.Operand[FragmentType]
    result: ext.Result[FragmentType]

    is_by_rows = True
    effects = Effects(Scope.WARPGROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.source.type, self.result.type)


@cached_in_context
def _check(source: Type, result: Type) -> None:
    check_fragment(result)
    if not is_a_fragment(result):
        raise Invalid(f"results in {result}; expected #smem.a_fragment")
    element = tensor_of(result).element_type
    if is_a_fragment(source):
        source_element = tensor_of(source).element_type
        if (str(source_element), str(element)) != ("f32", "tf32"):
            raise Invalid(
                f"converts an A fragment of {source_element} to {element}; expected f32 to tf32"
            )
    else:
        check_readable(source)
        expected = CONVERTED[fragment_accumulator(source).name]
        if str(element) not in expected:
            fitting = ", ".join(expected) or "a map to the element type of A before it"
            raise Invalid(
                f"converts {tensor_of(source).element_type} to {element}; expected {fitting}"
            )
    if shape_of(source) != shape_of(result):
        raise Invalid(f"converts {tensor_of(source)} to {tensor_of(result)}; the shapes differ")


@builder
def convert(value: Fragment, element: ElementType) -> Value:
    """Build an `smem.convert`: the accumulator (or f32 A fragment) `value` to an A fragment of
    `element`.

    Example:
        >>> print(smem.convert(d, bf16).type)
        !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
    """
    return create(ConvertOp, [value], [a_fragment(shape_of(value.type), element)]).result
