"""`smem.alloc`: a tile in the kernel's dynamic shared memory."""

from collections.abc import Sequence
from typing import Any

from ..arguments import ElementType, Layout
from ..attributes import auto
from ..bindings import ext
from ..build import create
from ..builder import builder
from ..diagnostics import Invalid, verifier
from ..effects import Effects
from ..types import TileType, allocation_layout_of, layout_of, tile
from .memory import AllocationOp, check_offset, offset_of


class AllocOp(AllocationOp, name="alloc"):
    """Reserves shared memory for a tile, for as long as it is used.

    Its tile is used by itself, or by `smem.stage` and `smem.subtile`. Loops carry no tiles, branches
    yield none and nothing selects one: give the alloc a leading dimension, and carry or select an index.

    `smem-assign-layouts` replaces `#smem.auto` in its type, and `smem-allocate` adds `offset`, the
    bytes from the start of dynamic shared memory.
    """

    tile: ext.Result[TileType]

    i64 = ("offset",)
    effects = Effects(allocates=True)

    offset = property(offset_of)

    @property
    def shared_bytes(self) -> int:
        """Bytes of the tile, padding of its layout included."""
        layout = layout_of(self.tile.type)
        if layout is None:
            raise Invalid("has no layout; run smem-assign-layouts before")
        return layout.size_bytes

    @verifier
    def verify_region_invariants(self) -> None:
        layout = allocation_layout_of(self.tile.type)
        if layout is None:
            check_offset(self, 1, 0)
        else:
            check_offset(self, layout.alignment, layout.size_bytes)


@builder
def alloc(shape: Sequence[int], element: ElementType, layout: Layout | None = None) -> Any:
    """A new tile.

    Args:
        shape: (rows, columns), or (stages, rows, columns), in elements.
        element: the MLIR element type.
        layout: a layout attribute; `#smem.auto` if left out.
    """
    return create(AllocOp, results=[tile(shape, element, layout or auto())]).result
