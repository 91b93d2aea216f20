"""`smem.copy` and `smem.copy_async`: global memory, or another tile, to a tile, by all threads of the
block."""

from collections.abc import Sequence
from typing import Any

from ...layout import Relayout, TileCopy, TileCopyUse, TileLayout, Transfer, TransferUse
from ...layout.elements import E2M1
from ...layout.tcgen05 import ScaleUse
from ...layout.uses import Use
from ..arguments import Memref, Tile, TileOrMemref
from ..bindings import ext, ir
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..diagnostics import Invalid, format_location, verifier
from ..effects import Completion, Effects, Scope, read, write
from ..elements import element_of
from ..memrefs import check_global, check_vectors, contiguous_dim
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute
from ..types import TileType, layout_of, shape_of, tensor_of, tile_element
from ..uses import Chooser, Path
from .factor_blocks import check_blocks, holds_blocks, refuse_rows

#: Types of 8-bit integers, whose bits a copy does not look at.
_BYTES = {"i8", "si8", "ui8"}


#: Says which dimension of the source each dimension of the tile is.
PERMUTATION = "permutation"

#: Lets a copy change which dimension is contiguous.
RELAYOUT = "relayout"


class AnyCopy(SmemOp):
    """A copy of a matrix in global memory, or of a tile, to a tile."""

    @property
    def permutation(self) -> tuple[int, ...]:
        """For each dimension of the tile, the dimension of the source that it is.

        Raises:
            Invalid: if the attribute is no permutation of two dimensions.
        """
        if PERMUTATION not in self.attributes:
            return (0, 1)
        given = self.attributes[PERMUTATION].maybe_downcast()
        if not isinstance(given, ir.DenseI64ArrayAttr) or sorted(given) != [0, 1]:
            raise Invalid(
                f"has permutation = {given}; expected array<i64: 1, 0> to exchange rows and columns, "
                "or array<i64: 0, 1>"
            )
        return tuple(given)

    @property
    def relayout(self) -> bool:
        """Whether the copy may change which dimension is contiguous.

        Raises:
            Invalid: if the attribute is no unit attribute.
        """
        return has_unit_attribute(self, RELAYOUT)

    @property
    def reads_blocks(self) -> bool:
        """Whether it reads blocks of scale factors in global memory."""
        return holds_blocks(self.source.type)

    @property
    def reads_tile(self) -> bool:
        """Whether it reads a tile rather than global memory."""
        return isinstance(self.source.type, TileType)

    def transfer(self, threads: int, read: TileLayout | None = None) -> Transfer | Relayout:
        """What it asks of its tile's layout.

        Args:
            threads: of the block.
            read: the layout of the tile that it reads; None for global memory.

        Raises:
            Invalid: if nothing is contiguous in global memory.
            LayoutError: if lines are no multiples of 16 bytes, or nothing is contiguous in the tile.
        """
        if read is not None:
            return self._tile_copy(threads).transfer(read)
        return _transfer(self.source.type, self.tile.type, threads, self.permutation, self.relayout)

    def _tile_copy(self, threads: int) -> TileCopy:
        """What is known of a copy from a tile to a tile without their layouts."""
        return TileCopy(self.permutation, self.relayout, threads)

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use | None:
        """What it asks of a tile's layout; None if nothing shall be asked of the other end."""
        what = f"the copy at {format_location(self.location)}"
        if self.reads_tile:
            reads = operand == "source"
            end = chooser.other_end(self, self.tile if reads else self.source)
            if end is None:
                return None
            known = self._tile_copy(chooser.threads(self))
            directions = tuple(self.permutation.index(dim) for dim in end.directions)
            return TileCopyUse(what, known, reads, end.layout, directions, path)
        if self.reads_blocks:
            return ScaleUse(what, path)
        return TransferUse(what, self.transfer(chooser.threads(self)), path)


class CopyOp(AnyCopy, name="copy"):
    """Copies a matrix in global memory, or a tile, into a tile of the same shape and element type.

    A tile of tf32 is filled from f32, rounded to nearest (ties away from zero); a tile of i1 or f4E2M1FN
    from i8, whose bytes hold 8 or 2 elements each, the first in the lowest bits. Padded elements of
    4 and 6 bits come by `smem.tma_load` alone.

    All threads of the block take part, each moving 16 bytes at a time along the dimension that is
    contiguous in global memory. Rows (or columns) must begin at multiples of 16 bytes. The tile is
    written by ordinary stores: a barrier makes it visible to other threads, `smem.fence` before the
    barrier to `smem.mma`.

    `permutation = array<i64: 1, 0>` copies element (i, j) of the matrix to element (j, i) of the tile,
    as `linalg.transpose` does. It changes indices alone: what is contiguous in global memory still is
    in the tile, or the copy is refused.

    The unit attribute `relayout` lets the copy change that, and changes no index: where the tile's
    layout is contiguous along the other dimension, each thread reads a block of up to 16 x 16
    elements, transposes it in its registers (at most 64 of them) and writes 16 bytes at a time (of
    i1, blocks of 32 x 32 and 4 bytes). So an mma can read 8-bit, 32-bit and i1 data that is
    M- or N-major in global memory. A tile whose layout is open is only transposed if no layout
    does without.

    Scale factors, a tile of (rows, factors), come from a memref of the blocks in which cuBLAS has them,
    [rows / 128][factors / 4][32][4][4]; its type says that it is one. 8-bit integers may stand for them.

    Of a tile as the source all of this holds, except that elements below 8 bits are not copied: its
    layout says what is contiguous, and tf32 is rounded from a tile of f32. It is read by ordinary
    loads: between them and what wrote it lies a barrier, and between them and what overwrites it, too.
    """

    source: ext.Operand[Any]
    tile: ext.Operand[TileType]

    effects = Effects(Scope.BLOCK, (read("source"), write("tile")))

    @verifier
    def verify_region_invariants(self) -> None:
        check_copy(self)


