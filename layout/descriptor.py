"""The 64-bit matrix descriptors of operands in shared memory, for all instruction sets.

PTX ISA 9.7.15.5.1.2.2 (`wgmma`) and 9.7.16.4.1 (`tcgen05`).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar, Self

from .canonical import Canonical, Major
from .elements import UNIT_BYTES, WINDOW_BYTES
from .swizzle import PHASE_BIT, Swizzle

#: First bit and width of each field but the swizzling mode's.
START, LBO, SBO, BASE_OFFSET = (0, 14), (16, 14), (32, 14), (49, 3)

#: The LBO of swizzled K-major layouts, in bytes, which the hardware ignores: the ISA assumes the
#: encoding 1. Other unused strides are 0.
UNUSED_LBO_K_MAJOR = UNIT_BYTES


def field_of(bits: int, field: tuple[int, int]) -> int:
    """Return the value of a field, (first bit, width)."""
    return bits >> field[0] & (1 << field[1]) - 1


def mask_of(*fields: tuple[int, int]) -> int:
    """Return the mask of fields, each (first bit, width)."""
    return sum(((1 << width) - 1) << bit for bit, width in fields)


def encode_address(value: int) -> int:
    """Return matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4."""
    return (value & 0x3FFFF) >> 4


@dataclass(frozen=True)
class Descriptor:
    """A matrix descriptor by its fields; every quantity in bytes.

    Each instruction set has a subclass, with the position and the encoding of the swizzling mode.

    Attributes:
        start: address of the operand's first element in the shared window, below 2^18.
        lbo: leading dimension byte offset. It is ignored for swizzled K-major layouts; the ISA says to
            assume the encoding 1, which is 16 bytes.
        sbo: stride dimension byte offset.
        base_offset: 0 to 7: the phase at which the swizzle pattern starts; meaningless without swizzle.
        swizzle: the swizzling mode.

    Raises:
        ValueError: if a field cannot hold its quantity.

    Example:
        >>> descriptor = WgmmaDescriptor.decode(0x4000004000010000)
        >>> descriptor.lbo, descriptor.sbo, descriptor.swizzle
        (16, 1024, <Swizzle.B128: 3>)
    """

    start: int
    lbo: int
    sbo: int
    base_offset: int = 0
    swizzle: Swizzle = Swizzle.NONE

    #: The name of the instruction set that reads it.
    reader: ClassVar[str]
    #: The field of the swizzling mode, and its value for each mode.
    mode: ClassVar[tuple[int, int]]
    modes: ClassVar[dict[Swizzle, int]]
    #: Fields with a constant value, and that value.
    fixed: ClassVar[dict[tuple[int, int], int]] = {}

    def __post_init__(self) -> None:
        for name in ("start", "lbo", "sbo"):
            value = getattr(self, name)
            if value % UNIT_BYTES or not 0 <= value < WINDOW_BYTES:
                raise ValueError(
                    f"{name} is {value} bytes; a descriptor holds multiples of {UNIT_BYTES} below "
                    f"{WINDOW_BYTES}"
                )
        if not 0 <= self.base_offset <= 7:
            raise ValueError(f"base offset is {self.base_offset}; expected 0 to 7")
        if self.swizzle not in self.modes:
            names = ", ".join(map(str, self.modes))
            raise ValueError(f"{self.reader} has no swizzle {self.swizzle}; expected {names}")

    def encode(self) -> int:
        """Return the 64 bits."""
        return (
            encode_address(self.start) << START[0]
            | encode_address(self.lbo) << LBO[0]
            | encode_address(self.sbo) << SBO[0]
            | self.base_offset << BASE_OFFSET[0]
            | self.modes[self.swizzle] << self.mode[0]
            | sum(value << field[0] for field, value in self.fixed.items())
        )

    @classmethod
    def reserved(cls) -> int:
        """Return the mask of the bits that belong to no field and must be 0."""
        return (1 << 64) - 1 - mask_of(START, LBO, SBO, BASE_OFFSET, cls.mode, *cls.fixed)

    @classmethod
    def decode(cls, bits: int) -> Self:
        """Return the descriptor that 64 bits encode.

        Raises:
            ValueError: if a bit that belongs to no field is set, if a constant field or the swizzling
                mode has another value than expected, or if the number does not fit 64 bits.
        """
        if not 0 <= bits < 1 << 64:
            raise ValueError(f"{bits:#x} is not a 64-bit value")
        if bits & cls.reserved():
            raise ValueError(
                f"{bits:#018x} sets bits {bits & cls.reserved():#018x}, which belong to no field of a "
                f"{cls.reader} descriptor"
            )
        for field, value in cls.fixed.items():
            if field_of(bits, field) != value:
                raise ValueError(
                    f"bits {field[0]} to {sum(field) - 1} of {bits:#018x} are {field_of(bits, field)}; "
                    f"a {cls.reader} descriptor has {value} there"
                )
        swizzles = {field: swizzle for swizzle, field in cls.modes.items()}
        mode = field_of(bits, cls.mode)
        if mode not in swizzles:
            raise ValueError(
                f"the swizzling mode of {bits:#018x} is {mode}; expected "
                + ", ".join(
                    f"{field} ({swizzle})"
                    for field, swizzle in sorted(swizzles.items(), key=itemgetter(0))
                )
            )
        return cls(
            field_of(bits, START) * UNIT_BYTES,
            field_of(bits, LBO) * UNIT_BYTES,
            field_of(bits, SBO) * UNIT_BYTES,
            field_of(bits, BASE_OFFSET),
            swizzles[mode],
        )

    @classmethod
    def of(cls, canonical: Canonical, start: int, base_offset: int = 0) -> Self:
        """Return the descriptor of an operand with that canonical layout at byte address `start`."""
        swizzled_k_major = canonical.major is Major.K and canonical.swizzle is not Swizzle.NONE
        unused = UNUSED_LBO_K_MAJOR if swizzled_k_major else 0
        lbo = unused if canonical.lbo is None else canonical.lbo
        return cls(start, lbo, canonical.sbo or 0, base_offset, canonical.swizzle)

    def __str__(self) -> str:
        return (
            f"{self.encode():#018x}: start {self.start:#x}, LBO {self.lbo} B, SBO {self.sbo} B, "
            f"base offset {self.base_offset}, swizzle {self.swizzle}"
        )


def base_offset(pattern_start: int, swizzle: Swizzle) -> int:
    """Return the base offset of a tile whose swizzle pattern starts at that byte address.

    Args:
        pattern_start: the byte address at which a swizzle pattern of the tile starts.
        swizzle: the swizzling mode.

    Raises:
        ValueError: if no base offset encodes that start: the hardware counts the phase in lines of 128
            bytes.

    Example:
        >>> base_offset(0x2000, Swizzle.B128), base_offset(0x2080, Swizzle.B128)
        (0, 1)
    """
    if swizzle is Swizzle.NONE:
        return 0
    if pattern_start % (1 << PHASE_BIT):
        raise ValueError(
            f"a {swizzle} pattern cannot start at {pattern_start:#x}: the base offset counts lines "
            f"of {1 << PHASE_BIT} bytes"
        )
    return pattern_start >> PHASE_BIT & (swizzle.pattern_bytes >> PHASE_BIT) - 1
