"""The bit fields of descriptors and their encoded values."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout import Arch
from ..layout.descriptor import BASE_OFFSET, LBO, SBO, START, field_of
from ..layout.tcgen05 import LBO_MODE, VERSION, InstructionDescriptor


@dataclass(frozen=True)
class Field:
    """A field of a descriptor.

    Attributes:
        name: the ISA's name; for an instruction descriptor, the attribute of `InstructionDescriptor`.
        bit, width: the first bit and the number of bits.
        encoded: the field's value in the descriptor.
    """

    name: str
    bit: int
    width: int
    encoded: int

    @property
    def last_bit(self) -> int:
        """The last bit."""
        return self.bit + self.width - 1


def matrix_fields(bits: int, arch: Arch) -> tuple[Field, ...]:
    """Return the fields of a matrix descriptor, lowest bits first."""
    places = {"start address": START, "LBO": LBO, "SBO": SBO, "base offset": BASE_OFFSET}
    places["swizzle"] = arch.descriptor.mode
    if VERSION in arch.descriptor.fixed:
        places |= {"version": VERSION, "LBO mode": LBO_MODE}
    fields = [Field(name, *place, field_of(bits, place)) for name, place in places.items()]
    return tuple(sorted(fields, key=lambda field: field.bit))


def instruction_fields(bits: int, descriptor: InstructionDescriptor) -> tuple[Field, ...]:
    """Return the fields of an instruction descriptor; they depend on its kind.

    Args:
        bits: the 32 bits.
        descriptor: the decoded descriptor.
    """
    places = descriptor.fields(descriptor.kind)
    return tuple(Field(name, *place, field_of(bits, place)) for name, place in places.items())
