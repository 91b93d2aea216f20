"""`smem.alloc`: a tile in the kernel's dynamic shared memory."""

from collections.abc import Sequence
from typing import Any

from ..attributes import auto
from ..bindings import ext, ir
from ..build import create
from ..diagnostics import Invalid, verifier
from ..smem import Smem
from ..types import TileType, root_layout_of, tile


class AllocOp(Smem.Operation, name="alloc"):
    """Reserves shared memory for a tile, for as long as it is used.

    `smem-assign-layouts` replaces `#smem.auto` in its type, and `smem-allocate` adds `offset`, the
    bytes from the start of dynamic shared memory.
    """

    tile: ext.Result[TileType]

    @verifier
    def verify_region_invariants(self) -> None:
        layout = root_layout_of(self.results[0].type)
        check_offset(self, layout.alignment if layout else 1)


def check_offset(op: Any, alignment: int) -> None:
    """Checks the offset of what `smem-allocate` has placed, if it has.

    Raises:
        Invalid: if it is no multiple of the alignment.
    """
    if "offset" in op.attributes:
        given = op.attributes["offset"].maybe_downcast()
        if not isinstance(given, ir.IntegerAttr) or given.value < 0 or given.value % alignment:
            raise Invalid(f"has offset = {given}; expected a multiple of {alignment} from 0")


def alloc(shape: Sequence[int], element: Any, layout: Any = None) -> Any:
    """A new tile.

    Args:
        shape: (rows, columns), or (stages, rows, columns), in elements.
        element: the MLIR element type.
        layout: a layout attribute; `#smem.auto` if left out.
    """
    return create(AllocOp, results=[tile(shape, element, layout or auto())]).result
