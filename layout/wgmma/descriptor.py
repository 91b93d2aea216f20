"""The 64-bit matrix descriptor of `wgmma` (PTX ISA 9.7.15.5.1.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..descriptor import Descriptor
from ..swizzle import WIDEST_FIRST, Swizzle


@dataclass(frozen=True)
class WgmmaDescriptor(Descriptor):
    """A matrix descriptor by its fields; every quantity in bytes. See `Descriptor`.

    Example:
        >>> hex(WgmmaDescriptor(start=1024, lbo=16, sbo=1024, swizzle=Swizzle.B128).encode())
        '0x4000004000010040'
    """

    reader: ClassVar[str] = "wgmma"
    mode: ClassVar[tuple[int, int]] = (62, 2)
    modes: ClassVar[dict[Swizzle, int]] = {s: s.wgmma_field for s in WIDEST_FIRST}
