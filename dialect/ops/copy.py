"""`smem.copy` and `smem.copy_async`: global memory to a tile, by all threads of the block."""

from typing import Any

from ...layout import Transfer
from ..bindings import ext, ir
from ..build import create
from ..caching import cached_in_context
from ..diagnostics import Invalid, verifier
from ..elements import element_of
from ..memrefs import check_global, check_vectors, contiguous_dim
from ..smem import Smem
from ..types import TileType, layout_of, shape_of, tile_element


class CopyOp(Smem.Operation, name="copy"):
    """Copies a matrix in global memory into a tile of the same shape and element type.

    All threads of the block take part, each moving 16 bytes at a time along the dimension that is
    contiguous in global memory. Rows (or columns) must begin at multiples of 16 bytes. The tile is
    written by ordinary stores: a barrier makes it visible to other threads, `smem.fence` before the
    barrier to `smem.mma`.
    """

    source: ext.Operand[ir.MemRefType]
    tile: ext.Operand[TileType]

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.operands[0].type, self.operands[1].type)


class CopyAsyncOp(Smem.Operation, name="copy_async"):
    """Starts the copy that `smem.copy` does, without waiting for it (`cp.async`).

    `smem.copy_commit` closes the group of copies that a thread has started; `smem.copy_wait` waits
    for groups. Only after it does what is said of `smem.copy` hold.
    """

    source: ext.Operand[ir.MemRefType]
    tile: ext.Operand[TileType]

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.operands[0].type, self.operands[1].type)


class CopyCommitOp(Smem.Operation, name="copy_commit"):
    """Makes a group of the thread's asynchronous copies since the last group; it may be empty."""


class CopyWaitOp(Smem.Operation, name="copy_wait"):
    """Waits until at most the `pending` latest groups of the thread's copies are unfinished."""

    pending: ir.IntegerAttr

    @verifier
    def verify_region_invariants(self) -> None:
        pending = ir.IntegerAttr(self.attributes["pending"]).value
        if pending < 0:
            raise Invalid(f"has pending = {pending}; expected 0 or more groups")


@cached_in_context
def _check(source: Any, tile: Any) -> None:
    shape = shape_of(tile)
    if len(shape) != 2:
        raise Invalid(f"copies to a tile (rows, columns), not {list(shape)}; take a stage")
    check_global(source, "copies from")
    if tuple(source.shape) != shape:
        wanted = "x".join(map(str, shape))
        raise Invalid(
            f"copies {source} to a tile of {wanted}; take a memref.subview of static shape {wanted}"
        )
    if element_of(source.element_type) != tile_element(tile):
        raise Invalid(f"copies {source.element_type} to a tile of {tile_element(tile)}")
    if tile_element(tile).bits < 8:
        raise Invalid(
            f"copies {source}: memrefs hold {source.element_type} in bytes, tiles in bits"
        )
    layout = layout_of(tile)
    transfer = Transfer(tile_element(tile), shape, contiguous_dim(source), threads=128)
    check_vectors(source, transfer.vector)
    problem = transfer.fits(layout) if layout else None
    if problem:
        raise Invalid(problem)


def copy(source: Any, tile: Any) -> None:
    """Copies the memref `source` to `tile`."""
    create(CopyOp, [source, tile])


def copy_async(source: Any, tile: Any) -> None:
    """Starts a copy of the memref `source` to `tile`."""
    create(CopyAsyncOp, [source, tile])


def copy_commit() -> None:
    """Closes the group of copies started since the last one."""
    create(CopyCommitOp)


def copy_wait(pending: int = 0) -> None:
    """Waits for all but the latest `pending` groups of copies."""
    i32 = ir.IntegerType.get_signless(32)
    create(CopyWaitOp, attributes={"pending": ir.IntegerAttr.get(i32, pending)})
