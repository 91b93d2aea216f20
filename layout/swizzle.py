"""The swizzling modes of shared memory, and every number derived from a mode."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

import numpy as np

from .elements import UNIT_BYTES, Element

Address = TypeVar("Address", int, np.ndarray)

#: Lowest address bit of the phase of the XOR: all modes count lines of 128 bytes.
PHASE_BIT = 7


class Swizzle(Enum):
    """A swizzling mode; its value is the ordinal of its `CUtensorMapSwizzle`.

    In a mode of width W (32, 64 or 128 bytes), the 16-byte unit with index `u` within its W bytes is
    stored at index `u ^ (line % (W / 16))`, where `line` is the address divided by 128: CuTe's
    `Swizzle<B, 4, 3>`, where B is the value. The last mode, which only tcgen05 has, permutes units of 32
    bytes: `Swizzle<2, 5, 2>`.

    Example:
        >>> Swizzle.of_width(128).cute, Swizzle.B128.pattern_bytes
        ('Swizzle<3,4,3>', 1024)
    """

    NONE = 0
    B32 = 1
    B64 = 2
    B128 = 3
    B128_ATOM_32B = 4

    @classmethod
    def of_width(cls, width: int) -> Swizzle:
        """Return the mode that swizzles within `width` bytes; 0 and 16 mean no swizzle.

        Raises:
            ValueError: if no mode has that width.
        """
        widths = {0: cls.NONE, 16: cls.NONE, 32: cls.B32, 64: cls.B64, 128: cls.B128}
        if width not in widths:
            raise ValueError(f"no swizzle is {width} bytes wide; expected 0, 32, 64 or 128")
        return widths[width]

    @classmethod
    def of_cute(cls, bits: int, base: int, shift: int) -> Swizzle:
        """Return the mode that CuTe writes `Swizzle<bits, base, shift>`.

        Raises:
            ValueError: if shared memory has no such mode.
        """
        text = f"Swizzle<{bits},{base},{shift}>"
        mode = next((mode for mode in cls if mode.cute == text), None)
        if mode is None:
            raise ValueError(
                f"{text} is no swizzling mode of shared memory; expected "
                + ", ".join(mode.cute for mode in cls)
            )
        return mode

    @property
    def unit_bytes(self) -> int:
        """Bytes of the units that the mode permutes: 16 or 32."""
        return 2 * UNIT_BYTES if self is Swizzle.B128_ATOM_32B else UNIT_BYTES

    @property
    def width(self) -> int:
        """Bytes along the contiguous dimension of one atom (16 without swizzle: a core matrix's row)."""
        return UNIT_BYTES << min(self.value, Swizzle.B128.value)

    @property
    def lines(self) -> int:
        """Lines of `width` bytes of one atom: 8, as in a core matrix (PTX ISA, table 38), or 4 if units
        of 32 bytes are permuted (as in CuTe)."""
        return 8 * UNIT_BYTES // self.unit_bytes

    @property
    def pattern_bytes(self) -> int:
        """Bytes after which the pattern repeats, and the alignment of its start for base offset 0
        (PTX ISA 9.7.15.5.1.2.2); without swizzle 16, the alignment of every operand."""
        return UNIT_BYTES if self is Swizzle.NONE else 8 * self.width

    @property
    def atom_bytes(self) -> int:
        """Bytes of one swizzle atom."""
        return self.lines * self.width

    @property
    def wgmma_field(self) -> int:
        """Bits 62-63 of a `wgmma` descriptor (PTX ISA 9.7.15.5.1.2.2); only for `WIDEST_FIRST`."""
        return (0, 3, 2, 1)[self.value]

    @property
    def tcgen05_field(self) -> int:
        """Bits 61-63 of a `tcgen05` descriptor (PTX ISA 9.7.16.4.1, encoded as in CuTe)."""
        return (0, 6, 4, 2, 1)[self.value]

    @property
    def tensor_map(self) -> str:
        """The name of the mode's `CUtensorMapSwizzle`; its ordinal is this enum's value."""
        return f"CU_TENSOR_MAP_SWIZZLE_{self}".upper()

    @property
    def cute(self) -> str:
        """The mode in CuTe's notation."""
        if self is Swizzle.B128_ATOM_32B:
            return "Swizzle<2,5,2>"
        return f"Swizzle<{self.value},4,3>"

    def atom_elements(self, element: Element) -> int:
        """Return the elements along the contiguous dimension of one atom."""
        return self.width * 8 // element.bits

    def apply(self, address: Address, base_offset: int = 0) -> Address:
        """Return the byte address at which the byte of linear `address` is stored.

        The phase is taken from the absolute address minus the descriptor's base offset (measured on an
        H200).
        """
        units = self.width // self.unit_bytes
        phase = ((address >> PHASE_BIT) - base_offset) & (units - 1)
        return address ^ (phase * self.unit_bytes)

    def __str__(self) -> str:
        atoms = "_ATOM_32B" if self is Swizzle.B128_ATOM_32B else ""
        return "none" if self is Swizzle.NONE else f"{self.width}B{atoms}"


#: The modes that permute units of 16 bytes, widest first: the order of preference of the choice.
WIDEST_FIRST = (Swizzle.B128, Swizzle.B64, Swizzle.B32, Swizzle.NONE)
