"""The 64-bit matrix descriptor of `wgmma` (PTX ISA 9.7.15.5.1.2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from .elements import UNIT_BYTES
from .swizzle import PHASE_BIT, Swizzle

#: First bit and width of each field.
START, LBO, SBO, BASE_OFFSET, MODE = (0, 14), (16, 14), (32, 14), (49, 3), (62, 2)

#: Bits that belong to no field and must be 0 on sm_90.
RESERVED = (
    (1 << 64)
    - 1
    - sum(((1 << width) - 1) << bit for bit, width in (START, LBO, SBO, BASE_OFFSET, MODE))
)

_SWIZZLES = {s.wgmma_field: s for s in Swizzle}


def encode_address(value: int) -> int:
    """matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4."""
    return (value & 0x3FFFF) >> 4


@dataclass(frozen=True)
class Descriptor:
    """A matrix descriptor by its fields; every quantity in bytes.

    Attributes:
        start: address of the operand's first element in the shared window, below 2^18.
        lbo: leading dimension byte offset. For swizzled K-major layouts it is ignored; the ISA says
            to assume the encoding 1, which is 16 bytes.
        sbo: stride dimension byte offset.
        base_offset: 0 to 7: the phase at which the swizzle pattern starts.
        swizzle: the swizzling mode.

    Raises:
        ValueError: if a quantity is not what its field can hold.
    """

    start: int
    lbo: int
    sbo: int
    base_offset: int = 0
    swizzle: Swizzle = Swizzle.NONE

    def __post_init__(self) -> None:
        for name in ("start", "lbo", "sbo"):
            value = getattr(self, name)
            if value % UNIT_BYTES or not 0 <= value < 1 << 18:
                raise ValueError(
                    f"{name} is {value} bytes; a descriptor holds multiples of {UNIT_BYTES} below "
                    f"{1 << 18}"
                )
        if not 0 <= self.base_offset <= 7:
            raise ValueError(f"base offset is {self.base_offset}; expected 0 to 7")
        if self.base_offset and self.swizzle is Swizzle.NONE:
            raise ValueError(f"base offset is {self.base_offset}, but without swizzle it must be 0")

    def encode(self) -> int:
        """The 64 bits."""
        return (
            encode_address(self.start) << START[0]
            | encode_address(self.lbo) << LBO[0]
            | encode_address(self.sbo) << SBO[0]
            | self.base_offset << BASE_OFFSET[0]
            | self.swizzle.wgmma_field << MODE[0]
        )

    @classmethod
    def decode(cls, bits: int) -> Descriptor:
        """The descriptor that those 64 bits are.

        Raises:
            ValueError: if bits that belong to no field are set, or it does not fit 64 bits.
        """
        if not 0 <= bits < 1 << 64:
            raise ValueError(f"{bits:#x} is not a 64-bit value")
        if bits & RESERVED:
            raise ValueError(
                f"{bits:#018x} sets bits {bits & RESERVED:#018x}, which belong to no field of a "
                "wgmma descriptor"
            )

        def field(at: tuple[int, int]) -> int:
            return bits >> at[0] & (1 << at[1]) - 1

        return cls(
            field(START) * UNIT_BYTES,
            field(LBO) * UNIT_BYTES,
            field(SBO) * UNIT_BYTES,
            field(BASE_OFFSET),
            _SWIZZLES[field(MODE)],
        )

    def __str__(self) -> str:
        return (
            f"{self.encode():#018x}: start {self.start:#x}, LBO {self.lbo} B, SBO {self.sbo} B, "
            f"base offset {self.base_offset}, swizzle {self.swizzle}"
        )


def base_offset(pattern_start: int, swizzle: Swizzle) -> int:
    """The base offset of a tile whose swizzle pattern starts at that byte address.

    Raises:
        ValueError: if the pattern starts where no base offset can say it: the hardware counts the
            phase in lines of 128 bytes.
    """
    if swizzle is Swizzle.NONE:
        return 0
    if pattern_start % (1 << PHASE_BIT):
        raise ValueError(
            f"a {swizzle} pattern cannot start at {pattern_start:#x}: the base offset counts lines "
            f"of {1 << PHASE_BIT} bytes"
        )
    return pattern_start >> PHASE_BIT & (swizzle.pattern_bytes >> PHASE_BIT) - 1
