"""`smem-lower-copies`: copies and fences become NVVM and LLVM; tiles themselves disappear."""

from dataclasses import dataclass
from typing import Any

from ...dialect.bindings import ir
from ...dialect.op import effects_of
from ...dialect.ops import AnyMma, PartOp, RootOp, ViewOp
from ...ir.errors import OpError
from ...ir.lowerings import load
from ...ir.shared_memory import assume_alignment
from ...ir.walk import gather
from ...layout import LayoutError
from ..driver.base import Pass
from .lowerings import LOWERINGS
from .tensor_maps import TensorMaps

load(__name__, __path__)


@dataclass(frozen=True)
class LowerCopies(Pass):
    """Copies become 16-byte accesses of all threads at swizzled addresses; what `relayout` turns
    around goes through registers in blocks.

    Afterwards only fragments are left of `smem`: allocs, views, stages and subtiles are erased.
    """

    name = "smem-lower-copies"
    description = "lower copies and fences to NVVM and LLVM, and erase what only named tiles"

    def run(self, module: Any) -> None:
        ops, tiles = gather(module, LOWERINGS.classes, [RootOp, PartOp])
        maps = TensorMaps()
        for op in ops:
            with ir.InsertionPoint(op), op.location:
                try:
                    LOWERINGS[op](op, maps)
                except LayoutError as error:
                    raise OpError(op, str(error)) from None
        maps.prefetch()
        # What a ring's blocks share is read off its loads, so these are there until all is lowered.
        for op in reversed(ops):
            op.operation.erase()
        for tile in reversed(tiles):
            if isinstance(tile, ViewOp):
                with ir.InsertionPoint(tile.operation), tile.location:
                    assume_alignment(tile)
            _erase(tile)


def _erase(tile: Any) -> None:
    """Erases an op that makes a tile, or a part of one.

    Raises:
        OpError: if something still uses it.
    """
    user = next((use.owner for use in tile.results[0].uses), None)
    if user is not None:
        fragments = effects_of(user).accesses and not isinstance(user, AnyMma)
        lowering = "smem-lower-mma" if fragments else "smem-materialize-descriptors"
        raise OpError(tile, f"is still used by '{user.operation.name}'; run {lowering} before")
    tile.operation.erase()
