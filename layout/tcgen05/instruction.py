"""`tcgen05.mma` of one kind, in all of its shapes (PTX ISA 9.7.16)."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import ClassVar

from ..canonical import Major, Mismatch
from ..elements import Element
from ..instruction import INSTRUCTION_K_BYTES, instruction_k, nearest, widest_first
from ..isa import MmaInstruction
from ..modes import LayoutError
from ..operand import MmaTiles, Role
from ..swizzle import Swizzle
from ..tile import TileLayout
from .chunks import chunked_mma_tiles
from .kinds import Kind
from .operand import tcgen05_mma_tiles
from .shapes import LONG_K_BYTES, legal_m, legal_n


@dataclass(frozen=True)
class Tcgen05Instruction(MmaInstruction):
    """`tcgen05.mma` of one kind.

    Attributes:
        kind: the kind.
        ctas: CTAs that execute the instruction (`.cta_group`), each with its share of the rows of A and
            columns of B.
        long_k: whether it reads 48 bytes along K, as sm_103 can, instead of 32.
    """

    name: ClassVar[str] = "tcgen05"
    kind: Kind
    ctas: int = 1
    long_k: bool = False

    @property
    def k_bytes(self) -> int:
        """See `MmaInstruction.k_bytes`."""
        return LONG_K_BYTES if self.long_k else INSTRUCTION_K_BYTES

    @property
    def legal_m(self) -> tuple[int, ...]:
        """See `MmaInstruction.legal_m`."""
        return tuple(m // self.ctas for m in legal_m(self.kind, self.ctas))

    def legal_n(self, b: Element, major: Major = Major.K) -> tuple[int, ...]:
        """See `MmaInstruction.legal_n`."""
        legal = legal_n(self.kind, b, self.ctas, major is Major.MN, self.k_bytes)
        return tuple(n // self.ctas for n in legal)

    def mma_tiles(
        self, tile: TileLayout, role: Role, rows: int | None = None
    ) -> MmaTiles | Mismatch:
        """See `tcgen05_mma_tiles`; with a K of 48 bytes `chunked_mma_tiles`, which ignores `rows`."""
        if self.long_k:
            return chunked_mma_tiles(tile, role, self.kind, self.ctas)
        return tcgen05_mma_tiles(tile, role, self.kind, self.ctas, rows)

    def check_types(self, a: Element, b: Element) -> None:
        """See `MmaInstruction.check_types`."""
        if not self.kind.multiplies(a, b):
            raise LayoutError(
                f"kind::{self.kind} does not multiply {a} by {b}; it takes "
                f"{', '.join(map(str, self.kind.codes))}"
            )

    def check_mn(self, role: Role, element: Element, extent: int) -> None:
        """See `MmaInstruction.check_mn`."""
        in_each_cta = f" in each of {self.ctas} CTAs" if self.ctas > 1 else ""
        legal = self.legal_m if role is Role.A else self.legal_n(element)
        if widest_first(legal, extent) is None:
            step = legal[0]
            raise LayoutError(
                f"{role.name}: {role.extent_name} is {extent}{in_each_cta}; kind::{self.kind} takes "
                f"multiples of {step}{in_each_cta}, {nearest(extent, step)}"
            )

    def check_k(self, role: Role, element: Element, k: int) -> None:
        """See `MmaInstruction.check_k`; with a K of 48 bytes, tiles are also of whole atoms."""
        if not self.long_k:
            return super().check_k(role, element, k)
        step, atom = instruction_k(element, LONG_K_BYTES), Swizzle.B128.atom_elements(element)
        k_step = lcm(step, atom)
        if k % k_step:
            raise LayoutError(
                f"{role.name}: K is {k}; {self.name} takes {step} elements of {element} at a time, of "
                f"whole atoms of {atom}: expected a multiple of {k_step}, {nearest(k, k_step)}"
            )
        return None
