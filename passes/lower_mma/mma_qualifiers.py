"""What all instructions of an mma have in common: qualifiers, scale-d, and the architecture's support."""

from dataclasses import dataclass
from typing import Any

from ...bindings.irtypes import Value
from ...dialect.ops import DescriptorMma, ScaleDOp
from ...dialect.ops.mma_rules import MODIFIERS
from ...ir.errors import OpError
from ...ir.mma_support import check_mma_support
from ...layout import Accumulator, Arch, Element, Major, element
from ...layout.tcgen05 import LONG_K_BYTES


@dataclass(frozen=True)
class InstructionQualifiers:
    """The properties of an instruction that do not follow from its operands.

    Attributes:
        a, b: the element types.
        a_major, b_major: "k" or "mn".
        accumulator: the type of the accumulator.
        modifiers: the modifiers of `smem.mma` that are set.
    """

    a: Element
    b: Element
    a_major: str
    b_major: str
    accumulator: Accumulator
    modifiers: tuple[str, ...]

    def sign(self, role: str) -> int:
        """Return -1 if the operand "a" or "b" is negated, else 1."""
        return -1 if f"negate_{role}" in self.modifiers else 1


def qualifiers_of(op: DescriptorMma, accumulator: Accumulator) -> InstructionQualifiers:
    """Return the qualifiers of the instructions of an `smem.mma_desc`."""
    (a, a_major), (b, b_major) = operands_of(op)
    attributes = op.attributes
    modifiers = tuple(name for name in MODIFIERS if name in attributes)
    return InstructionQualifiers(a, b, a_major, b_major, accumulator, modifiers)


def operands_of(op: DescriptorMma) -> list[tuple[Element, str]]:
    """Return the element type and the majorness ("k" or "mn") of A and of B of an `smem.mma_desc`."""
    return [
        (element(op.a_element.value), op.a_major.value),
        (element(op.b_element.value), op.b_major.value),
    ]


def split_scale_d(accumulator: Value | None) -> tuple[Any, Any]:
    """Return the accumulator without `smem.scale_d`, and its condition (i1) if it has one."""
    owner = None if accumulator is None else accumulator.owner
    if not isinstance(owner, ScaleDOp):
        return accumulator, None
    return owner.accumulator, owner.keep


def check_operands(op: DescriptorMma, arch: Arch) -> None:
    """Check that an architecture multiplies the operands of an `smem.mma_desc`.

    Raises:
        OpError: if it does not.
    """
    operands = operands_of(op)
    (a, _), (b, _) = operands
    check_mma_support(op, a, b, arch)
    if "a_second_chunks" in op.attributes and not arch.has_absolute_lbo:
        archs = ", ".join(str(able) for able in Arch if able.has_absolute_lbo)
        raise OpError(
            op, f"reads {LONG_K_BYTES} bytes along K, which {arch} does not; {archs} does"
        )
    for letter, (type_, major) in zip("ab", operands, strict=True):
        if not arch.swizzles_of(type_, Major(major)):
            raise OpError(
                op,
                f"has {letter}_major = '{major}', but {arch.instructions} reads {type_} K-major only",
            )
