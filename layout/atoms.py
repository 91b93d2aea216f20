"""Tiles built from swizzle atoms: the candidates of the choice of a layout."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from .elements import Element
from .modes import LayoutError, Mode
from .swizzle import Swizzle
from .tile import TileLayout


class TileOrder(Enum):
    """The dimension along which consecutive atoms are adjacent in memory (CuTe's order of modes)."""

    ACROSS = "across"
    """Across the contiguous dimension: gives the largest box of a bulk tensor copy; CuTe's default."""
    ALONG = "along"
    """Along the contiguous dimension."""


def tile_of_atoms(
    element: Element,
    shape: Sequence[int],
    contiguous: int,
    swizzle: Swizzle,
    order: TileOrder = TileOrder.ACROSS,
) -> TileLayout:
    """Return the layout of a tile of whole atoms, padded where an extent is not a multiple of the atom's.

    Args:
        element: the element type.
        shape: (rows, columns), or (stages, rows, columns); stages begin at multiples of the
            swizzle's pattern.
        contiguous: which of the last two dimensions is contiguous: 0 for rows, 1 for columns.
        swizzle: the swizzling mode; an atom is `swizzle.lines` lines of `swizzle.width` bytes.
        order: the order of the atoms in memory.

    Raises:
        LayoutError: if the shape is not of rank 2 or 3.

    Example:
        >>> tile_of_atoms(element("bf16"), (128, 64), contiguous=1, swizzle=Swizzle.B128).cute
        'Swizzle<3,4,3> o (128,64):(64,1)'
    """
    if len(shape) not in (2, 3):
        raise LayoutError(f"a tile has rank 2, or 3 with stages, not {len(shape)}")
    line = swizzle.atom_elements(element)
    atom = swizzle.lines * line
    extents = shape[-2:]
    along, across = extents[contiguous], extents[1 - contiguous]
    atoms_along, atoms_across = -(-along // line), -(-across // swizzle.lines)
    if order is TileOrder.ACROSS:
        step_across, step_along = atom, atom * atoms_across
    else:
        step_across, step_along = atom * atoms_along, atom
    modes_along = (Mode(line, 1), Mode(atoms_along, step_along))
    modes_across = (Mode(swizzle.lines, line), Mode(atoms_across, step_across))
    dims = (modes_along, modes_across) if contiguous == 0 else (modes_across, modes_along)
    layout = TileLayout(element, tuple(extents), dims, swizzle)
    if len(shape) == 3:
        pitch = -(-layout.size_bytes // layout.alignment) * layout.alignment
        stages = (Mode(shape[0], pitch * 8 // element.bits),)
        layout = TileLayout(element, tuple(shape), (stages, *dims), swizzle)
    return layout.coalesced()


def padding(layout: TileLayout) -> int:
    """Return the number of bytes of a tile (all stages) that hold no element."""
    elements = 1
    for extent in layout.shape:
        elements *= extent
    return layout.size_bytes - elements * layout.element.bits // 8
