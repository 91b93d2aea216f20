"""A tile of scale factors, its blocks, and the descriptors of their copies to tensor memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..layout import Arch, LayoutError, Mismatch, TileLayout
from ..layout.element_map import element_offsets
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES
from ..layout.tcgen05 import ScaleBlocks, scale_blocks, scale_layout
from ..layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS
from ..layout.tile import size_problem
from .answer import Answer
from .chosen_operand import one_stage
from .matched import Nearest, mismatch_reason
from .order import DimensionOrder, assumed_order


@dataclass(frozen=True)
class ScaleTile(Answer):
    """A tile of scale factors, and the blocks that `tcgen05.cp` copies.

    Attributes:
        layout: the tile's layout, (rows, factors), or with stages as the first extent.
        found: the blocks of its first stage, or why it does not consist of blocks.
        arch: the architecture.
        order: the order in which the tile was written; that of `layout` is its `answered`.
    """

    layout: TileLayout
    found: ScaleBlocks | Mismatch
    arch: Arch
    order: DimensionOrder | None = None

    @property
    def stage(self) -> TileLayout:
        """The layout of the first stage; without stages, the tile's layout."""
        return one_stage(self.layout)

    @property
    def stage_steps(self) -> tuple[int, ...]:
        """Offset of the descriptors for each stage, in 16-byte units."""
        if len(self.layout.shape) != 3:
            return (0,)
        return tuple(
            self.layout.stage(index).offset // UNIT_BYTES for index in range(self.layout.shape[0])
        )

    @property
    def nearest(self) -> Nearest | None:
        """For a tile without blocks, the layout of blocks and the number of elements that differ; None if
        no tile of that shape consists of blocks."""
        try:
            blocks = scale_layout(self.layout.element, *self.stage.shape)
        except LayoutError:
            return None
        different = int((element_offsets(blocks) != element_offsets(self.stage)).sum())
        name = f"blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors"
        return Nearest(blocks, name, different, self.stage.shape[0] * self.stage.shape[1])

    def encoded(self, start: int = 0) -> EncodedScales:
        """Return the descriptors of the copies of a tile at a byte address.

        Raises:
            LayoutError: if it does not consist of blocks, or cannot start there.
        """
        if isinstance(self.found, Mismatch):
            hint = self.order and self.order.hint
            raise LayoutError(f"{self.found.reason}; {hint}" if hint else self.found.reason)
        if start + self.layout.size_bytes > WINDOW_BYTES:
            raise LayoutError(
                f"a tile of {self.layout.size_bytes} bytes at {start:#x} ends above {WINDOW_BYTES:#x}, "
                "the limit of descriptor addresses"
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
        start: its byte address.

    Example:
        >>> tile = match_scales(parse_layout("((32,4),4):((16,4),1)", element("ue8m0")))
        >>> encoded = EncodedScales(tile, tile.found, start=1024)
        >>> hex(encoded.constant)
        '0x400800000000'
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
        """The descriptors of the blocks of the first stage, indexed [rows / 128][factors / 4]."""
        return [
            [self.blocks.descriptor(block, word, self.start).encode() for word in range(len(row))]
            for block, row in enumerate(self.blocks.offsets)
        ]

    @property
    def steps(self) -> list[list[int]]:
        """Offset of each descriptor from the first, in 16-byte units."""
        first = self.blocks.offsets[0][0]
        return [[(offset - first) // UNIT_BYTES for offset in row] for row in self.blocks.offsets]


def match_scales(
    tile: TileLayout, arch: Arch = Arch.SM_100, order: DimensionOrder | None = None
) -> ScaleTile:
    """Match a tile of scale factors to the blocks that `tcgen05.cp` copies.

    Args:
        tile: its layout.
        arch: the architecture.
        order: the order of its dimensions; None for (rows, factors), and stages in front.

    Returns:
        Whether the tile is made of such blocks; if not, why.

    Raises:
        LayoutError: if the architecture has no block scaling, or the tile is larger than memory.

    Example:
        >>> blocks = parse_layout("((32,4),4):((16,4),1)", element("ue8m0"))
        >>> print(str(match_scales(blocks)).splitlines()[0])
        matches     blocks of 128x4 factors, 512 bytes
    """
    if not arch.kinds:
        archs_with_kinds = " and ".join(str(candidate) for candidate in Arch if candidate.kinds)
        raise LayoutError(f"{arch} takes no scale factors; {archs_with_kinds} do")
    if problem := size_problem(tile.element, tile.shape):
        raise LayoutError(problem)
    order = order or assumed_order(None, len(tile.shape))
    arranged = tile if order.assumed else order.arrange(tile)
    blocks = _blocks(arranged)
    if isinstance(blocks, Mismatch):
        order = order.compare(lambda candidate: mismatch_reason(_blocks(candidate.arrange(tile))))
    return ScaleTile(arranged, blocks, arch, order)


def _blocks(tile: TileLayout) -> ScaleBlocks | Mismatch:
    """Return the blocks of the first stage of a tile, or why it has none."""
    if problem := tile.overlap_problem():
        return Mismatch(problem)
    if len(tile.shape) == 3:
        starts = (tile.stage(index).offset for index in range(tile.shape[0]))
        misaligned = next((start for start in starts if start % UNIT_BYTES), None)
        if misaligned is not None:
            return Mismatch(
                f"a stage begins {misaligned} bytes into the tile, not at a multiple of 16"
            )
    return scale_blocks(one_stage(tile))
