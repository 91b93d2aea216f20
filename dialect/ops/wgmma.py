"""`smem.wgmma`: an mma whose operands are matrix descriptors; made by `smem-materialize-descriptors`."""

from collections.abc import Sequence
from typing import Any

from ...layout import ELEMENTS, accumulators
from ...layout.canonical import Major
from ...layout.instruction import INSTRUCTION_M
from ..bindings import ext, ir
from ..diagnostics import Invalid, verifier
from ..smem import Smem
from ..types import (
    FragmentType,
    check_fragment,
    fragment_accumulator,
    is_in_flight,
    shape_of,
    tensor_of,
)
from .bases import check_bases

I64 = ir.IntegerType[64]


class WgmmaOp(Smem.Operation, name="wgmma"):
    """What `smem.mma` is once each operand is one descriptor and constant steps.

    `a_steps` and `b_steps` hold, for each instruction block along m/n and then along k, what is added
    to the operand's descriptor, in 16-byte units. Where the distance of blocks is known at run time
    only, further descriptors (i64) follow the other operands, and `a_bases` or `b_bases` says for each
    block which one its step is added to: 0 is `a` or `b`, n the n-th of the further ones.

    `a_element` and `b_element` are the ISA's names of the multiplicands' types; `a_major` and `b_major`
    are "k" or "mn". Modifiers are those of `smem.mma`.
    """

    a: ext.Operand[I64]
    b: ext.Operand[I64]
    a_element: ir.StringAttr
    b_element: ir.StringAttr
    a_major: ir.StringAttr
    b_major: ir.StringAttr
    a_steps: Any
    b_steps: Any
    extras: Sequence[ext.Operand[Any]]
    result: ext.Result[FragmentType]

    @verifier
    def verify_region_invariants(self) -> None:
        result = self.results[0].type
        check_fragment(result)
        if not is_in_flight(result):
            raise Invalid(f"results in {result}; expected a fragment in flight")
        extras = [value.type for value in list(self.operands)[2:]]
        added = [type_ for type_ in extras if isinstance(type_, FragmentType)]
        if len(added) > 1 or any(
            not isinstance(type_, FragmentType) and str(type_) != "i64" for type_ in extras
        ):
            raise Invalid(
                f"takes ({', '.join(map(str, extras))}) beside two descriptors; expected at most one "
                "accumulator, and further descriptors (i64)"
            )
        if added and tensor_of(added[0]) != tensor_of(result):
            raise Invalid("adds to a fragment of another type than its result")
        _check_attributes(self, result)
        check_bases(self)


def _check_attributes(op: Any, result: Any) -> None:
    """Checks that the attributes say how to issue each instruction of a fragment of that type."""
    names = [ir.StringAttr(op.attributes[name]).value for name in ("a_element", "b_element")]
    kinds = [ELEMENTS.get(name) for name in names]
    accumulator = fragment_accumulator(result)
    known = [kind for kind in kinds if kind]
    if len(known) < 2 or accumulator not in accumulators(*known):
        raise Invalid(
            f"multiplies '{names[0]}' by '{names[1]}' into {accumulator}, which is no wgmma"
        )
    majors = [major.value for major in Major]
    for name in ("a_major", "b_major"):
        major = ir.StringAttr(op.attributes[name]).value
        if major not in majors:
            raise Invalid(f"has {name} = '{major}'; expected {' or '.join(majors)}")
    m, n = shape_of(result)
    blocks = {"a_steps": m // INSTRUCTION_M, "b_steps": len(accumulator.pieces(n) or ())}
    k_blocks = set()
    for name, count in blocks.items():
        steps = op.attributes[name]
        if not isinstance(steps, ir.DenseI64ArrayAttr) or not len(steps) or len(steps) % count:
            raise Invalid(
                f"has {name} = {steps}; expected array<i64: ...> with as many steps along k for each "
                f"of {count} instruction blocks"
            )
        k_blocks.add(len(steps) // count)
    if len(k_blocks) > 1:
        raise Invalid(f"has steps for {' and '.join(map(str, sorted(k_blocks)))} blocks along k")
