"""A decoded instruction descriptor of tcgen05: its fields, and whether it is legal."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..layout import Arch, LayoutError
from ..layout.tcgen05 import InstructionDescriptor, Kind
from .answer import Answer
from .fields import Field, instruction_fields
from .suspicions import Suspicion


@dataclass(frozen=True)
class DecodedInstruction(Answer):
    """A decoded instruction descriptor.

    Attributes:
        bits: the 32 bits.
        descriptor: the decoded fields.
        suspicions: why no instruction of the architecture has this descriptor.
        arch: the architecture.
    """

    bits: int
    descriptor: InstructionDescriptor
    suspicions: tuple[Suspicion, ...]
    arch: Arch

    @property
    def ctas(self) -> int:
        """CTAs of the MMA, inferred from M: 256 rows need a CTA pair, fewer rows `.cta_group::1`."""
        return 2 if self.descriptor.m == 256 else 1

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that a descriptor of this kind has."""
        return instruction_fields(self.bits, self.descriptor)


def decode_instruction(bits: int, kind: Kind, arch: Arch = Arch.SM_100) -> DecodedInstruction:
    """Decode an instruction descriptor, and check that it is legal.

    Args:
        bits: the descriptor.
        kind: the instruction's `.kind`, which is not encoded in the bits.
        arch: the architecture.

    Returns:
        The fields.

    Raises:
        LayoutError: if the architecture has no instruction descriptors, reserved bits are set, or a field
            has an undefined value.

    Example:
        >>> from mlir_smem.layout.tcgen05 import KINDS
        >>> decoded = decode_instruction(0x8200490, KINDS["f16"])
        >>> print(str(decoded).splitlines()[0])
        0x08200490, kind::f16: 128 x 128 f32 from bf16 and bf16
    """
    if not arch.kinds:
        archs_with_kinds = " and ".join(str(candidate) for candidate in Arch if candidate.kinds)
        raise LayoutError(f"{arch} has no instruction descriptors; {archs_with_kinds} have")
    try:
        descriptor = InstructionDescriptor.decode(bits, kind)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    decoded = DecodedInstruction(bits, descriptor, (), arch)
    return replace(decoded, suspicions=tuple(_find_suspicions(decoded)))


def _find_suspicions(decoded: DecodedInstruction) -> list[Suspicion]:
    """Return why no instruction of the architecture has this descriptor."""
    d, arch, suspicions = decoded.descriptor, decoded.arch, []
    if d.kind not in arch.kinds:
        suspicions.append(Suspicion("kind", f"{arch} has no kind::{d.kind}; sm_100 has"))
    if d.k_bytes not in arch.k_bytes:
        suspicions.append(
            Suspicion("k-bytes", f"K is {d.k_bytes} bytes (bit 31), which only sm_103 has")
        )
    try:
        d.check(decoded.ctas)
    except ValueError as error:
        suspicions.append(Suspicion("instruction", str(error)))
    return suspicions
