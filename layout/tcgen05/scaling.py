"""Block scaling of a matrix product: its kind, its scale factors, and what its instructions read."""

from __future__ import annotations

from dataclasses import dataclass

from ..canonical import Mismatch
from ..elements import Element
from ..instruction import FLOAT_N, cut_columns, instruction_k
from ..isa import evaluate_operand
from ..operand import MmaTiles, Role
from ..path import PathElement, follow
from ..tile import TileLayout
from ..uses import LayoutEvaluation, refusing
from .chunks import Chunks, chunked_mma_tiles
from .kinds import Kind
from .operand import tcgen05_mma_tiles
from .scales import BLOCK_ROWS
from .shapes import LONG_K_BYTES


@dataclass(frozen=True)
class BlockScaling:
    """The block scaling of a matrix product.

    Attributes:
        kind: the instructions' kind.
        a, b: the element types of A and B.
        scale: the type of the scale factors, "ue8m0" or "ue4m3".
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
        """K of an instruction that reads 48 bytes of each row, in elements; None if the kind has none."""
        return instruction_k(self.a, LONG_K_BYTES) if self.a.bits == 4 else None

    def reads_long(self, k: int, n: int) -> bool:
        """Whether instructions that read 48 bytes can compute a matrix product of that K and N (of all
        CTAs). N must be that of one instruction: its factors may continue in the columns of the next
        word."""
        return (
            bool(self.long_k) and k % self.long_k == 0 and len(cut_columns(FLOAT_N, n) or ()) == 1
        )

    def mma_tiles(self, tile: TileLayout, role: Role, ctas: int = 1) -> MmaTiles | Mismatch:
        """Return the MMA tiles of instructions that read 32 bytes of each row, in one of `ctas` CTAs."""
        return tcgen05_mma_tiles(tile, role, self.kind, ctas)

    def chunks(self, tile: TileLayout, role: Role, ctas: int = 1) -> Chunks | Mismatch:
        """Return the MMA tiles of instructions that read 48 bytes of each row, in one of `ctas` CTAs."""
        return chunked_mma_tiles(tile, role, self.kind, ctas)

    def operand_problem(self, tile: TileLayout, role: Role, ctas: int) -> str | None:
        """Return why no instruction reads a tile of one of `ctas` CTAs, or None."""
        mma_tiles = self.mma_tiles(tile, role, ctas)
        if isinstance(mma_tiles, MmaTiles):
            return None
        if self.long_k and isinstance(self.chunks(tile, role, ctas), Chunks):
            return None
        return mma_tiles.reason


@dataclass(frozen=True)
class ScaledUse:
    """A tile, or a subtile of it, as an operand of a block-scaled mma.

    Attributes:
        what: the use in words.
        role: A or B.
        scaling: the block scaling.
        long: whether instructions may read 48 bytes along K.
        ctas: CTAs that execute each instruction.
        path: the path to the subtile.
    """

    what: str
    role: Role
    scaling: BlockScaling
    long: bool
    ctas: int
    path: tuple[PathElement, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        """Evaluate a layout of the tile."""
        subtile = follow(layout, self.path).layout
        if self.long:
            chunks = self.scaling.chunks(subtile, self.role, self.ctas)
            if isinstance(chunks, Chunks):
                return evaluate_operand(chunks)
        return evaluate_operand(self.scaling.mma_tiles(subtile, self.role, self.ctas))


def scaled_rows(n: int) -> int:
    """Return the rows of the tile of factors of N columns of B."""
    return -(-n // BLOCK_ROWS) * BLOCK_ROWS
