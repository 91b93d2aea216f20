"""Element types of tiles, as the PTX ISA names them, and how shared memory stores them.

The instruction sets state which types they multiply and how they read them.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Bytes of one row of a core matrix: the unit of addresses and strides in descriptors (16-byte units).
UNIT_BYTES = 16

#: Bytes of shared memory that a descriptor can address with its 18 bits (PTX ISA 9.7.15.5.1.2.2). No
#: tile is larger.
WINDOW_BYTES = 1 << 18


@dataclass(frozen=True)
class Element:
    """An element type as it is stored in shared memory.

    Attributes:
        name: the ISA's name, without the dot.
        bits: bits of one element in shared memory (tf32 occupies 32).
        packed_bits: bits of one element in global memory, and within the 16 bytes that are padded in
            shared memory; 0 for a type that is not padded.
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
        """Bytes at the end of each 16-byte unit that hold no element."""
        return UNIT_BYTES - self.packed_bits * self.unit // 8 if self.packed_bits else 0

    def bytes(self, count: int) -> int:
        """Return the bytes that `count` elements occupy.

        Raises:
            ValueError: if they do not fill whole bytes (b1 in counts that are not multiples of 8).
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

#: The accumulator of integer types, in memory; not a type of A or B.
S32 = Element("s32", 32)

#: 4-bit floats, two to a byte: an A or B type of block-scaled `tcgen05` instructions.
E2M1 = Element("e2m1", 4)

#: Narrow floats that are multiplied with 8-bit ones: 16 of them take 16 bytes, of which the last 8 or 4
#: are padding (the ISA's `.b4x16_p64` and `.b6x16_p32`). In units of 16 bytes, their layouts are those of
#: 8-bit types.
E2M1_P64 = Element("e2m1_p64", 8, packed_bits=4)
E2M3_P32 = Element("e2m3_p32", 8, packed_bits=6)
E3M2_P32 = Element("e3m2_p32", 8, packed_bits=6)

#: The narrow floats, by name.
NARROW = {e.name: e for e in (E2M1, E2M1_P64, E2M3_P32, E3M2_P32)}

#: A power of two, 2^(byte - 127): a scale factor, not a type of A or B. Factors of ue4m3 are e4m3 with
#: sign 0.
UE8M0 = Element("ue8m0", 8)

ELEMENTS = {e.name: e for e in (F16, BF16, TF32, E4M3, E5M2, S8, U8, B1, S32)}


def element(name: str) -> Element:
    """Return the element type of that name.

    Raises:
        ValueError: if there is none; the message lists the names.

    Example:
        >>> element("bf16").bits
        16
    """
    known = ELEMENTS | NARROW | {UE8M0.name: UE8M0}
    if name not in known:
        raise ValueError(f"unknown element type '{name}'; expected one of {', '.join(known)}")
    return known[name]
