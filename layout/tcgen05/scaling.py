"""How a product is scaled: its kind, its factors, and what its instructions read."""

from __future__ import annotations

from dataclasses import dataclass

from ..canonical import Mismatch
from ..elements import Element
from ..instruction import FLOAT_N, cut_columns, instruction_k
from ..isa import evaluate_operand
from ..operand import MmaTiles, Role
from ..path import Step, follow
from ..tile import TileLayout
from ..uses import Evaluation, refusing
from .chunks import Chunks, chunked_mma_tiles
from .kinds import Kind
from .operand import tcgen05_mma_tiles
from .scales import BLOCK_ROWS
from .shapes import LONG_K_BYTES


@dataclass(frozen=True)
class Scaling:
    """A product whose blocks along K are scaled.

    Attributes:
        kind: the instructions' kind.
        a, b: the types of A and B.
        scale: the type of the factors, "ue8m0" or "ue4m3".
        block: elements along K that share a factor.
    """

    kind: Kind
    a: Element
    b: Element
    scale: str
    block: int

    @property
    def k(self) -> int:
        """K of an instruction that reads 32 bytes of each row, in elements."""
        return instruction_k(self.a)

    @property
    def long_k(self) -> int | None:
        """K of one that reads 48 bytes, in elements; None if the kind has none."""
        return instruction_k(self.a, LONG_K_BYTES) if self.a.bits == 4 else None

    def reads_long(self, k: int, n: int) -> bool:
        """Whether a product of that K and N, of all blocks, can be of instructions that read 48 bytes.
        Factors of one may run into the next word's columns, so that all of B's are those of one
        instruction."""
        return (
            bool(self.long_k) and k % self.long_k == 0 and len(cut_columns(FLOAT_N, n) or ()) == 1
        )

    def mma_tiles(self, tile: TileLayout, role: Role, ctas: int = 1) -> MmaTiles | Mismatch:
        """What each instruction that reads 32 bytes of a row reads in one of `ctas` blocks."""
        return tcgen05_mma_tiles(tile, role, self.kind, ctas)

    def chunks(self, tile: TileLayout, role: Role, ctas: int = 1) -> Chunks | Mismatch:
        """What each instruction that reads 48 bytes of a row reads in one of `ctas` blocks."""
        return chunked_mma_tiles(tile, role, self.kind, ctas)

    def unreadable(self, tile: TileLayout, role: Role, ctas: int) -> str | None:
        """Why no instruction reads a tile in one of `ctas` blocks; None if some do."""
        found = self.mma_tiles(tile, role, ctas)
        if isinstance(found, MmaTiles):
            return None
        if self.long_k and isinstance(self.chunks(tile, role, ctas), Chunks):
            return None
        return found.reason


@dataclass(frozen=True)
class ScaledUse:
    """A tile, or a part of it, as an operand whose blocks are scaled.

    Attributes:
        what: the use in words.
        role: which operand it is.
        scaling: how the product is scaled.
        long: whether instructions may read 48 bytes along K.
        ctas: blocks that multiply together.
        path: the steps to the part.
    """

    what: str
    role: Role
    scaling: Scaling
    long: bool
    ctas: int
    path: tuple[Step, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> Evaluation:
        """Whether the tile, having that layout, can be used so."""
        subtile = follow(layout, self.path).layout
        if self.long:
            found = self.scaling.chunks(subtile, self.role, self.ctas)
            if isinstance(found, Chunks):
                return evaluate_operand(found)
        return evaluate_operand(self.scaling.mma_tiles(subtile, self.role, self.ctas))


def scaled_rows(n: int) -> int:
    """Rows of the tile of factors of N columns of B."""
    return -(-n // BLOCK_ROWS) * BLOCK_ROWS
