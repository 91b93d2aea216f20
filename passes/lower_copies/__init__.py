"""`smem-lower-copies`: copies and fences become NVVM and LLVM; tiles themselves disappear."""

from dataclasses import dataclass
from math import prod
from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops.copy import reads_blocks, reads_tile, transfer_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import gather, required_block_size
from ...ir.subtiles import PARTS, ROOTS, Part, part_from
from ...ir.threads import linear_thread
from ...layout import LayoutError, Transposition
from ..driver.base import Pass
from .blocks import Blocks
from .bulk import lower_group, lower_load, lower_store
from .ends import GlobalSource, TileEnd
from .factors import lower_blocks
from .rings import lower_ring, lower_ring_op
from .tensor_maps import TensorMaps
from .vectors import Vectors

_COPIES = ("smem.copy", "smem.copy_async")
_ORDERING = ("smem.copy_commit", "smem.copy_wait", "smem.fence")
_BULK = {
    "smem.tma_load": lower_load,
    "smem.tma_store": lower_store,
    "smem.tma_commit": lower_group,
    "smem.tma_wait": lower_group,
}
_RING_OPS = {
    "smem.ring": lower_ring,
    "smem.producer_acquire": lower_ring_op,
    "smem.producer_commit": lower_ring_op,
    "smem.consumer_wait": lower_ring_op,
    "smem.consumer_release": lower_ring_op,
}


@dataclass(frozen=True)
class LowerCopies(Pass):
    """Copies become 16-byte accesses of all threads at swizzled addresses; what `relayout` turns
    around goes through registers in blocks.

    Afterwards only fragments are left of `smem`: allocs, views, stages and subtiles are erased.
    """

    name = "smem-lower-copies"
    description = "lower copies and fences to NVVM and LLVM, and erase what only named tiles"

    def run(self, module: Any) -> None:
        copies, ordering, ring_ops, bulk, tiles = gather(
            module, _COPIES, _ORDERING, _RING_OPS, _BULK, (*ROOTS, *PARTS)
        )
        for copy in copies:
            with ir.InsertionPoint(copy), copy.location:
                _lower_copy(copy)
            copy.operation.erase()
        for op in ordering:
            with ir.InsertionPoint(op), op.location:
                _lower_ordering(op)
            op.operation.erase()
        # What a ring's blocks share is read off its loads, which are there until all else is lowered.
        for op in ring_ops:
            with ir.InsertionPoint(op), op.location:
                _RING_OPS[op.operation.name](op)
        maps = TensorMaps()
        for op in bulk:
            with ir.InsertionPoint(op), op.location:
                _lower_bulk(op, maps)
        maps.prefetch()
        for op in [*bulk, *reversed(ring_ops)]:
            op.operation.erase()
        for tile in reversed(tiles):
            if next(iter(tile.results[0].uses), None) is not None:
                user = next(iter(tile.results[0].uses)).owner.operation.name
                accessed = user in ("smem.load", "smem.store")
                lowering = "smem-lower-mma" if accessed else "smem-materialize-descriptors"
                raise OpError(tile, f"is still used by '{user}'; run {lowering} before")
            tile.operation.erase()


def _lower_bulk(op: Any, maps: TensorMaps) -> None:
    try:
        _BULK[op.operation.name](op, maps)
    except LayoutError as error:
        raise OpError(op, str(error)) from None


def _lower_ordering(op: Any) -> None:
    if op.operation.name == "smem.fence":
        emit.op(
            "nvvm.fence.proxy",
            kind=ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
            space=ir.Attribute.parse("#nvvm.shared_space<cta>"),
        )
    elif op.operation.name == "smem.copy_commit":
        emit.op("nvvm.cp.async.commit.group")
    else:
        emit.op("nvvm.cp.async.wait.group", n=_i32_attr(op.attributes["pending"]))


def _i32_attr(attr: Any) -> Any:
    return ir.IntegerAttr.get(emit.i32(), ir.IntegerAttr(attr).value)


def _lower_copy(copy: Any) -> None:
    """Deals what the copy moves to the threads; see `layout.transfer` and `layout.transposition`."""
    size = required_block_size(copy)
    part = _part(copy, copy.operands[1], "writes")
    if reads_blocks(copy):
        lower_blocks(copy, part, linear_thread(size), prod(size))
        return
    read = _part(copy, copy.operands[0], "reads") if reads_tile(copy) else None
    plan = transfer_of(copy, prod(size), read.slice.layout if read else None).plan(
        part.slice.layout
    )
    thread = linear_thread(size)
    source = TileEnd(read) if read else GlobalSource(copy)
    target = TileEnd(part)
    if isinstance(plan, Transposition):
        Blocks(copy, source, target, plan, thread).emit()
    else:
        Vectors(copy, source, target, plan, thread).emit()


def _part(copy: Any, tile: Any, does: str) -> Part:
    """The part that an operand of a copy is.

    Raises:
        OpError: if it does not begin at a multiple of 16 bytes.
    """
    part = part_from(tile, copy)
    unit = part.slice.layout.element.unit
    if part.slice.multiple % unit:
        raise OpError(
            copy,
            f"{does} a part that begins {part.slice.multiple} elements or a multiple of that into "
            f"its tile; 16-byte accesses need multiples of {unit}",
        )
    return part
