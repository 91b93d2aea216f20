"""The instruction set `wgmma`; a warpgroup executes `wgmma.mma_async` (PTX ISA 9.7.15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..accumulators import Accumulator
from ..canonical import FORMS, Forms, Major, Mismatch
from ..descriptor import Descriptor
from ..elements import Element
from ..instruction import nearest
from ..isa import MmaInstruction, MmaIsa
from ..modes import LayoutError
from ..operand import MmaTiles, Role
from ..swizzle import WIDEST_FIRST, Swizzle
from ..tile import TileLayout
from .descriptor import WgmmaDescriptor
from .operand import mma_tiles, operand_addresses
from .shapes import INSTRUCTION_M, legal_n, n_rule
from .types import ACCUMULATED, MN_MAJOR, MULTIPLICANDS, TYPE_PAIRS


@dataclass(frozen=True)
class WgmmaInstruction(MmaInstruction):
    """`wgmma.mma_async`, or `wgmma.mma_async.sp`.

    Attributes:
        sparse: whether A is sparse; the instruction then reads twice the K of B.
    """

    name: ClassVar[str] = "wgmma"
    sparse: bool = False

    @property
    def legal_m(self) -> tuple[int, ...]:
        """See `MmaInstruction.legal_m`: 64 rows."""
        return (INSTRUCTION_M,)

    def legal_n(self, b: Element, major: Major = Major.K) -> tuple[int, ...]:
        """See `MmaInstruction.legal_n`; the same for both majornesses."""
        return legal_n(b)

    def mma_tiles(
        self, tile: TileLayout, role: Role, rows: int | None = None
    ) -> MmaTiles | Mismatch:
        """See `mma_tiles`."""
        return mma_tiles(tile, role, self.sparse, rows)

    def check_types(self, a: Element, b: Element) -> None:
        """See `MmaInstruction.check_types`."""
        if (a, b) not in ACCUMULATED:
            fit = " or ".join(str(second) for first, second in TYPE_PAIRS if first == a)
            raise LayoutError(f"wgmma does not multiply {a} by {b}; with an A of {a}, B is {fit}")

    def check_mn(self, role: Role, element: Element, extent: int) -> None:
        """See `MmaInstruction.check_mn`."""
        if role is Role.A and extent % INSTRUCTION_M:
            raise LayoutError(
                f"A: M is {extent}; expected a multiple of {INSTRUCTION_M}, "
                f"{nearest(extent, INSTRUCTION_M)}"
            )
        if role is Role.B and extent % 8:
            raise LayoutError(f"B: N is {extent}; expected {n_rule(extent)}")


@dataclass(frozen=True)
class Wgmma(MmaIsa):
    """The instruction set of sm_90."""

    name: ClassVar[str] = "wgmma"
    descriptor: ClassVar[type[Descriptor]] = WgmmaDescriptor
    swizzles: ClassVar[tuple[Swizzle, ...]] = WIDEST_FIRST
    forms: ClassVar[Forms] = FORMS
    instruction_m: ClassVar[tuple[int, ...]] = (INSTRUCTION_M,)
    has_sparse: ClassVar[bool] = True

    @property
    def elements(self) -> tuple[Element, ...]:
        """See `MmaIsa.elements`."""
        return MULTIPLICANDS

    def accumulators(self, a: Element, b: Element, scaled: bool = False) -> tuple[Accumulator, ...]:
        """See `MmaIsa.accumulators`; wgmma has no block scaling."""
        return () if scaled else ACCUMULATED.get((a, b), ())

    def swizzles_of(self, element: Element, major: Major) -> tuple[Swizzle, ...]:
        """See `MmaIsa.swizzles_of`."""
        return WIDEST_FIRST if major is Major.K or element in MN_MAJOR else ()

    def addresses(
        self, descriptor: int, element: Element, major: Major, rows: int, k_bytes: int
    ) -> np.ndarray:
        """See `operand_addresses`."""
        return operand_addresses(descriptor, element.name, major.value, rows)

    def instruction(
        self, a: Element, b: Element, sparse: bool = False, ctas: int = 1
    ) -> WgmmaInstruction:
        """See `MmaIsa.instruction`."""
        if ctas not in self.ctas:
            raise LayoutError(f"wgmma has no instructions of {ctas} CTAs")
        instruction = WgmmaInstruction(sparse)
        instruction.check_types(a, b)
        return instruction
