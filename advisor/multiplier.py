"""What multiplies the operands: an instruction of an architecture, and how their product is described."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ..layout import (
    Canonical,
    Descriptor,
    Element,
    Mismatch,
    MmaInstruction,
    MmaTiles,
    Role,
    Step,
    TileLayout,
)
from ..layout.arch import Arch
from ..layout.instruction import INSTRUCTION_K_BYTES
from ..layout.tcgen05 import LONG_K_BYTES, Kind, Tcgen05Instruction
from ..layout.uses import Use
from ..layout.wgmma import WgmmaInstruction


class _Instruction(Protocol):
    """What is asked of the instruction alone; see `MmaInstruction`."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def instruction(self) -> MmaInstruction:
        """The instruction."""
        ...

    def use(self, role: Role, path: tuple[Step, ...]) -> Use:
        """The use of a part of a tile as an operand."""
        return self.instruction.use(self.name, role, path)

    def mma_tiles(self, tile: TileLayout, role: Role) -> MmaTiles | None:
        """The instructions' shares of a tile; None if they cannot read it."""
        found = self.instruction.mma_tiles(tile, role)
        return None if isinstance(found, Mismatch) else found

    def check_types(self, a: Element, b: Element) -> None:
        """Checks that A and B go together.

        Raises:
            LayoutError: if they do not, with what would fit.
        """
        self.instruction.check_types(a, b)


@dataclass(frozen=True)
class Wgmma(_Instruction):
    """`wgmma` of one warpgroup."""

    name: ClassVar[str] = "wgmma"
    arch: ClassVar[Arch] = Arch.SM_90
    k_bytes: ClassVar[int] = INSTRUCTION_K_BYTES

    @property
    def instruction(self) -> WgmmaInstruction:
        """The instruction."""
        return WgmmaInstruction()


@dataclass(frozen=True)
class Tcgen05(_Instruction):
    """`tcgen05.mma` of one kind; tiles are those of one block.

    Attributes:
        arch: the architecture.
        kind: the kind.
        ctas: blocks that multiply together, each with its share of the rows of A and columns of B.
        scale: for a block-scaled kind, the type of its scale factors.
        k_bytes: bytes along K of one instruction: 32, or 48 on sm_103.
        block: elements along K that share a scale factor; None without them.
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


Multiplier = Wgmma | Tcgen05


def canonical_of(blocks: MmaTiles) -> Canonical:
    """The canonical layout of what instructions read; that of the atoms where rows come in chunks."""
    return blocks.canonical


def first_descriptor(blocks: MmaTiles, address: int = 0) -> Descriptor:
    """The descriptor of the first block of a tile at that byte address."""
    return blocks.descriptor(address)


def check_extents(by: Multiplier, role: Role, element: Element, shape: tuple[int, ...]) -> None:
    """Checks that instructions divide an operand's tile: (M, K) of A, (K, N) of B.

    Raises:
        LayoutError: if they do not; the message names the operand and what would fit.
    """
    by.instruction.check_extents(role, element, shape)
