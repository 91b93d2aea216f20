"""A picture of a layout: what is to be shown, as a value."""

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
from .accesses import AccessKind, Touched, k_step, touched
from .cells import LINE_BYTES, Cells, Color, Outline, View, cells_of
from .grid import Grid
from .pictured import Pictured
from .strides import Step, descriptor_steps


@dataclass(frozen=True)
class Picture(Pictured):
    """A tile as it is to be drawn.

    Attributes:
        layout: the layout; of stages, the first is drawn.
        view: logical elements on places of memory, or the reverse.
        color: what the colours tell.
        access: an access that is laid over it.
        at: (row, column) at which the access begins.
        role: which operand the tile is, A as (M, K) or B as (K, N); for `MMA`, `strides` and
            `INSTRUCTION`.
        strides: whether brackets show what LBO and SBO step over.
        outline: what thick lines go round.
        elements: whether cells are single elements even where 16 bytes lie together.
        lines: how many lines are drawn at most.
        start: the byte address at which the tile begins.
        base_offset: the phase at which the swizzle's pattern starts.
        arch: the architecture, for `MMA`, `strides` and `INSTRUCTION`.
        k_bytes: bytes along K that an instruction reads, for `MMA` and `INSTRUCTION`.

    What cannot be drawn raises a LayoutError when the picture is asked for it.
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

    @cached_property
    def cells(self) -> Cells:
        """What is drawn."""
        cells = cells_of(self.layout, self.elements, self.start, self.base_offset)
        if self.color is not Color.INSTRUCTION and self.access is not AccessKind.MMA:
            return cells
        step = k_step(cells.layout, self.arch, self.k_bytes)
        return replace(cells, k_dim=1 if self.role is Role.A else 0, k_step=step)

    @cached_property
    def grid(self) -> Grid:
        """Where it is drawn."""
        most = WINDOW_BYTES // LINE_BYTES
        if not 1 <= self.lines <= most:
            raise LayoutError(f"{self.lines} lines cannot be drawn; expected 1 to {most}")
        return Grid(self.cells, self.view, self.lines)

    @cached_property
    def touched(self) -> Touched | None:
        """What the access touches."""
        return self.access and touched(self.cells, self.access, self.at, self.role, self.arch)

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of a descriptor that are shown."""
        if not self.strides:
            return []
        return descriptor_steps(self.cells.layout, self.role, self.arch)

    @cached_property
    def collisions(self) -> int:
        """Cells that lie where another one lies."""
        return len(self.cells.address) - len(set(self.cells.address.tolist()))

    @property
    def title(self) -> str:
        """What is shown, in one line."""
        rows, columns = self.cells.layout.shape
        stage = f", stage 0 of {self.layout.shape[0]}" if len(self.layout.shape) > 2 else ""
        return f"{rows}x{columns} {self.layout.element}{stage}: {self.cells.layout}"

    @property
    def notes(self) -> list[str]:
        """How the picture is to be read."""
        cells, (rows, columns) = self.cells, self.cells.extent
        what = f"a cell is {rows}x{columns} element{'s' * (rows * columns > 1)}, {cells.size} bytes"
        named = (
            "labelled row,column of the first"
            if self.view is View.MEMORY
            else "labelled with the byte where it lies"
        )
        plain = self.layout.swizzle is Swizzle.NONE and self.outline is Outline.ATOM
        name = "core matrices" if plain else ("atoms", "boxes")[self.outline is Outline.BOX]
        name = "blocks of scale factors, each" if plain and cells.holds_factors else name
        around = "thick lines: {} of {}x{}".format(name, *cells.block(self.outline))
        notes = [f"{what}, {named}; {around}"]
        if self.start or self.base_offset:
            notes.append(f"the tile begins at {self.start:#x}, base offset {self.base_offset}")
        padding = self.layout.element.padding
        if padding:
            notes.append(
                f"of each 16 bytes, the last {padding} hold nothing: 16 elements of "
                f"{self.layout.element.packed_bits} bits lie in the others, an element is drawn as a byte"
            )
        if self.collisions:
            notes.append(f"{self.collisions} cells lie where another one lies (red)")
        return notes + ([self.grid.cut] if self.grid.cut else [])

    def without_swizzle(self) -> Picture:
        """The same with the same strides and no swizzle; it shows no LBO and SBO, which it may not have.

        Raises:
            LayoutError: if it has none now.
        """
        if self.layout.swizzle is Swizzle.NONE:
            raise LayoutError("the layout has no swizzle to be compared with")
        plain = replace(self.layout, swizzle=Swizzle.NONE)
        return replace(self, layout=plain, strides=False, base_offset=0)