class CopyAsyncOp(AnyCopy, name="copy_async"):
    """Starts the copy that `smem.copy` does, without waiting for it (`cp.async`).

    `smem.copy_commit` closes the group of copies that a thread has started; `smem.copy_wait` waits
    for groups. Only after it does what is said of `smem.copy` hold. There is no `relayout`: the bytes
    do not pass through registers.
    """

    source: ext.Operand[Any]
    tile: ext.Operand[TileType]

    effects = Effects(
        Scope.BLOCK,
        (
            read("source", completion=Completion.CP_ASYNC_GROUP),
            write("tile", completion=Completion.CP_ASYNC_GROUP),
        ),
    )

    @verifier
    def verify_region_invariants(self) -> None:
        check_copy(self)


class CopyCommitOp(SmemOp, name="copy_commit"):
    """Makes a group of the thread's asynchronous copies since the last group; it may be empty."""

    effects = Effects(commits=Completion.CP_ASYNC_GROUP)


class CopyWaitOp(SmemOp, name="copy_wait"):
    """Waits until at most the `pending` latest groups of the thread's copies are unfinished."""

    pending: ir.IntegerAttr

    i32 = ("pending",)
    effects = Effects(awaits=Completion.CP_ASYNC_GROUP)

    @verifier
    def verify_region_invariants(self) -> None:
        check_groups(self)


def check_groups(wait: Any) -> None:
    """Checks how many groups a wait leaves pending.

    Raises:
        Invalid: if they are fewer than none.
    """
    pending = wait.pending.value
    if pending < 0:
        raise Invalid(f"has pending = {pending}; expected 0 or more groups")


def check_copy(op: Any) -> None:
    """Checks the attributes of a copy, and its operands by them.

    Raises:
        Invalid: if they do not fit each other.
    """
    asynchronous = isinstance(op, CopyAsyncOp)
    for name in op.attributes:
        if name not in (PERMUTATION, RELAYOUT) and "." not in name:
            raise Invalid(f"has the attribute {name}; expected {PERMUTATION} or {RELAYOUT}")
    if asynchronous and RELAYOUT in op.attributes:
        raise Invalid(
            "has relayout, but cp.async moves bytes as they are; only smem.copy can transpose them"
        )
    if op.source == op.tile:
        raise Invalid("copies a tile to itself; expected another one")
    _check(op.source.type, op.tile.type, asynchronous, op.permutation, op.relayout)


def _transfer(
    source: Any, tile: Any, threads: int, permutation: tuple[int, ...], relayout: bool
) -> Transfer | Relayout:
    contiguous = permutation.index(contiguous_dim(source))
    kind = Relayout if relayout else Transfer
    return kind(tile_element(tile), shape_of(tile), contiguous, threads)


