"""The swizzling modes of shared memory, and every number that follows from one of them."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

import numpy as np

from .elements import UNIT_BYTES, Element

Address = TypeVar("Address", int, np.ndarray)

#: Address bit at which the XOR takes its phase: all modes count lines of 128 bytes.
PHASE_BIT = 7


class Swizzle(Enum):
    """A swizzling mode: CuTe's `Swizzle<B, 4, 3>`, valued by B.

    In a mode of width W (32, 64 or 128 bytes), the 16-byte unit with index `u` within its W bytes is
    stored at index `u ^ (line % (W / 16))`, where `line` is the address divided by 128.
    """

    NONE = 0
    B32 = 1
    B64 = 2
    B128 = 3

    @classmethod
    def of_width(cls, width: int) -> Swizzle:
        """The mode that swizzles within `width` bytes; 0 or 16 mean no swizzle.

        Raises:
            ValueError: if no mode has that width.
        """
        widths = {0: cls.NONE, 16: cls.NONE, 32: cls.B32, 64: cls.B64, 128: cls.B128}
        if width not in widths:
            raise ValueError(f"no swizzle is {width} bytes wide; expected 0, 32, 64 or 128")
        return widths[width]

    @property
    def width(self) -> int:
        """Bytes along the contiguous dimension of one atom (16 without swizzle: a core matrix's row)."""
        return UNIT_BYTES << self.value

    @property
    def pattern_bytes(self) -> int:
        """Bytes after which the pattern repeats, and to which its start is aligned for base offset 0
        (PTX ISA 9.7.15.5.1.2.2); without swizzle, the 16 bytes that every operand is aligned to."""
        return UNIT_BYTES if self is Swizzle.NONE else 8 * self.width

    @property
    def atom_bytes(self) -> int:
        """Bytes of one swizzle atom: 8 rows of `width` bytes."""
        return 8 * self.width

    @property
    def wgmma_field(self) -> int:
        """Bits 62-63 of a `wgmma` descriptor (PTX ISA 9.7.15.5.1.2.2)."""
        return (0, 3, 2, 1)[self.value]

    @property
    def tcgen05_field(self) -> int:
        """Bits 61-63 of a `tcgen05` descriptor (PTX ISA 9.7.16.4.1, as CuTe encodes it)."""
        return (0, 6, 4, 2)[self.value]

    @property
    def tensor_map(self) -> str:
        """The `CUtensorMapSwizzle` that writes this mode; its ordinal is this enum's value."""
        return "CU_TENSOR_MAP_SWIZZLE_" + ("NONE" if self is Swizzle.NONE else f"{self.width}B")

    @property
    def cute(self) -> str:
        """CuTe's spelling."""
        return f"Swizzle<{self.value},4,3>"

    def atom_elements(self, element: Element) -> int:
        """Elements along the contiguous dimension of one atom."""
        return self.width * 8 // element.bits

    def apply(self, address: Address, base_offset: int = 0) -> Address:
        """The byte address at which the byte of linear `address` is stored (measured on an H200:
        the phase comes from the absolute address, less the descriptor's base offset)."""
        phase = ((address >> PHASE_BIT) - base_offset) & (self.width // UNIT_BYTES - 1)
        return address ^ (phase << 4)

    def __str__(self) -> str:
        return "none" if self is Swizzle.NONE else f"{self.width}B"


#: Widest first: the order in which a layout is chosen.
WIDEST_FIRST = (Swizzle.B128, Swizzle.B64, Swizzle.B32, Swizzle.NONE)
