"""A tile of scale factors: whether it consists of blocks, and the descriptors of their copies."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..layout import Arch, LayoutError, Mismatch, TileLayout
from ..layout.element_map import places_of
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES
from ..layout.tcgen05 import ScaleBlocks, scale_blocks, scale_layout
from ..layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS
from ..layout.tile import size_problem
from .answer import Answer
from .chosen_operand import one_stage
from .matched import Nearest


@dataclass(frozen=True)
class ScaleTile(Answer):
    """What a tile of scale factors is to `tcgen05.cp`.

    Attributes:
        layout: the tile's, (rows, factors), or with stages in front.
        found: the blocks of its first stage, or why it has none.
        arch: whose instructions scale by them.
    """

    layout: TileLayout
    found: ScaleBlocks | Mismatch
    arch: Arch

    @property
    def stage(self) -> TileLayout:
        """The first stage; the tile, if it has no stages."""
        return one_stage(self.layout)

    @property
    def stage_steps(self) -> tuple[int, ...]:
        """What is added to the descriptors for each stage, in 16-byte units."""
        if len(self.layout.shape) != 3:
            return (0,)
        return tuple(
            self.layout.stage(index).offset // UNIT_BYTES for index in range(self.layout.shape[0])
        )

    @property
    def nearest(self) -> Nearest | None:
        """If it has none: the layout of blocks, and how far the tile is from it; None if no tile of that
        shape has one."""
        try:
            other = scale_layout(self.layout.element, *self.stage.shape)
        except LayoutError:
            return None
        moved = int((places_of(other) != places_of(self.stage)).sum())
        name = f"blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors"
        return Nearest(other, name, moved, self.stage.shape[0] * self.stage.shape[1])

    def encoded(self, start: int = 0) -> EncodedScales:
        """The descriptors of the copies of a tile at that byte address.

        Raises:
            LayoutError: if it has no blocks, or cannot begin there.
        """
        if isinstance(self.found, Mismatch):
            raise LayoutError(self.found.reason)
        if start + self.layout.size_bytes > WINDOW_BYTES:
            raise LayoutError(
                f"a tile of {self.layout.size_bytes} bytes at {start:#x} ends behind {WINDOW_BYTES:#x}, "
                "where a descriptor's addresses end"
            )
        if start % UNIT_BYTES:
            raise LayoutError(
                f"a tile begins at a multiple of {UNIT_BYTES} bytes, not at {start:#x}"
            )
        return EncodedScales(self, self.found, start)


@dataclass(frozen=True)
class EncodedScales(Answer):
    """The descriptors by which `tcgen05.cp` copies a tile of scale factors.

    Attributes:
        tile: the tile.
        blocks: its blocks.
        start: where it begins.
    """

    tile: ScaleTile
    blocks: ScaleBlocks
    start: int

    @property
    def constant(self) -> int:
        """The descriptor of the first block, without its address."""
        return replace(self.blocks.descriptor(0, 0), start=0).encode()

    @property
    def descriptors(self) -> list[list[int]]:
        """Those of all blocks of the first stage, indexed [rows / 128][factors / 4]."""
        return [
            [self.blocks.descriptor(block, word, self.start).encode() for word in range(len(row))]
            for block, row in enumerate(self.blocks.offsets)
        ]

    @property
    def steps(self) -> list[list[int]]:
        """What is added to the first for each, in 16-byte units."""
        first = self.blocks.offsets[0][0]
        return [[(offset - first) // UNIT_BYTES for offset in row] for row in self.blocks.offsets]


def match_scales(tile: TileLayout, arch: Arch = Arch.SM_100) -> ScaleTile:
    """What a tile of scale factors, (rows, factors), or with stages in front, is to `tcgen05.cp`.

    Raises:
        LayoutError: if the architecture scales nothing, or no memory holds the tile.
    """
    if not arch.kinds:
        others = " and ".join(str(other) for other in Arch if other.kinds)
        raise LayoutError(f"{arch} takes no scale factors; {others} do")
    if problem := size_problem(tile.element, tile.shape):
        raise LayoutError(problem)
    found = scale_blocks(one_stage(tile))
    if len(tile.shape) == 3:
        starts = (tile.stage(index).offset for index in range(tile.shape[0]))
        odd = next((start for start in starts if start % UNIT_BYTES), None)
        if odd is not None:
            found = Mismatch(f"a stage begins {odd} bytes into the tile, not at a multiple of 16")
    return ScaleTile(tile, found, arch)
