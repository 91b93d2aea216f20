"""The fields of descriptors: which bits they are, and what these hold."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout import Arch
from ..layout.descriptor import BASE_OFFSET, LBO, SBO, START, field_of
from ..layout.tcgen05 import LBO_MODE, VERSION, InstructionDescriptor


@dataclass(frozen=True)
class Field:
    """A field of a descriptor.

    Attributes:
        name: as the ISA names it; of an instruction descriptor, the attribute of
            `InstructionDescriptor` that it becomes.
        bit, width: its first bit, and how many it has.
        encoded: the bits.
    """

    name: str
    bit: int
    width: int
    encoded: int

    @property
    def last_bit(self) -> int:
        """Its last bit."""
        return self.bit + self.width - 1


def matrix_fields(bits: int, arch: Arch) -> tuple[Field, ...]:
    """The fields of a matrix descriptor of an architecture, lowest bits first."""
    places = {"start address": START, "LBO": LBO, "SBO": SBO, "base offset": BASE_OFFSET}
    places["swizzle"] = arch.descriptor.mode
    if VERSION in arch.descriptor.fixed:
        places |= {"version": VERSION, "LBO mode": LBO_MODE}
    found = [Field(name, *place, field_of(bits, place)) for name, place in places.items()]
    return tuple(sorted(found, key=lambda field: field.bit))


def instruction_fields(bits: int, descriptor: InstructionDescriptor) -> tuple[Field, ...]:
    """The fields that an instruction descriptor of its kind has.

    Args:
        bits: the 32 bits.
        descriptor: what they mean.
    """
    places = descriptor.fields(descriptor.kind)
    return tuple(Field(name, *place, field_of(bits, place)) for name, place in places.items())
