"""An instruction descriptor of tcgen05 read back: its fields in words, and whether it can be."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..layout import Arch, LayoutError
from ..layout.tcgen05 import InstructionDescriptor, Kind
from .answer import Answer
from .fields import Field, instruction_fields
from .suspicions import Suspicion


@dataclass(frozen=True)
class DecodedInstruction(Answer):
    """What an instruction descriptor says.

    Attributes:
        bits: the 32 bits.
        descriptor: what they mean.
        suspicions: why no instruction can be that.
        arch: whose instruction it is.
    """

    bits: int
    descriptor: InstructionDescriptor
    suspicions: tuple[Suspicion, ...]
    arch: Arch

    @property
    def ctas(self) -> int:
        """Blocks that multiply together, as M tells: 256 rows are of two, others are taken for one's."""
        return 2 if self.descriptor.m == 256 else 1

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that a descriptor of its kind has."""
        return instruction_fields(self.bits, self.descriptor)


def decode_instruction(bits: int, kind: Kind, arch: Arch = Arch.SM_100) -> DecodedInstruction:
    """What an instruction descriptor says, and whether an instruction can be that.

    Args:
        bits: the descriptor.
        kind: the instruction's kind, which the bits do not say.
        arch: whose instruction it is.

    Raises:
        LayoutError: if the architecture has no such descriptors, bits that belong to no field are set,
            or a field holds what means nothing.
    """
    if not arch.kinds:
        others = " and ".join(str(other) for other in Arch if other.kinds)
        raise LayoutError(f"{arch} has no instruction descriptors; {others} have")
    try:
        descriptor = InstructionDescriptor.decode(bits, kind)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    made = DecodedInstruction(bits, descriptor, (), arch)
    return replace(made, suspicions=tuple(_wrong(made)))


def _wrong(made: DecodedInstruction) -> list[Suspicion]:
    """Why no instruction of the architecture can be that."""
    d, arch, found = made.descriptor, made.arch, []
    if d.kind not in arch.kinds:
        found.append(Suspicion("kind", f"{arch} has no kind::{d.kind}; sm_100 has"))
    if d.k_bytes not in arch.k_bytes:
        found.append(
            Suspicion("k-bytes", f"K is {d.k_bytes} bytes (bit 31), which only sm_103 has")
        )
    try:
        d.check(made.ctas)
    except ValueError as error:
        found.append(Suspicion("instruction", str(error)))
    return found
