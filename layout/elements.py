"""Element types of tiles, as the PTX ISA names them, and how shared memory stores them.

Which instructions multiply a type, and how they read it, is said by the instruction sets.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Bytes of one row of a core matrix: the unit in which descriptors count (16-byte units).
UNIT_BYTES = 16

#: Bytes of shared memory that the addresses of a descriptor reach: they have 18 bits (PTX ISA
#: 9.7.15.5.1.2.2). No tile is larger.
WINDOW_BYTES = 1 << 18


@dataclass(frozen=True)
class Element:
    """An element type as it is stored in shared memory.

    Attributes:
        name: the ISA's name, without the dot.
        bits: bits of one element in shared memory (tf32 occupies 32).
        packed_bits: of a type that is padded in shared memory, bits of one element within its 16 bytes
            and in global memory; 0 for others.
    """

    name: str
    bits: int
    packed_bits: int = 0

    @property
    def unit(self) -> int:
        """Elements in 16 bytes: the ISA's T = 128 / bits."""
        return UNIT_BYTES * 8 // self.bits

    @property
    def padding(self) -> int:
        """Bytes at the end of each 16 that hold no element."""
        return UNIT_BYTES - self.packed_bits * self.unit // 8 if self.packed_bits else 0

    def bytes(self, count: int) -> int:
        """Bytes that `count` elements occupy.

        Raises:
            ValueError: if they do not fill whole bytes (b1 in other counts than multiples of 8).
        """
        if count * self.bits % 8:
            raise ValueError(f"{count} elements of {self.name} do not fill whole bytes")
        return count * self.bits // 8

    def __str__(self) -> str:
        return self.name


F16 = Element("f16", 16)
BF16 = Element("bf16", 16)
TF32 = Element("tf32", 32)
E4M3 = Element("e4m3", 8)
E5M2 = Element("e5m2", 8)
S8 = Element("s8", 8)
U8 = Element("u8", 8)
B1 = Element("b1", 1)

#: Sums of 8-bit products on their way to or from memory; no multiplicand.
S32 = Element("s32", 32)

#: 4-bit floats two to a byte, as `tcgen05` multiplies them with scaled blocks.
E2M1 = Element("e2m1", 4)

#: Narrow floats beside 8-bit ones: 16 of them take 16 bytes, of which the last 8 or 4 are padding (the
#: ISA's `.b4x16_p64` and `.b6x16_p32`). So they lie as 8-bit types do, in units of 16 bytes.
E2M1_P64 = Element("e2m1_p64", 8, packed_bits=4)
E2M3_P32 = Element("e2m3_p32", 8, packed_bits=6)
E3M2_P32 = Element("e3m2_p32", 8, packed_bits=6)

#: The narrow floats, by name.
NARROW = {e.name: e for e in (E2M1, E2M1_P64, E2M3_P32, E3M2_P32)}

#: A power of two, 2^(byte - 127): the scale factor of a block, no multiplicand. Factors of ue4m3 are e4m3
#: whose sign is 0.
UE8M0 = Element("ue8m0", 8)

ELEMENTS = {e.name: e for e in (F16, BF16, TF32, E4M3, E5M2, S8, U8, B1, S32)}


def element(name: str) -> Element:
    """The element type of that name.

    Raises:
        ValueError: if there is none; the message lists those there are.
    """
    known = ELEMENTS | NARROW | {UE8M0.name: UE8M0}
    if name not in known:
        raise ValueError(f"unknown element type '{name}'; expected one of {', '.join(known)}")
    return known[name]
