"""The descriptors of an operand with K blocks of 48 bytes, which are read in one or two chunks."""

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
        role: A or B.
        chunks: the MMA tiles with their chunks.
        start: byte address of the tile.
        arch: the architecture.
    """

    tile: TileLayout
    role: Role
    chunks: Chunks
    start: int
    arch: Arch

    @property
    def descriptors(self) -> tuple[tuple[Tcgen05Descriptor, ...], ...]:
        """The descriptors of all instructions, indexed [m/n][k]."""
        return tuple(
            tuple(self.chunks.tile_descriptor(i, j, self.start) for j in range(len(row)))
            for i, row in enumerate(self.chunks.starts)
        )


def encode_chunks(
    tile: TileLayout, role: Role, start: int = 0, arch: Arch = Arch.SM_103
) -> EncodedChunks:
    """Return the descriptors of an operand with K blocks of 48 bytes.

    Args:
        tile: (M, K) for A, (K, N) for B.
        role: A or B.
        start: byte address of the tile, a multiple of the swizzle pattern.
        arch: the architecture.

    Raises:
        LayoutError: if the instructions cannot read the tile, or it cannot start at that address.

    Example:
        >>> tile = tile_of_atoms(element("e2m1"), (128, 768), 1, Swizzle.B128)
        >>> chunks = encode_chunks(tile, Role.A)
        >>> print(str(chunks).splitlines()[0])
        K-major, 8 K blocks of 48 bytes, in two chunks: 2, 5; SBO 1024 bytes, swizzle 128B
    """
    if LONG_K_BYTES not in arch.k_bytes:
        raise LayoutError(f"K is {LONG_K_BYTES} bytes, which only sm_103 has; {arch} reads 32")
    if len(tile.shape) != 2:
        raise LayoutError(f"an operand has rank 2, but the tile has rank {len(tile.shape)}")
    kind = arch.kind_of(tile.element)
    if kind is None:
        raise LayoutError(f"{tile.element} is not an A or B element type of {arch.instructions}")
    if problem := tile.overlap_problem():
        raise LayoutError(problem)
    chunks = chunked_mma_tiles(tile, role, kind)
    if isinstance(chunks, Mismatch):
        raise LayoutError(chunks.reason)
    if start + tile.size_bytes > WINDOW_BYTES:
        raise LayoutError(
            f"a tile of {tile.size_bytes} bytes at {start:#x} ends above {WINDOW_BYTES:#x}, the limit of "
            "descriptor addresses"
        )
    encoded = EncodedChunks(tile, role, chunks, start, arch)
    try:
        _ = encoded.descriptors  # they tell whether the tile can start there
    except ValueError as error:
        raise LayoutError(str(error)) from None
    return encoded
