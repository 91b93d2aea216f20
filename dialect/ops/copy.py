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
from ..types import TileType, layout_of, shape_of, tensor_of, tile_element

#: Types of 8-bit integers, whose bits a copy does not look at.
_BYTES = {"i8", "si8", "ui8"}


class CopyOp(Smem.Operation, name="copy"):
    """Copies a matrix in global memory into a tile of the same shape and element type.

    A tile of tf32 is filled from f32, rounded to nearest (ties away from zero); a tile of i1 from i8,
    whose bytes hold 8 elements each, the first in the lowest bit.

    All threads of the block take part, each moving 16 bytes at a time along the dimension that is
    contiguous in global memory. Rows (or columns) must begin at multiples of 16 bytes. The tile is
    written by ordinary stores: a barrier makes it visible to other threads, `smem.fence` before the
    barrier to `smem.mma`.
    """

    source: ext.Operand[ir.MemRefType]
    tile: ext.Operand[TileType]

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.operands[0].type, self.operands[1].type, False)


class CopyAsyncOp(Smem.Operation, name="copy_async"):
    """Starts the copy that `smem.copy` does, without waiting for it (`cp.async`).

    `smem.copy_commit` closes the group of copies that a thread has started; `smem.copy_wait` waits
    for groups. Only after it does what is said of `smem.copy` hold.
    """

    source: ext.Operand[ir.MemRefType]
    tile: ext.Operand[TileType]

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.operands[0].type, self.operands[1].type, True)


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
def _check(source: Any, tile: Any, asynchronous: bool) -> None:
    shape = shape_of(tile)
    if len(shape) != 2:
        raise Invalid(f"copies to a tile (rows, columns), not {list(shape)}; take a stage")
    check_global(source, "copies from")
    _check_elements(source, tile, asynchronous)
    contiguous = contiguous_dim(source)
    expected = source_shape(tile, contiguous)
    if tuple(source.shape) != expected:
        wanted = "x".join(map(str, expected))
        raise Invalid(
            f"copies {source} to a tile of {'x'.join(map(str, shape))}; take a memref.subview of "
            f"static shape {wanted}"
        )
    layout = layout_of(tile)
    transfer = Transfer(tile_element(tile), shape, contiguous, threads=128)
    check_vectors(source, transfer.vector // packed(tile))
    problem = transfer.fits(layout) if layout else None
    if problem:
        raise Invalid(problem)


def _check_elements(source: Any, tile: Any, asynchronous: bool) -> None:
    """Checks that a memref holds what a tile does, or what a copy makes of it."""
    held, kept = str(source.element_type), str(tensor_of(tile).element_type)
    if is_packed(tile):
        if held not in _BYTES:
            raise Invalid(
                f"copies {held} to a tile of i1; expected i8, whose bytes hold 8 elements each, the "
                "first in the lowest bit"
            )
        return
    if held == "tf32":
        raise Invalid(
            "copies tf32, which no memory holds; expected f32, which a tile of tf32 rounds"
        )
    if element_of(source.element_type) != tile_element(tile) and not {held, kept} <= _BYTES:
        raise Invalid(f"copies {held} to a tile of {kept}")
    if rounds(source, tile) and asynchronous:
        raise Invalid(
            "copies f32 to a tile of tf32, which is to be rounded on the way; only smem.copy can, or "
            "use a tile of f32 and say truncate in smem.mma"
        )


def is_packed(tile: Any) -> bool:
    """Whether a tile's elements are bits, which memrefs hold eight to a byte."""
    return tile_element(tile).bits < 8


def packed(tile: Any) -> int:
    """Elements of a tile in one of the memref that fills it."""
    return 8 if is_packed(tile) else 1


def source_shape(tile: Any, contiguous: int) -> tuple[int, ...]:
    """The shape of a memref that fills a tile."""
    return tuple(
        extent // packed(tile) if dim == contiguous else extent
        for dim, extent in enumerate(shape_of(tile))
    )


def rounds(source: Any, tile: Any) -> bool:
    """Whether a copy rounds f32 to tf32."""
    return str(source.element_type) == "f32" and str(tensor_of(tile).element_type) == "tf32"


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
