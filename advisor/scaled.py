"""The scale factors of a block-scaled MMA: tiles, copies to tensor memory, IDs of each K block."""

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
from .mma_op import Tcgen05Op


@dataclass(frozen=True)
class ScaleFactorTile(Answer):
    """One CTA's tile of an operand's scale factors.

    Attributes:
        role: the operand.
        layout: the tile's layout, (rows, factors).
    """

    role: Role
    layout: TileLayout

    @cached_property
    def blocks(self) -> ScaleBlocks:
        """The blocks that `tcgen05.cp` copies."""
        blocks = scale_blocks(self.layout)
        assert not isinstance(blocks, Mismatch)
        return blocks


@dataclass(frozen=True)
class ScaleFactorKBlock:
    """A K block, and the scale factors that its instruction reads.

    Attributes:
        k: its first element along K.
        word: the word of four factors that contains them.
        id: the scale factor ID: the first byte in the word.
        descriptors: the instruction descriptor, for each shape of instructions.
    """

    k: int
    word: int
    id: int
    descriptors: tuple[InstructionDescriptor, ...]


@dataclass(frozen=True)
class ScaleFactors(Answer):
    """The scale factors of both operands of an MMA.

    Attributes:
        op: the block-scaled MMA operation.
        m, n, k: the extents of the MMA, over all CTAs.
        instruction_k: elements along K that an instruction reads.
        instructions: the instruction descriptor of each shape, for the first K block.
    """

    op: Tcgen05Op
    m: int
    n: int
    k: int
    instruction_k: int
    instructions: tuple[InstructionDescriptor, ...]

    @property
    def vector_size(self) -> int:
        """Elements along K per scale factor."""
        assert self.op.block is not None
        return self.op.block

    @property
    def per_row(self) -> int:
        """Scale factors of a row that an instruction reads."""
        return self.instruction_k // self.vector_size

    @cached_property
    def tiles(self) -> tuple[ScaleFactorTile, ScaleFactorTile]:
        """The tiles of A and B in each CTA: for the CTA's rows of A, and for all columns of B."""
        assert self.op.scale is not None
        element = SCALE_ELEMENTS[self.op.scale]
        factors = -(-self.k // self.vector_size // BLOCK_FACTORS) * BLOCK_FACTORS
        tiles = []
        for role, extent in ((Role.A, self.m // self.op.ctas), (Role.B, self.n)):
            rows = -(-extent // BLOCK_ROWS) * BLOCK_ROWS
            tiles.append(ScaleFactorTile(role, scale_layout(element, rows, factors)))
        return tiles[0], tiles[1]

    @property
    def columns(self) -> int:
        """Columns of tensor memory for both tiles in each CTA."""
        return sum(tile.blocks.columns for tile in self.tiles)

    @property
    def k_blocks(self) -> list[ScaleFactorKBlock]:
        """The K blocks, in order."""
        k_blocks = []
        for k_block in range(self.k // self.instruction_k):
            word, id_ = scale_step(k_block, self.per_row)
            descriptors = tuple(replace(d, a_scale=id_, b_scale=id_) for d in self.instructions)
            k_blocks.append(ScaleFactorKBlock(k_block * self.instruction_k, word, id_, descriptors))
        return k_blocks
