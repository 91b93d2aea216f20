"""`smem.mma_desc` and `smem.mma_desc_sp`: mma on matrix descriptors."""

from typing import Any

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Type
from ...bindings.mlir import ext, ir
from ...layout import ELEMENTS, Accumulator, Arch, Element, accumulators
from ...layout.canonical import Major
from ...layout.elements import NARROW
from ...layout.instruction import instruction_k
from ...layout.tcgen05 import kind_of
from ...layout.wgmma import sparse_k
from ..types import (
    FragmentType,
    check_fragment,
    fragment_accumulator,
    is_a_fragment,
    is_in_flight,
    is_metadata,
    shape_of,
)
from ..verifier import verifier
from .bases import DescriptorOperand, check_bases, check_reach
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
    """An mma on matrix descriptors. `smem-materialize-descriptors` replaces `smem.mma` with it.

    `a` and `b` are 64-bit matrix descriptors; `a` can be a fragment in registers. `a_steps` and
    `b_steps` hold a number for each MMA tile, K innermost: it is added to the descriptor for this tile,
    in 16-byte units. `a_steps` is empty for an A in registers. If the
    distance between MMA tiles is known at run time only, the operand is a vector<nxi64> of descriptors,
    and `a_bases` or `b_bases` holds for each MMA tile the index of the descriptor that its step is added
    to.

    `a_element` and `b_element` are the ISA's names of the element types. `a_major` and `b_major` are "k"
    or "mn". The unit attributes are those of `smem.mma`.
    """

    a: ext.Operand[DescriptorOperand | FragmentType]
    b: ext.Operand[DescriptorOperand]
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
    """A sparse mma on matrix descriptors. `smem-materialize-descriptors` replaces `smem.mma_sp` with it;
    see `smem.mma_desc`."""

    a: ext.Operand[DescriptorOperand | FragmentType]
    b: ext.Operand[DescriptorOperand]
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


def _verify(op: Op) -> None:
    result, accumulator, metadata = op.result.type, op.accumulator, op.metadata
    check_fragment(result)
    if not is_in_flight(result):
        raise Invalid(f"results in {result}; expected a fragment in flight")
    if accumulator is not None:
        check_added(accumulator.type, result)
        check_single_use(accumulator)
    elements = _multiplicands(op, fragment_accumulator(result))
    check_modifiers(op, elements[0])
    if op.ctas > 1:
        m, n = shape_of(result)
        check_pair(kind_of(*elements), m, n // 2, elements[1])
    k_blocks = _k_blocks(op, elements[0], result)
    if metadata is not None:
        _check_metadata(metadata.type, elements[0], shape_of(result)[0], k_blocks)
    for operand in "ab":
        check_bases(op, operand)


def _multiplicands(op: Op, accumulator: Accumulator) -> tuple[Element, Element]:
    """The element types of A and B, after a check that an instruction has them and the majors."""
    names = [op.a_element.value, op.b_element.value]
    by_name = ELEMENTS | NARROW
    elements = [by_name[name] for name in names if name in by_name]
    if len(elements) < 2 or accumulator not in accumulators(*elements):
        raise Invalid(
            f"multiplies '{names[0]}' by '{names[1]}' into {accumulator}, which no instruction does"
        )
    majors = [major.value for major in Major]
    for name, element in zip(("a_major", "b_major"), elements, strict=True):
        major = getattr(op, name).value
        if major not in majors:
            raise Invalid(f"has {name} = '{major}'; expected {' or '.join(majors)}")
        if not any(arch.swizzles_of(element, Major(major)) for arch in Arch):
            raise Invalid(f"has {name} = '{major}', but {element} is read K-major only; expected k")
    return elements[0], elements[1]


def _k_blocks(op: Op, element: Element, result: Type) -> int:
    """The number of K blocks, which must be the same for A and B."""
    m, n = shape_of(result)
    k_blocks = _steps(op, "b_steps", len(fragment_accumulator(result).pieces(n) or ()))
    a = op.a.type
    if isinstance(a, FragmentType):
        _check_in_registers(op, a, element, m)
        a_blocks = [shape_of(a)[1] // instruction_k(element)]
    else:
        # The instructions of tcgen05 have 128 rows, those of wgmma 64.
        row_tiles = [m // arch.isa.rows(m) for arch in Arch]
        steps = _steps(op, "a_steps", min(row_tiles))
        a_blocks = [steps * min(row_tiles) / tiles for tiles in row_tiles]
    if k_blocks not in a_blocks:
        raise Invalid(f"has steps for {a_blocks[0]:g} and {k_blocks} blocks along k")
    return k_blocks


def _steps(op: Op, name: str, count: int) -> int:
    """The number of steps along K for each of `count` MMA tiles along M or N."""
    steps = op.attributes[name]
    if not isinstance(steps, ir.DenseI64ArrayAttr) or not len(steps) or len(steps) % count:
        raise Invalid(
            f"has {name} = {steps}; expected array<i64: ...> with the same number of steps along k for "
            f"each of {count} MMA tiles"
        )
    check_reach(name, steps)
    return len(steps) // count


def _check_in_registers(op: Op, a: Type, element: Element, m: int) -> None:
    """Check an A in registers, and that it has no attributes of descriptors."""
    check_fragment(a)
    if not is_a_fragment(a) or shape_of(a)[0] != m or operand_element(a) != element:
        raise Invalid(f"reads A from {a}; expected {m} rows of {element} as #smem.a_fragment")
    major, steps = op.a_major.value, op.a_steps
    if major != Major.K.value or not isinstance(steps, ir.DenseI64ArrayAttr) or len(steps):
        raise Invalid(
            f"has a_major = '{major}' and a_steps = {steps} for an A in registers; expected 'k' and "
            "array<i64>"
        )


def _check_metadata(metadata: Type, element: Element, m: int, k_blocks: int) -> None:
    """Check the metadata of a sparse A with `m` rows and `k_blocks` K blocks."""
    check_sparse(element)
    check_fragment(metadata)
    k = sparse_k(element) * k_blocks
    fits = is_metadata(metadata) and operand_element(metadata) == element
    if not fits or shape_of(metadata) != (m, k):
        raise Invalid(f"has {metadata}; expected the metadata of {m}x{k}x{element}")
