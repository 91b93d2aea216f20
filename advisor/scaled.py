"""The scale factors of a block-scaled product: tiles, copies to tensor memory, ids by K step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..layout import Mismatch, Role, TileLayout
from ..layout.tcgen05 import (
    SCALE_ELEMENTS,
    InstructionDescriptor,
    ScaleBlocks,
    scale_blocks,
    scale_layout,
    scale_step,
)
from ..layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS
from .answer import Answer
from .multiplier import Tcgen05


@dataclass(frozen=True)
class FactorTile(Answer):
    """One block's tile of the factors of an operand.

    Attributes:
        role: the operand.
        layout: the tile's, (rows, factors).
    """

    role: Role
    layout: TileLayout

    @cached_property
    def blocks(self) -> ScaleBlocks:
        """What `tcgen05.cp` copies."""
        found = scale_blocks(self.layout)
        assert not isinstance(found, Mismatch)
        return found


@dataclass(frozen=True)
class FactorStep:
    """An instruction along K, and the factors that it reads.

    Attributes:
        k: its first element along K.
        word: the word of four factors that holds those that it reads.
        id: the byte of the word at which they begin.
        descriptors: the instruction's descriptor, for each shape that there is.
    """

    k: int
    word: int
    id: int
    descriptors: tuple[InstructionDescriptor, ...]


@dataclass(frozen=True)
class Factors(Answer):
    """The factors of both operands of a product.

    Attributes:
        by: the block-scaled kind.
        m, n, k: the extents of the product, of all blocks.
        instruction_k: elements along K that an instruction reads.
        instructions: an instruction of each shape that there is, as the first step has it.
    """

    by: Tcgen05
    m: int
    n: int
    k: int
    instruction_k: int
    instructions: tuple[InstructionDescriptor, ...]

    @property
    def size(self) -> int:
        """Elements along K that share a factor."""
        assert self.by.block is not None
        return self.by.block

    @property
    def each(self) -> int:
        """Factors of a row that an instruction reads."""
        return self.instruction_k // self.size

    @cached_property
    def tiles(self) -> tuple[FactorTile, FactorTile]:
        """A's and B's: of A's rows in each block, and of all columns of B in both."""
        assert self.by.scale is not None
        element = SCALE_ELEMENTS[self.by.scale]
        factors = -(-self.k // self.size // BLOCK_FACTORS) * BLOCK_FACTORS
        found = []
        for role, extent in ((Role.A, self.m // self.by.ctas), (Role.B, self.n)):
            rows = -(-extent // BLOCK_ROWS) * BLOCK_ROWS
            found.append(FactorTile(role, scale_layout(element, rows, factors)))
        return found[0], found[1]

    @property
    def columns(self) -> int:
        """Columns of tensor memory that both take in each block."""
        return sum(tile.blocks.columns for tile in self.tiles)

    @property
    def steps(self) -> list[FactorStep]:
        """The instructions along K."""
        found = []
        for step in range(self.k // self.instruction_k):
            word, id_ = scale_step(step, self.each)
            moved = tuple(replace(d, a_scale=id_, b_scale=id_) for d in self.instructions)
            found.append(FactorStep(step * self.instruction_k, word, id_, moved))
        return found
