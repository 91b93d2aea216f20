"""The cells of a picture: runs of contiguous elements, and their colours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from ...layout.banks import BANK_BYTES, BANKS
from ...layout.elements import UNIT_BYTES, WINDOW_BYTES
from ...layout.fragment_access import has_contiguous_runs
from ...layout.modes import LayoutError
from ...layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS, ScaleBlocks, scale_blocks
from ...layout.tensor_box import tensor_box
from ...layout.tile import TileLayout

#: Bytes of one line of memory in a picture: one word of each of the 32 banks.
LINE_BYTES = BANKS * BANK_BYTES

#: Number of colours; it is the period after which a line's swizzle repeats.
COLOURS = 8


class View(Enum):
    """The axes of a picture."""

    MEMORY = "memory"
    """Lines of 128 bytes of memory; a cell's label is its element."""
    LOGICAL = "logical"
    """The tile's rows and columns; a cell's label is its byte address."""


class Color(Enum):
    """The property that a cell's colour shows."""

    ROW = "row"
    K = "k"
    BANK = "bank"
    INSTRUCTION = "instruction"
    """The K block of the cell."""


class Outline(Enum):
    """The subtiles that thick lines enclose."""

    ATOM = "atom"
    """Swizzle atoms: 8 lines of the swizzle's width; without swizzle, core matrices; for scale factors,
    their blocks."""
    BOX = "box"
    """Boxes of the tensor map that fills the tile."""


@dataclass(frozen=True)
class TileCells:
    """A tile (rows, columns) cut into cells.

    Attributes:
        layout: the tile's layout.
        extent: (rows, columns) of a cell, in elements.
        start: byte address of the tile.
        base_offset: the base offset of the swizzle pattern, as in a descriptor.
        k_dim: the dimension along K, if the tile is an operand.
        k_extent: elements along K that an instruction reads.
    """

    layout: TileLayout
    extent: tuple[int, int]
    start: int = 0
    base_offset: int = 0
    k_dim: int = 1
    k_extent: int = 1

    @property
    def size(self) -> int:
        """Bytes of a cell."""
        return self.extent[0] * self.extent[1] * self.layout.element.bits // 8

    @property
    def grid(self) -> tuple[int, int]:
        """The number of cells along each dimension; the last ones may be partial."""
        rows, columns = self.layout.shape
        return -(-rows // self.extent[0]), -(-columns // self.extent[1])

    @cached_property
    def first(self) -> tuple[np.ndarray, np.ndarray]:
        """(row, column) of the first element of each cell: int64[cells] each, row by row."""
        row, column = np.indices(self.grid, np.int64)
        return row.ravel() * self.extent[0], column.ravel() * self.extent[1]

    @cached_property
    def address(self) -> np.ndarray:
        """The byte address of each cell: int64[cells]."""
        return self.address_at(*self.first)

    def address_at(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the byte addresses of elements."""
        linear = self.layout.linear_at(row, column) * self.layout.element.bits // 8
        return self.layout.swizzle.apply(self.start + linear, self.base_offset)

    @property
    def holds_factors(self) -> bool:
        """Whether the tile consists of blocks of scale factors."""
        return isinstance(scale_blocks(self.layout), ScaleBlocks)

    def shade(self, color: Color) -> np.ndarray:
        """Return the index of each cell's colour: int64[cells]."""
        if color is Color.BANK:
            return self.address % LINE_BYTES * COLOURS // LINE_BYTES
        if color is Color.INSTRUCTION:
            return self.first[self.k_dim] // self.k_extent % COLOURS
        dim = 0 if color is Color.ROW else 1
        return self.first[dim] // self.extent[dim] % COLOURS

    def shade_names(self, color: Color) -> list[str]:
        """Return the meaning of each colour."""
        if color is Color.BANK:
            banks = BANKS // COLOURS
            return [f"{i * banks}-{(i + 1) * banks - 1}" for i in range(COLOURS)]
        return [str(i) for i in range(COLOURS)]

    def shade_title(self, color: Color) -> str:
        """Return the title of the colours' legend."""
        if color is Color.BANK:
            return "bank"
        if color is Color.INSTRUCTION:
            return f"K block mod {COLOURS}"
        name, extent = ("row", "column")[color is Color.K], self.extent[color is Color.K]
        return f"{name}{f' / {extent}' if extent > 1 else ''} mod {COLOURS}"

    def outline_extent(self, outline: Outline) -> tuple[int, int]:
        """Return (rows, columns) of an outlined subtile.

        Raises:
            LayoutError: if no box fills the tile.
        """
        if outline is Outline.BOX:
            return tensor_box(self.layout).shape
        if self.holds_factors:
            return BLOCK_ROWS, BLOCK_FACTORS
        swizzle = self.layout.swizzle
        line = swizzle.atom_elements(self.layout.element)
        return (line, swizzle.lines) if self.layout.contiguous_dim == 0 else (swizzle.lines, line)


def cells_of(
    layout: TileLayout, elements: bool = False, start: int = 0, base_offset: int = 0
) -> TileCells:
    """Return a tile as cells.

    A cell is a run of 16 contiguous bytes, or 4 contiguous scale factors. If the tile has no such runs,
    it is one element (one byte for types of less than 8 bits).

    Args:
        layout: the layout; of stages, the first is used; a run-time origin is taken as 0.
        elements: whether a cell is one element even where 16 bytes are contiguous.
        start: byte address of the tile.
        base_offset: the base offset of the swizzle pattern, 0 to 7.

    Raises:
        LayoutError: if the tile is too large, the elements of a byte are not contiguous, or the tile
            cannot start at that address.
    """
    if start % UNIT_BYTES or not 0 <= start < WINDOW_BYTES:
        raise LayoutError(
            f"a tile cannot begin at byte {start}; expected a multiple of {UNIT_BYTES} below "
            f"{WINDOW_BYTES}"
        )
    if not 0 <= base_offset < COLOURS:
        raise LayoutError(f"base offset is {base_offset}; expected 0 to {COLOURS - 1}")
    while len(layout.shape) > 2:
        layout = layout.stage(0).layout
    if len(layout.shape) != 2:
        raise LayoutError(
            f"a picture shows rows and columns; the layout has rank {len(layout.shape)}"
        )
    if not layout.has_static_origin:
        layout = layout.with_origin()
    per_byte = max(1, 8 // layout.element.bits)
    span = max(layout.shape[0] * layout.shape[1] // per_byte, layout.size_bytes)
    if span > WINDOW_BYTES:
        raise LayoutError(
            f"{layout} spans {span} bytes of {layout.element}; a picture shows at most the "
            f"{WINDOW_BYTES} bytes that descriptors address"
        )
    dim = 1 if layout.contiguous_dim is None else layout.contiguous_dim
    count = per_byte if elements else layout.element.unit
    if not elements and isinstance(scale_blocks(layout), ScaleBlocks):
        dim, count = 1, BLOCK_FACTORS
    while not has_contiguous_runs(layout, dim, count):
        if count == per_byte:
            raise LayoutError(
                f"the elements of {layout.element} in a byte are not contiguous along a dimension; "
                f"expected runs of {per_byte} or more"
            )
        count = per_byte
    return TileCells(layout, (count, 1) if dim == 0 else (1, count), start, base_offset)
