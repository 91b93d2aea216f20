"""The descriptors of an operand whose instructions read 48 bytes along K, in up to two chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..layout import Arch, LayoutError, Mismatch, Role, TileLayout
from ..layout.tcgen05 import LONG_K_BYTES, Chunks, Tcgen05Descriptor, chunked_blocks
from .columns import columns, html_table
from .sentences import html_list
from .suspicions import WINDOW_END

_HEADS = ("rows", "k", "begins at", "rest at", "descriptor")


@dataclass(frozen=True)
class EncodedChunks:
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
            tuple(self.chunks.descriptor(i, j, self.start) for j in range(len(row)))
            for i, row in enumerate(self.chunks.starts)
        )

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        step = LONG_K_BYTES * 8 // self.tile.element.bits
        rows: list[tuple[str, ...]] = []
        at = 0
        for piece, row in zip(self.chunks.pieces, self.descriptors, strict=True):
            for index, d in enumerate(row):
                rest = f"{d.lbo:#x}" if d.absolute else ""
                k = f"{index * step}-{(index + 1) * step - 1}"
                place = (f"{at}-{at + piece - 1}", k, f"{d.start:#x}", rest)
                rows.append((*place, f"{d.encode():#018x}"))
            at += piece
        return rows

    @property
    def _note(self) -> str:
        return f"{self.chunks}; SBO {self.chunks.sbo} bytes, swizzle {self.tile.swizzle}"

    def __str__(self) -> str:
        return f"{self._note}\n\n{columns(_HEADS, self._rows)}"

    def data(self) -> dict[str, Any]:
        """The answer for JSON; all quantities in bytes, tables indexed [m/n][k]."""
        descriptors = self.descriptors
        return {
            "arch": str(self.arch),
            "k_bytes": LONG_K_BYTES,
            "role": self.role.value,
            "element": str(self.tile.element),
            "layout": str(self.tile),
            "sbo": self.chunks.sbo,
            "rows": list(self.chunks.pieces),
            "starts": [[d.start for d in row] for row in descriptors],
            "seconds": [[d.lbo if d.absolute else None for d in row] for row in descriptors],
            "descriptors": [[f"{d.encode():#018x}" for d in row] for row in descriptors],
        }

    def _repr_html_(self) -> str:
        return html_list([self._note]) + html_table(_HEADS, self._rows)


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
        raise LayoutError(f"{tile.element} is no multiplicand of {arch.instructions}")
    chunks = chunked_blocks(tile, role, kind)
    if isinstance(chunks, Mismatch):
        raise LayoutError(chunks.reason)
    if start + tile.size_bytes > WINDOW_END:
        raise LayoutError(
            f"a tile of {tile.size_bytes} bytes at {start:#x} ends behind {WINDOW_END:#x}, where a "
            "descriptor's addresses end"
        )
    made = EncodedChunks(tile, role, chunks, start, arch)
    try:
        assert made.descriptors
    except ValueError as error:
        raise LayoutError(str(error)) from None
    return made
