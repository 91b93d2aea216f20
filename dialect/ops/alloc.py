"""`smem.alloc`: a tile in dynamic shared memory."""

from collections.abc import Sequence

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Value
from ...bindings.mlir import ext
from ..arguments import ElementType, Layout
from ..attributes import auto
from ..build import create
from ..builder import builder
from ..effects import Effects
from ..types import TileType, allocation_layout_of, layout_of, tile
from ..verifier import verifier
from .memory import AllocationOp, check_offset, offset_of


class AllocOp(AllocationOp, name="alloc"):
    """Allocates shared memory for `tile`, from its first use to its last.

    The tile is used directly, or through `smem.stage` and `smem.subtile`. It cannot be an operand of a
    loop, a branch, a yield or a select: give the alloc a leading dimension, and carry or select an index.

    `smem-assign-layouts` replaces `#smem.auto` in the type of the tile. `smem-allocate` adds the
    attribute `offset`: bytes from the start of dynamic shared memory.
    """

    tile: ext.Result[TileType]

    i64 = ("offset",)
    effects = Effects(allocates=True)

    offset = property(offset_of)

    @property
    def shared_bytes(self) -> int:
        """The bytes of the tile, with the padding of its layout."""
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
def alloc(shape: Sequence[int], element: ElementType, layout: Layout | None = None) -> Value:
    """Build an `smem.alloc`, and return its tile.

    Args:
        shape: (rows, columns), or (stages, rows, columns), in elements.
        element: the MLIR element type.
        layout: a layout attribute; `#smem.auto` by default.

    Example:
        >>> tile = smem.alloc((4, 128, 64), bf16)  # four stages
        >>> print(tile.type)
        !smem.tile<tensor<4x128x64xbf16>, #smem.auto>
    """
    return create(AllocOp, results=[tile(shape, element, layout or auto())]).result
