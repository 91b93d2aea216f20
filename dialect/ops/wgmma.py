"""`smem.wgmma`: an mma whose operands are matrix descriptors; made by `smem-materialize-descriptors`."""

from typing import Any

from ...layout import ELEMENTS, accumulators
from ...layout.canonical import Major
from ...layout.instruction import INSTRUCTION_M
from ...layout.sparsity import sparse_k
from ..bindings import ext, ir
from ..diagnostics import Invalid, verifier
from ..smem import Smem
from ..types import (
    FragmentType,
    check_fragment,
    fragment_accumulator,
    is_in_flight,
    is_metadata,
    is_multiplicand,
    shape_of,
    tensor_of,
)
from .bases import Descriptors, check_bases
from .mma import extras_of, operand_element


class WgmmaOp(Smem.Operation, name="wgmma"):
    """What `smem.mma` is once each operand is one descriptor and constant steps.

    `a_steps` and `b_steps` hold, for each instruction block along m/n and then along k, what is added
    to the operand's descriptor, in 16-byte units; `a_steps` is empty for an A in registers. Where the
    distance of an operand's blocks is known at run time only, it is several descriptors, a vector<nxi64>,
    and `a_bases` or `b_bases` says for each block which of them its step is added to.

    `a_element` and `b_element` are the ISA's names of the multiplicands' types; `a_major` and `b_major`
    are "k" or "mn". Modifiers are those of `smem.mma`.
    """

    a: ext.Operand[Descriptors | FragmentType]
    b: ext.Operand[Descriptors]
    a_element: ir.StringAttr
    b_element: ir.StringAttr
    a_major: ir.StringAttr
    b_major: ir.StringAttr
    a_steps: Any
    b_steps: Any
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        _verify(self)


class WgmmaSpOp(Smem.Operation, name="wgmma_sp"):
    """What `smem.mma_sp` is once its operands are descriptors; see `smem.wgmma`."""

    a: ext.Operand[Descriptors | FragmentType]
    b: ext.Operand[Descriptors]
    metadata: ext.Operand[FragmentType]
    a_element: ir.StringAttr
    b_element: ir.StringAttr
    a_major: ir.StringAttr
    b_major: ir.StringAttr
    a_steps: Any
    b_steps: Any
    result: ext.Result[FragmentType]
    accumulator: ext.Operand[FragmentType] | None = None

    @verifier
    def verify_region_invariants(self) -> None:
        _verify(self)


def _verify(op: Any) -> None:
    result = op.results[0].type
    check_fragment(result)
    if not is_in_flight(result):
        raise Invalid(f"results in {result}; expected a fragment in flight")
    accumulator = extras_of(op).accumulator
    if accumulator is not None and tensor_of(accumulator.type) != tensor_of(result):
        raise Invalid("adds to a fragment of another type than its result")
    _check_attributes(op, result)
    for operand in "ab":
        check_bases(op, operand)


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
    a = op.operands[0].type
    if isinstance(a, FragmentType):
        if not is_multiplicand(a) or shape_of(a)[0] != m or operand_element(a) != known[0]:
            raise Invalid(
                f"reads A from {a}; expected {m} rows of {known[0]} as #smem.multiplicand"
            )
        del blocks["a_steps"]
        k_blocks.add(shape_of(a)[1] // known[0].instruction_k)
    for name, count in blocks.items():
        steps = op.attributes[name]
        if not isinstance(steps, ir.DenseI64ArrayAttr) or not len(steps) or len(steps) % count:
            raise Invalid(
                f"has {name} = {steps}; expected array<i64: ...> with as many steps along k for each "
                f"of {count} instruction blocks"
            )
        k_blocks.add(len(steps) // count)
    metadata = extras_of(op).metadata
    if metadata is not None:
        check_fragment(metadata.type)
        k = sparse_k(known[0]) * max(k_blocks)
        if not is_metadata(metadata.type) or shape_of(metadata.type) != (m, k):
            raise Invalid(f"has {metadata.type}; expected the metadata of {m}x{k}")
    if len(k_blocks) > 1:
        raise Invalid(f"has steps for {' and '.join(map(str, sorted(k_blocks)))} blocks along k")
