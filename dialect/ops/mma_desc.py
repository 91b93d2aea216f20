"""`smem.mma_desc`: an mma whose operands are matrix descriptors; made by `smem-materialize-descriptors`."""

from typing import Any

from ...layout import ELEMENTS, Accumulator, Arch, Element, accumulators
from ...layout.canonical import Major
from ...layout.elements import NARROW
from ...layout.instruction import instruction_k
from ...layout.tcgen05 import kind_of
from ...layout.wgmma import sparse_k
from ..bindings import ext, ir
from ..diagnostics import Invalid, verifier
from ..types import (
    FragmentType,
    check_fragment,
    fragment_accumulator,
    is_a_fragment,
    is_in_flight,
    is_metadata,
    shape_of,
)
from .bases import Descriptors, check_bases, check_reach
from .mma import DescriptorMma
from .mma_rules import (
    check_added,
    check_modifiers,
    check_pair,
    check_single_use,
    check_sparse,
    operand_element,
)


class MmaDescOp(DescriptorMma, name="mma_desc"):
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


class MmaDescSpOp(DescriptorMma, name="mma_desc_sp"):
    """What `smem.mma_sp` is once its operands are descriptors; see `smem.mma_desc`."""

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
    result, accumulator, metadata = op.result.type, op.accumulator, op.metadata
    check_fragment(result)
    if not is_in_flight(result):
        raise Invalid(f"results in {result}; expected a fragment in flight")
    if accumulator is not None:
        check_added(accumulator.type, result)
        check_single_use(accumulator)
    kinds = _multiplicands(op, fragment_accumulator(result))
    check_modifiers(op, kinds[0])
    if op.ctas > 1:
        m, n = shape_of(result)
        check_pair(kind_of(*kinds), m, n // 2, kinds[1])
    k_blocks = _k_blocks(op, kinds[0], result)
    if metadata is not None:
        _check_metadata(metadata.type, kinds[0], shape_of(result)[0], k_blocks)
    for operand in "ab":
        check_bases(op, operand)


def _multiplicands(op: Any, accumulator: Accumulator) -> tuple[Element, Element]:
    """The element types of A and B, once they and the majors are those of an instruction."""
    names = [op.a_element.value, op.b_element.value]
    known = ELEMENTS | NARROW
    kinds = [known[name] for name in names if name in known]
    if len(kinds) < 2 or accumulator not in accumulators(*kinds):
        raise Invalid(
            f"multiplies '{names[0]}' by '{names[1]}' into {accumulator}, which is no wgmma"
        )
    majors = [major.value for major in Major]
    for name, kind in zip(("a_major", "b_major"), kinds, strict=True):
        major = getattr(op, name).value
        if major not in majors:
            raise Invalid(f"has {name} = '{major}'; expected {' or '.join(majors)}")
        if not any(arch.swizzles_of(kind, Major(major)) for arch in Arch):
            raise Invalid(f"has {name} = '{major}', but {kind} is read K-major only; expected k")
    return kinds[0], kinds[1]


def _k_blocks(op: Any, kind: Element, result: Any) -> int:
    """How many instructions follow each other along K; A and B must agree."""
    m, n = shape_of(result)
    k_blocks = _steps(op, "b_steps", len(fragment_accumulator(result).pieces(n) or ()))
    a = op.a.type
    if isinstance(a, FragmentType):
        _check_in_registers(op, a, kind, m)
        found = [shape_of(a)[1] // instruction_k(kind)]
    else:
        # Instructions of some architectures have the rows of two of others.
        down = [m // arch.isa.rows(m) for arch in Arch]
        least = _steps(op, "a_steps", min(down))
        found = [least * min(down) / each for each in down]
    if k_blocks not in found:
        raise Invalid(f"has steps for {found[0]:g} and {k_blocks} blocks along k")
    return k_blocks


def _steps(op: Any, name: str, count: int) -> int:
    """How many steps along K there are for each of so many blocks of rows or columns."""
    steps = op.attributes[name]
    if not isinstance(steps, ir.DenseI64ArrayAttr) or not len(steps) or len(steps) % count:
        raise Invalid(
            f"has {name} = {steps}; expected array<i64: ...> with as many steps along k for each of "
            f"{count} instruction blocks"
        )
    check_reach(name, steps)
    return len(steps) // count


def _check_in_registers(op: Any, a: Any, kind: Element, m: int) -> None:
    """Checks an A in registers, and that nothing is said of it that only descriptors have."""
    check_fragment(a)
    if not is_a_fragment(a) or shape_of(a)[0] != m or operand_element(a) != kind:
        raise Invalid(f"reads A from {a}; expected {m} rows of {kind} as #smem.a_fragment")
    major, steps = op.a_major.value, op.a_steps
    if major != Major.K.value or not isinstance(steps, ir.DenseI64ArrayAttr) or len(steps):
        raise Invalid(
            f"has a_major = '{major}' and a_steps = {steps} for an A in registers; expected 'k' and "
            "array<i64>"
        )


def _check_metadata(metadata: Any, kind: Element, m: int, k_blocks: int) -> None:
    """Checks that the metadata is that of a sparse A of so many instructions."""
    check_sparse(kind)
    check_fragment(metadata)
    k = sparse_k(kind) * k_blocks
    fits = is_metadata(metadata) and operand_element(metadata) == kind
    if not fits or shape_of(metadata) != (m, k):
        raise Invalid(f"has {metadata}; expected the metadata of {m}x{k}x{kind}")
