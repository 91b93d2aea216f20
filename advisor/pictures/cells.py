"""The cells of a picture: runs of elements that lie together, and what each of them is coloured by."""

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

#: Bytes of one line of memory in a picture: those that 32 banks hold.
LINE_BYTES = BANKS * BANK_BYTES

#: Colours that cells have; their number is the period after which a line's swizzle repeats.
COLOURS = 8


class View(Enum):
    """What the places of a picture's cells are."""

    MEMORY = "memory"
    """Lines of 128 bytes of memory; each cell says which element lies there."""
    LOGICAL = "logical"
    """The tile's rows and columns; each cell says at which byte it lies."""


class Color(Enum):
    """What the colour of a cell tells."""

    ROW = "row"
    K = "k"
    BANK = "bank"
    INSTRUCTION = "instruction"
    """Which of the instructions along K reads it."""


class Outline(Enum):
    """What thick lines go round."""

    ATOM = "atom"
    """Swizzle atoms: 8 lines of the swizzle's width; without swizzle, core matrices; of scale factors,
    their blocks."""
    BOX = "box"
    """Boxes of the tensor map that fills the tile."""


@dataclass(frozen=True)
class Cells:
    """A tile (rows, columns) cut into cells.

    Attributes:
        layout: the tile's layout.
        extent: (rows, columns) of a cell, in elements.
        start: the byte address at which the tile begins.
        base_offset: the phase of the swizzle's pattern, as a descriptor says it.
        k_dim: the dimension that is summed over, if the tile is an operand.
        k_step: elements along it that an instruction reads.
    """

    layout: TileLayout
    extent: tuple[int, int]
    start: int = 0
    base_offset: int = 0
    k_dim: int = 1
    k_step: int = 1

    @property
    def size(self) -> int:
        """Bytes of a cell."""
        return self.extent[0] * self.extent[1] * self.layout.element.bits // 8

    @property
    def grid(self) -> tuple[int, int]:
        """How many cells there are along each dimension; the last ones may be cut."""
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
        """The byte address of elements."""
        linear = self.layout.linear_at(row, column) * self.layout.element.bits // 8
        return self.layout.swizzle.apply(self.start + linear, self.base_offset)

    @property
    def holds_factors(self) -> bool:
        """Whether the tile consists of blocks of scale factors."""
        return isinstance(scale_blocks(self.layout), ScaleBlocks)

    def shade(self, color: Color) -> np.ndarray:
        """Which of the colours each cell has: int64[cells]."""
        if color is Color.BANK:
            return self.address % LINE_BYTES * COLOURS // LINE_BYTES
        if color is Color.INSTRUCTION:
            return self.first[self.k_dim] // self.k_step % COLOURS
        dim = 0 if color is Color.ROW else 1
        return self.first[dim] // self.extent[dim] % COLOURS

    def shade_names(self, color: Color) -> list[str]:
        """What each colour stands for."""
        if color is Color.BANK:
            banks = BANKS // COLOURS
            return [f"{i * banks}-{(i + 1) * banks - 1}" for i in range(COLOURS)]
        return [str(i) for i in range(COLOURS)]

    def shade_title(self, color: Color) -> str:
        """What the names of the colours count."""
        if color is Color.BANK:
            return "bank"
        if color is Color.INSTRUCTION:
            return f"instruction along k mod {COLOURS}"
        name, extent = ("row", "column")[color is Color.K], self.extent[color is Color.K]
        return f"{name}{f' / {extent}' if extent > 1 else ''} mod {COLOURS}"

    def block(self, outline: Outline) -> tuple[int, int]:
        """(rows, columns) of what is outlined.

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
) -> Cells:
    """A tile as cells of 16 bytes, if it consists of such runs; of the 4 factors that follow each other,
    if it is one of scale factors; or else of elements (of bytes for b1).

    Args:
        layout: the layout; of stages, the first is taken, and a run-time origin as 0.
        elements: whether cells are to be elements in any case.
        start: the byte address at which the tile begins.
        base_offset: the phase at which the swizzle's pattern starts, 0 to 7.

    Raises:
        LayoutError: if the tile is too large, its bits lie apart, or it cannot begin there.
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
    least = max(1, 8 // layout.element.bits)
    held = max(layout.shape[0] * layout.shape[1] // least, layout.size_bytes)
    if held > WINDOW_BYTES:
        raise LayoutError(
            f"{layout} spans {held} bytes of {layout.element}; shared memory, and so a picture, has at "
            f"most {WINDOW_BYTES}"
        )
    dim = 1 if layout.contiguous_dim is None else layout.contiguous_dim
    count = least if elements else layout.element.unit
    if not elements and isinstance(scale_blocks(layout), ScaleBlocks):
        dim, count = 1, BLOCK_FACTORS
    while not has_contiguous_runs(layout, dim, count):
        if count == least:
            raise LayoutError(
                f"elements of {layout.element} that share a byte do not lie together; expected "
                f"runs of {least} or more along a dimension"
            )
        count = least
    return Cells(layout, (count, 1) if dim == 0 else (1, count), start, base_offset)
