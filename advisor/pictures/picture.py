"""A picture of a layout, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ...layout.arch import Arch
from ...layout.elements import WINDOW_BYTES
from ...layout.instruction import INSTRUCTION_K_BYTES
from ...layout.modes import LayoutError
from ...layout.operand import Role
from ...layout.swizzle import Swizzle
from ...layout.tile import TileLayout
from ..order import DimensionOrder
from .accesses import AccessedElements, AccessKind, find_accessed_elements, k_extent_of
from .cells import LINE_BYTES, Color, Outline, TileCells, View, cells_of
from .grid import CellGrid
from .picture_base import PictureBase
from .strides import Stride, descriptor_strides


@dataclass(frozen=True)
class Picture(PictureBase):
    """A drawing of a tile, as its parameters.

    Attributes:
        layout: the layout; of stages, the first is drawn.
        view: elements on lines of memory, or byte addresses on rows and columns.
        color: the property that colours show.
        access: an access that is highlighted.
        at: (row, column) of the first element of the access.
        role: the operand, A as (M, K) or B as (K, N); for `MMA`, `strides` and `INSTRUCTION`.
        strides: whether brackets show LBO and SBO.
        outline: the subtiles that thick lines enclose.
        elements: whether cells are single elements even where 16 bytes are contiguous.
        lines: maximum number of lines.
        start: byte address of the tile.
        base_offset: the base offset of the swizzle pattern.
        arch: the architecture, for `MMA`, `strides` and `INSTRUCTION`.
        k_bytes: bytes along K that an instruction reads, for `MMA` and `INSTRUCTION`.
        order: the order in which the layout was written, for a note.

    A property raises a LayoutError if the picture cannot be drawn.

    Example:
        >>> picture = Picture(parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", element("bf16")))
        >>> picture._repr_svg_()[:4]
        '<svg'
    """

    layout: TileLayout
    view: View = View.MEMORY
    color: Color = Color.K
    access: AccessKind | None = None
    at: tuple[int, int] = (0, 0)
    role: Role = Role.A
    strides: bool = False
    outline: Outline = Outline.ATOM
    elements: bool = False
    lines: int = 64
    start: int = 0
    base_offset: int = 0
    arch: Arch = Arch.SM_90
    k_bytes: int = INSTRUCTION_K_BYTES
    order: DimensionOrder | None = None

    @cached_property
    def cells(self) -> TileCells:
        """The tile's cells."""
        cells = cells_of(self.layout, self.elements, self.start, self.base_offset)
        if self.color is not Color.INSTRUCTION and self.access is not AccessKind.MMA:
            return cells
        k_extent = k_extent_of(cells.layout, self.arch, self.k_bytes)
        return replace(cells, k_dim=1 if self.role is Role.A else 0, k_extent=k_extent)

    @cached_property
    def grid(self) -> CellGrid:
        """The grid of the cells."""
        most = WINDOW_BYTES // LINE_BYTES
        if not 1 <= self.lines <= most:
            raise LayoutError(f"{self.lines} lines cannot be drawn; expected 1 to {most}")
        return CellGrid(self.cells, self.view, self.lines)

    @cached_property
    def touched(self) -> AccessedElements | None:
        """The elements of the access."""
        if self.access is None:
            return None
        return find_accessed_elements(self.cells, self.access, self.at, self.role, self.arch)

    @cached_property
    def descriptor_strides(self) -> list[Stride]:
        """LBO and SBO, if they are shown."""
        if not self.strides:
            return []
        return descriptor_strides(self.cells.layout, self.role, self.arch)

    @cached_property
    def collisions(self) -> int:
        """The number of cells that have the address of another one."""
        return len(self.cells.address) - len(set(self.cells.address.tolist()))

    @property
    def title(self) -> str:
        """The title, one line."""
        rows, columns = self.cells.layout.shape
        stage = f", stage 0 of {self.layout.shape[0]}" if len(self.layout.shape) > 2 else ""
        return f"{rows}x{columns} {self.layout.element}{stage}: {self.cells.layout}"

    @property
    def notes(self) -> list[str]:
        """Sentences that explain the picture."""
        cells, (rows, columns) = self.cells, self.cells.extent
        cell_text = (
            f"a cell is {rows}x{columns} element{'s' * (rows * columns > 1)}, {cells.size} bytes"
        )
        label_text = (
            "labelled row,column of the first"
            if self.view is View.MEMORY
            else "labelled with its byte address"
        )
        has_core_matrices = self.layout.swizzle is Swizzle.NONE and self.outline is Outline.ATOM
        name = (
            "core matrices"
            if has_core_matrices
            else ("atoms", "boxes")[self.outline is Outline.BOX]
        )
        name = (
            "blocks of scale factors, each" if has_core_matrices and cells.holds_factors else name
        )
        outline_text = "thick lines: {} of {}x{}".format(name, *cells.outline_extent(self.outline))
        notes = [f"{cell_text}, {label_text}; {outline_text}"]
        if self.start or self.base_offset:
            notes.append(f"the tile starts at {self.start:#x}, base offset {self.base_offset}")
        padding = self.layout.element.padding
        if padding:
            notes.append(
                f"of each 16 bytes, the last {padding} are padding; the others contain 16 elements of "
                f"{self.layout.element.packed_bits} bits; an element is drawn as a byte"
            )
        if self.collisions:
            notes.append(f"{self.collisions} cells have the address of another cell (red)")
        if self.order and not self.order.is_obvious:
            notes.append(f"order: {self.order}")
        if problem := self.layout.overlap_problem():
            notes.append(problem)
        return notes + ([self.grid.cut_note] if self.grid.cut_note else [])

    def without_swizzle(self) -> Picture:
        """Return the picture with the same strides and no swizzle; without LBO and SBO, since the layout
        may not be canonical.

        Raises:
            LayoutError: if the layout has no swizzle.
        """
        if self.layout.swizzle is Swizzle.NONE:
            raise LayoutError("the layout has no swizzle to compare with")
        unswizzled = replace(self.layout, swizzle=Swizzle.NONE)
        return replace(self, layout=unswizzled, strides=False, base_offset=0)