@cached_in_context
def _check(
    source: Any, tile: Any, asynchronous: bool, permutation: tuple[int, ...], relayout: bool
) -> None:
    shape = shape_of(tile)
    if len(shape) != 2:
        raise Invalid(f"copies to a tile (rows, columns), not {list(shape)}; take a stage")
    if isinstance(source, TileType):
        if asynchronous:
            raise Invalid("copies from a tile, but cp.async reads global memory; use smem.copy")
        _check_tiles(source, tile, permutation, relayout)
        return
    if not isinstance(source, ir.MemRefType):
        expected = "a memref" if asynchronous else "a tile or a memref"
        raise Invalid(f"copies from {expected}, not {source}")
    check_global(source, "copies from")
    if source.rank < 2:
        raise Invalid(f"copies from {source}; expected a matrix of rank 2")
    if holds_blocks(source):
        if permutation != (0, 1) or relayout:
            raise Invalid(
                "copies blocks of scale factors, which have no permutation and no relayout"
            )
        check_blocks(source, tile, "copies")
        return
    refuse_rows(source, tile)
    _check_elements(source, tile, asynchronous)
    if relayout and tile_element(tile) == E2M1:
        raise Invalid(
            "has relayout, but elements of 4 bits are not transposed; expected data that is K-major"
        )
    expected = _source_shape(source, tile, permutation)
    if tuple(source.shape) != expected:
        raise Invalid(
            f"copies {source} to a tile of {'x'.join(map(str, shape))}{_said(permutation)}; take a "
            f"memref.subview of static shape {'x'.join(map(str, expected))}"
        )
    layout = layout_of(tile)
    transfer = _transfer(source, tile, 128, permutation, relayout)
    check_vectors(source, tile_element(tile).unit // packed(tile))
    problem = transfer.problem(layout) if layout else None
    if problem:
        raise Invalid(problem)


def _said(permutation: tuple[int, ...]) -> str:
    return "" if permutation == (0, 1) else f" by permutation {list(permutation)}"


def _check_tiles(source: Any, tile: Any, permutation: tuple[int, ...], relayout: bool) -> None:
    """Checks a copy from a tile to a tile (rows, columns)."""
    given, shape = shape_of(source), shape_of(tile)
    if len(given) != 2:
        raise Invalid(f"copies from a tile (rows, columns), not {list(given)}; take a stage")
    held, kept = (str(tensor_of(each).element_type) for each in (source, tile))
    if not all(_whole_bytes(each) for each in (source, tile)):
        raise Invalid(
            f"copies a tile of {held} to a tile of {kept}; expected elements of 8 bits or more"
        )
    if tile_element(source) != tile_element(tile) and not {held, kept} <= _BYTES:
        raise Invalid(f"copies a tile of {held} to a tile of {kept}")
    expected = tuple(shape[permutation.index(dim)] for dim in range(2))
    if given != expected:
        raise Invalid(
            f"copies a tile of {'x'.join(map(str, given))} to a tile of "
            f"{'x'.join(map(str, shape))}{_said(permutation)}; take an smem.subtile of "
            f"{'x'.join(map(str, expected))}"
        )
    read, written = layout_of(source), layout_of(tile)
    if read and written:
        problem = TileCopy(permutation, relayout, 128).transfer(read).problem(written)
        if problem:
            raise Invalid(problem)


def _check_elements(source: Any, tile: Any, asynchronous: bool) -> None:
    """Checks that a memref holds what a tile does, or what a copy makes of it."""
    held, kept = str(source.element_type), str(tensor_of(tile).element_type)
    if tile_element(tile).padding:
        raise Invalid(
            f"copies to a tile of {kept}, whose elements are padded on their way; only smem.tma_load does"
        )
    if is_packed(tile):
        if held not in _BYTES:
            bits = "bit" if packed(tile) == 8 else "bits"
            raise Invalid(
                f"copies {held} to a tile of {kept}; expected i8, whose bytes hold {packed(tile)} "
                f"elements each, the first in the lowest {bits}"
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


def _whole_bytes(tile: Any) -> bool:
    """Whether each element of a tile has bytes of its own, all of them."""
    return not (is_packed(tile) or tile_element(tile).padding)


def is_packed(tile: Any) -> bool:
    """Whether a tile's elements share bytes, which memrefs hold."""
    return tile_element(tile).bits < 8


def packed(tile: Any) -> int:
    """Elements of a tile in one of the memref that fills it; padded elements are not counted so."""
    return 8 // tile_element(tile).bits if is_packed(tile) else 1


def _source_shape(source: Any, tile: Any, permutation: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a memref that fills a tile; the dimension that is contiguous is the packed one."""
    contiguous, shape = contiguous_dim(source), shape_of(tile)
    extents = [shape[permutation.index(dim)] for dim in range(2)]
    extents[contiguous] //= packed(tile)
    return tuple(extents)


def rounds(source: Any, tile: Any) -> bool:
    """Whether a copy rounds f32 to tf32."""
    held = tensor_of(source) if isinstance(source, TileType) else source
    return str(held.element_type) == "f32" and str(tensor_of(tile).element_type) == "tf32"


@builder
def copy(
    source: TileOrMemref,
    tile: Tile,
    permutation: Sequence[int] | None = None,
    relayout: bool = False,
) -> None:
    """Copies the memref or tile `source` to `tile`.

    Args:
        source: the memref or tile.
        tile: the tile.
        permutation: [1, 0] to exchange rows and columns.
        relayout: whether the copy may change which dimension is contiguous.
    """
    create(CopyOp, [source, tile], permutation=permutation, relayout=relayout)


@builder
def copy_async(source: Memref, tile: Tile, permutation: Sequence[int] | None = None) -> None:
    """Starts a copy of the memref `source` to `tile`; see `copy`."""
    create(CopyAsyncOp, [source, tile], permutation=permutation)


@builder
def copy_commit() -> None:
    """Closes the group of copies started since the last one."""
    create(CopyCommitOp)


@builder
def copy_wait(pending: int = 0) -> None:
    """Waits for all but the latest `pending` groups of copies."""
    create(CopyWaitOp, pending=pending)
