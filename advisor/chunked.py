"""The descriptors of an operand whose instructions read 48 bytes along K, in up to two chunks."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout import Arch, LayoutError, Mismatch, Role, TileLayout
from ..layout.elements import WINDOW_BYTES
from ..layout.tcgen05 import LONG_K_BYTES, Chunks, Tcgen05Descriptor, chunked_mma_tiles
from .answer import Answer


@dataclass(frozen=True)
class EncodedChunks(Answer):
    """The descriptors of all instructions.

    Attributes:
        tile: the tile's layout, (M, K) for A and (K, N) for B.
        role: which operand it is.
        chunks: what each instruction reads.
        start: where the tile begins.
        arch: whose instructions read it.
    """

    tile: TileLayout
    role: Role
    chunks: Chunks
    start: int
    arch: Arch

    @property
    def descriptors(self) -> tuple[tuple[Tcgen05Descriptor, ...], ...]:
        """Those of all instructions, indexed [m/n][k]."""
        return tuple(
            tuple(self.chunks.block_descriptor(i, j, self.start) for j in range(len(row)))
            for i, row in enumerate(self.chunks.starts)
        )


def encode_chunks(
    tile: TileLayout, role: Role, start: int = 0, arch: Arch = Arch.SM_103
) -> EncodedChunks:
    """The descriptors of an operand with K steps of 48 bytes, whose tile begins at that address.

    Args:
        tile: (M, K) for A, (K, N) for B.
        role: which operand it is.
        start: where the tile begins, a multiple of the swizzle's pattern.
        arch: whose instructions read it.

    Raises:
        LayoutError: if the instructions cannot read the tile, or it cannot begin there.
    """
    if LONG_K_BYTES not in arch.k_bytes:
        raise LayoutError(f"K is {LONG_K_BYTES} bytes, which only sm_103 has; {arch} reads 32")
    if len(tile.shape) != 2:
        raise LayoutError(f"an operand has rank 2, but the tile has rank {len(tile.shape)}")
    kind = arch.kind_of(tile.element)
    if kind is None:
        raise LayoutError(f"{tile.element} is not an A or B element type of {arch.instructions}")
    chunks = chunked_mma_tiles(tile, role, kind)
    if isinstance(chunks, Mismatch):
        raise LayoutError(chunks.reason)
    if start + tile.size_bytes > WINDOW_BYTES:
        raise LayoutError(
            f"a tile of {tile.size_bytes} bytes at {start:#x} ends behind {WINDOW_BYTES:#x}, where a "
            "descriptor's addresses end"
        )
    made = EncodedChunks(tile, role, chunks, start, arch)
    try:
        assert made.descriptors
    except ValueError as error:
        raise LayoutError(str(error)) from None
    return made
