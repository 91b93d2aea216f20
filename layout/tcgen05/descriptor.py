"""The 64-bit shared memory descriptor of `tcgen05` (PTX ISA 9.7.16.4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from ..descriptor import Descriptor, mask_of
from ..swizzle import WIDEST_FIRST, Swizzle
from .shapes import LONG_K_BYTES

#: The bit that makes the leading dimension's stride an absolute address (9.7.16.3.1).
LBO_MODE = (52, 1)

#: The swizzling modes, in order of preference: of the two of 128 bytes, the one that wgmma has first.
TCGEN05_WIDEST_FIRST = (Swizzle.B128, Swizzle.B128_ATOM_32B, *WIDEST_FIRST[1:])

#: The field of the version, which is 1 in Blackwell's descriptors.
VERSION = (46, 3)


@dataclass(frozen=True)
class Tcgen05Descriptor(Descriptor):
    """A shared memory descriptor by its fields; every quantity in bytes.

    Attributes:
        start, lbo, sbo, base_offset, swizzle: as for `wgmma`.
        absolute: whether `lbo` is the address of the second chunk of each row, in the shared window
            (9.7.16.3.1.2), for a K of 48 bytes.

    Raises:
        ValueError: if a field cannot hold its quantity, if the absolute mode is not allowed with the
            other fields (9.7.16.3.1.2.1), or if there is a base offset without swizzle: `wgmma` ignores
            it, and for `tcgen05` this was not measured.
    """

    absolute: bool = False

    reader: ClassVar[str] = "tcgen05"
    mode: ClassVar[tuple[int, int]] = (61, 3)
    modes: ClassVar[dict[Swizzle, int]] = {s: s.tcgen05_field for s in TCGEN05_WIDEST_FIRST}
    fixed: ClassVar[dict[tuple[int, int], int]] = {VERSION: 1}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base_offset and self.swizzle is Swizzle.NONE:
            raise ValueError(f"base offset is {self.base_offset}, but without swizzle it must be 0")
        if self.absolute and self.swizzle is not Swizzle.B128:
            raise ValueError(
                f"the leading dimension is absolute with swizzle {self.swizzle}; expected 128B, with "
                "atoms of 16 bytes"
            )
        if self.absolute and self.base_offset:
            raise ValueError(
                f"the leading dimension is absolute with base offset {self.base_offset}; expected 0"
            )

    def chunks(self, k_bytes: int) -> tuple[int, ...]:
        """Return the bytes of each chunk of a row of `k_bytes`: two if the row continues at LBO."""
        room = self.swizzle.width - self.start % self.swizzle.width
        return (room, k_bytes - room) if self.absolute and room < k_bytes else (k_bytes,)

    def row_problem(self, k_bytes: int) -> str | None:
        """Return why no instruction reads that number of bytes of each row by this descriptor, or None.

        Args:
            k_bytes: bytes along K of one instruction.
        """
        width = self.swizzle.width
        if self.absolute and k_bytes != LONG_K_BYTES:
            return (
                f"LBO is an address (bit 52), which is for a K of {LONG_K_BYTES} bytes; the instruction "
                f"reads {k_bytes}"
            )
        within, swizzled = self.start % width, self.swizzle is not Swizzle.NONE
        long = k_bytes == LONG_K_BYTES and swizzled and not self.absolute
        if long and within + k_bytes > width:
            return (
                f"the instruction reads {k_bytes} bytes from byte {within} of lines of {width}: "
                "past their end, it needs an LBO that is an address (bit 52)"
            )
        *_, last = chunks = self.chunks(k_bytes)
        if len(chunks) > 1 and self.lbo % width + last > width:
            return (
                f"LBO is the address {self.lbo:#x}, {self.lbo % width} bytes into a line of {width}, but "
                f"{last} bytes of each row are read from there: both chunks must be within lines (PTX "
                "ISA 9.7.16.3.1.2)"
            )
        return None

    def encode(self) -> int:
        """Return the 64 bits."""
        return super().encode() | self.absolute << LBO_MODE[0]

    @classmethod
    def reserved(cls) -> int:
        """Return the mask of the bits that belong to no field and must be 0."""
        return super().reserved() & ~mask_of(LBO_MODE)

    @classmethod
    def decode(cls, bits: int) -> Self:
        """Return the descriptor that 64 bits encode; see `Descriptor.decode`."""
        relative = super().decode(bits & ~mask_of(LBO_MODE))
        return replace(relative, absolute=bits & mask_of(LBO_MODE) != 0)

    def __str__(self) -> str:
        return super().__str__() + (", LBO absolute" if self.absolute else "")
