"""MMA operations: an instruction family of an architecture with its qualifiers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ..layout import (
    Element,
    Mismatch,
    MmaInstruction,
    MmaTiles,
    PathElement,
    Role,
    TileLayout,
)
from ..layout.arch import Arch
from ..layout.instruction import INSTRUCTION_K_BYTES
from ..layout.tcgen05 import LONG_K_BYTES, Kind, Tcgen05Instruction
from ..layout.uses import Use
from ..layout.wgmma import WgmmaInstruction


class _InstructionMethods(Protocol):
    """Methods that depend on the instruction alone; see `MmaInstruction`."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def instruction(self) -> MmaInstruction:
        """The instruction."""
        ...

    def use(self, role: Role, path: tuple[PathElement, ...]) -> Use:
        """Return the use of a subtile as an operand."""
        return self.instruction.use(self.name, role, path)

    def mma_tiles(self, tile: TileLayout, role: Role) -> MmaTiles | None:
        """Return the MMA tiles of a tile; None if the instructions cannot read it."""
        mma_tiles = self.instruction.mma_tiles(tile, role)
        return None if isinstance(mma_tiles, Mismatch) else mma_tiles

    def check_types(self, a: Element, b: Element) -> None:
        """Check that the types of A and B are compatible.

        Raises:
            LayoutError: if they are not, with what would fit.
        """
        self.instruction.check_types(a, b)


@dataclass(frozen=True)
class WgmmaOp(_InstructionMethods):
    """`wgmma` of one warpgroup."""

    name: ClassVar[str] = "wgmma"
    arch: ClassVar[Arch] = Arch.SM_90
    k_bytes: ClassVar[int] = INSTRUCTION_K_BYTES

    @property
    def instruction(self) -> WgmmaInstruction:
        """The instruction."""
        return WgmmaInstruction()


@dataclass(frozen=True)
class Tcgen05Op(_InstructionMethods):
    """`tcgen05.mma` of one kind; tiles are those of one CTA.

    Attributes:
        arch: the architecture.
        kind: the kind.
        ctas: CTAs of the MMA, each with its half of the rows of A and of the columns of B if there are 2.
        scale: for a block-scaled kind, the type of the scale factors.
        k_bytes: bytes along K of one instruction: 32, or 48 on sm_103.
        block: elements along K per scale factor; None without scale factors.
    """

    name: ClassVar[str] = "tcgen05"
    arch: Arch
    kind: Kind
    ctas: int = 1
    scale: str | None = None
    k_bytes: int = INSTRUCTION_K_BYTES
    block: int | None = None

    @property
    def instruction(self) -> Tcgen05Instruction:
        """The instruction."""
        return Tcgen05Instruction(self.kind, self.ctas, self.k_bytes == LONG_K_BYTES)


MmaOp = WgmmaOp | Tcgen05Op
