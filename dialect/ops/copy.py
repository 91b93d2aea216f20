"""`smem.copy` and `smem.copy_async`: copies to a tile by all threads of the CTA."""

from collections.abc import Sequence
from typing import Any

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Op, Type
from ...bindings.mlir import ext, ir
from ...layout import Relayout, TileCopy, TileCopyUse, TileLayout, Transfer, TransferUse
from ...layout.elements import E2M1
from ...layout.tcgen05 import ScaleUse
from ...layout.uses import Use
from ..arguments import Memref, Tile, TileOrMemref
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..effects import Completion, Effects, Scope, read, write
from ..elements import element_of
from ..memrefs import check_global, check_vectors, contiguous_dim
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute
from ..types import TileType, layout_of, shape_of, tensor_of, tile_element
from ..uses import Chooser, Path
from ..verifier import verifier
from .scale_blocks import check_blocks, holds_scale_blocks, reject_rows

#: 8-bit integer types, between which a copy does not distinguish.
_BYTES = {"i8", "si8", "ui8"}

#: Attribute: the dimension of the source for each dimension of the tile.
PERMUTATION = "permutation"

#: Attribute: the copy may change which dimension is contiguous.
RELAYOUT = "relayout"


class AnyCopy(SmemOp):
    """A copy of a matrix in global memory, or of a tile, to a tile."""

    @property
    def permutation(self) -> tuple[int, ...]:
        """The dimension of the source for each dimension of the tile.

        Raises:
            Invalid: if the attribute is not a permutation of two dimensions.
        """
        if PERMUTATION not in self.attributes:
            return (0, 1)
        attribute = self.attributes[PERMUTATION].maybe_downcast()
        if not isinstance(attribute, ir.DenseI64ArrayAttr) or sorted(attribute) != [0, 1]:
            raise Invalid(
                f"has permutation = {attribute}; expected array<i64: 1, 0> to exchange rows and columns, "
                "or array<i64: 0, 1>"
            )
        return tuple(attribute)

    @property
    def relayout(self) -> bool:
        """Whether the copy may change which dimension is contiguous.

        Raises:
            Invalid: if the attribute has a value.
        """
        return has_unit_attribute(self, RELAYOUT)

    @property
    def reads_scale_blocks(self) -> bool:
        """Whether the source is a memref of blocks of scale factors."""
        return holds_scale_blocks(self.source.type)

    @property
    def reads_tile(self) -> bool:
        """Whether the source is a tile."""
        return isinstance(self.source.type, TileType)

    def transfer(
        self, threads: int, source_layout: TileLayout | None = None
    ) -> Transfer | Relayout:
        """The constraint on the layout of the destination tile.

        Args:
            threads: the number of threads of the CTA.
            source_layout: the layout of the source tile; None for global memory.

        Raises:
            Invalid: if no dimension is contiguous in global memory.
            LayoutError: if lines are not multiples of 16 bytes, or no dimension of the tile is
                contiguous.
        """
        if source_layout is not None:
            return self._tile_copy(threads).transfer(source_layout)
        return _transfer(self.source.type, self.tile.type, threads, self.permutation, self.relayout)

    def _tile_copy(self, threads: int) -> TileCopy:
        """The description of a copy from a tile to a tile, without their layouts."""
        return TileCopy(self.permutation, self.relayout, threads)

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use | None:
        """The constraint on a tile's layout; None if the copy is not to constrain it."""
        label = f"the copy at {format_location(self.location)}"
        if self.reads_tile:
            reads = operand == "source"
            other_end = chooser.other_end(self, self.tile if reads else self.source)
            if other_end is None:
                return None
            tile_copy = self._tile_copy(chooser.threads(self))
            directions = tuple(self.permutation.index(dim) for dim in other_end.directions)
            return TileCopyUse(label, tile_copy, reads, other_end.layout, directions, path)
        if self.reads_scale_blocks:
            return ScaleUse(label, path)
        return TransferUse(label, self.transfer(chooser.threads(self)), path)


class CopyOp(AnyCopy, name="copy"):
    """Copies `source`, a matrix in global memory (a memref) or a tile, to `tile`, of the same shape and
    element type.

    A tile of tf32 is copied from f32, rounded to nearest (ties away from zero). A tile of i1 or f4E2M1FN
    is copied from i8, whose bytes hold 8 or 2 elements, the first in the lowest bits. Padded elements of
    4 and 6 bits are copied by `smem.tma_load` only.

    A memref of dynamic extents may have fewer elements than the tile, which is 0 behind them, or more.

    All threads of the CTA execute the op. Each access moves 16 bytes along the dimension that is
    contiguous in global memory, whose lines (rows or columns) must begin at multiples of 16 bytes. The
    tile is written by ordinary stores: a barrier makes them visible to other threads; `smem.fence`
    before the barrier makes them visible to `smem.mma`.

    `permutation = array<i64: 1, 0>` copies element (i, j) of the source to element (j, i) of the tile,
    as `linalg.transpose` does. It changes indices only: the dimension that is contiguous in global
    memory must also be contiguous in the tile.

    The unit attribute `relayout` lifts this restriction and changes no index. If the tile is contiguous
    along the other dimension, each thread reads a block of up to 16 x 16 elements, transposes it in at
    most 64 registers, and writes 16 bytes at a time (for i1, blocks of 32 x 32 and 4 bytes). With it, an
    mma can read 8-bit, 32-bit and i1 data that is M-major or N-major in global memory. A tile of layout
    `#smem.auto` is transposed only if every other layout is rejected.

    A tile of scale factors (rows, factors) is copied from a memref of blocks in the order of cuBLAS, of
    shape [rows / 128][factors / 4][32][4][4]. The elements of the memref can be 8-bit integers.

    The same rules hold for a tile as the source, with two differences: elements below 8 bits are not
    copied, and the source's layout determines its contiguous dimension. A tile of tf32 is rounded from a
    tile of f32. The source is read by ordinary loads: a barrier is needed between earlier writes and the
    copy, and between the copy and later writes.
    """

    source: ext.Operand[Any]
    tile: ext.Operand[TileType]

    effects = Effects(Scope.CTA, (read("source"), write("tile")))

    @verifier
    def verify_region_invariants(self) -> None:
        check_copy(self)


class CopyAsyncOp(AnyCopy, name="copy_async"):
    """Starts an asynchronous copy of the memref `source` to `tile` (`cp.async`); see `smem.copy`.

    `smem.copy_commit` closes the group of copies that a thread has started, and `smem.copy_wait` waits
    for groups. After the wait, the rules of `smem.copy` apply to the tile. There is no `relayout`, since
    the bytes do not pass through registers.
    """

    source: ext.Operand[Any]
    tile: ext.Operand[TileType]

    effects = Effects(
        Scope.CTA,
        (
            read("source", completion=Completion.CP_ASYNC_GROUP),
            write("tile", completion=Completion.CP_ASYNC_GROUP),
        ),
    )

    @verifier
    def verify_region_invariants(self) -> None:
        check_copy(self)


def check_copy(op: Op) -> None:
    """Check the attributes and operands of a copy.

    Raises:
        Invalid: if they violate a rule.
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
    source: Type, tile: Type, threads: int, permutation: tuple[int, ...], relayout: bool
) -> Transfer | Relayout:
    contiguous = permutation.index(contiguous_dim(source))
    transfer = Relayout if relayout else Transfer
    return transfer(tile_element(tile), shape_of(tile), contiguous, threads)


@cached_in_context
def _check(
    source: Type, tile: Type, asynchronous: bool, permutation: tuple[int, ...], relayout: bool
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
    if holds_scale_blocks(source):
        if permutation != (0, 1) or relayout:
            raise Invalid(
                "copies blocks of scale factors, which have no permutation and no relayout"
            )
        check_blocks(source, tile, "copies")
        return
    reject_rows(source, tile)
    if source.rank != 2:
        raise Invalid(f"copies from {source}; expected a matrix of rank 2")
    _check_elements(source, tile, asynchronous)
    if relayout and tile_element(tile) == E2M1:
        raise Invalid(
            "has relayout, but elements of 4 bits are not transposed; expected data that is K-major"
        )
    expected = _source_shape(source, tile, permutation)
    any_extent = ir.ShapedType.get_dynamic_size()
    if any(
        extent not in (any_extent, count)
        for extent, count in zip(source.shape, expected, strict=True)
    ):
        raise Invalid(
            f"copies {source} to a tile of "
            f"{'x'.join(map(str, shape))}{_permutation_text(permutation)}; take a memref.subview "
            f"of static shape {'x'.join(map(str, expected))}"
        )
    layout = layout_of(tile)
    transfer = _transfer(source, tile, 128, permutation, relayout)
    check_vectors(source, tile_element(tile).unit // packing_factor(tile))
    problem = transfer.problem(layout) if layout else None
    if problem:
        raise Invalid(problem)


def _permutation_text(permutation: tuple[int, ...]) -> str:
    return "" if permutation == (0, 1) else f" by permutation {list(permutation)}"


def _check_tiles(source: Type, tile: Type, permutation: tuple[int, ...], relayout: bool) -> None:
    """Check a copy from a tile to a tile (rows, columns)."""
    source_shape, shape = shape_of(source), shape_of(tile)
    if len(source_shape) != 2:
        raise Invalid(f"copies from a tile (rows, columns), not {list(source_shape)}; take a stage")
    source_element, element = (str(tensor_of(type_).element_type) for type_ in (source, tile))
    if not all(_has_whole_bytes(type_) for type_ in (source, tile)):
        raise Invalid(
            f"copies a tile of {source_element} to a tile of {element}; expected elements of 8 "
            "bits or more"
        )
    if tile_element(source) != tile_element(tile) and not {source_element, element} <= _BYTES:
        raise Invalid(f"copies a tile of {source_element} to a tile of {element}")
    expected = tuple(shape[permutation.index(dim)] for dim in range(2))
    if source_shape != expected:
        raise Invalid(
            f"copies a tile of {'x'.join(map(str, source_shape))} to a tile of "
            f"{'x'.join(map(str, shape))}{_permutation_text(permutation)}; take an smem.subtile of "
            f"{'x'.join(map(str, expected))}"
        )
    source_layout, layout = layout_of(source), layout_of(tile)
    if source_layout and layout:
        problem = TileCopy(permutation, relayout, 128).transfer(source_layout).problem(layout)
        if problem:
            raise Invalid(problem)


def _check_elements(source: Type, tile: Type, asynchronous: bool) -> None:
    """Check that the elements of a memref are those of a tile, or are converted to them by the copy."""
    source_element, element = str(source.element_type), str(tensor_of(tile).element_type)
    if tile_element(tile).padding:
        raise Invalid(
            f"copies to a tile of {element}, whose elements are padded; only smem.tma_load pads them"
        )
    if is_packed(tile):
        if source_element not in _BYTES:
            bits = "bit" if packing_factor(tile) == 8 else "bits"
            raise Invalid(
                f"copies {source_element} to a tile of {element}; expected i8, whose bytes hold "
                f"{packing_factor(tile)} elements each, the first in the lowest {bits}"
            )
        return
    if source_element == "tf32":
        raise Invalid(
            "copies tf32, which no memory holds; expected f32, which the copy rounds to tf32"
        )
    if (
        element_of(source.element_type) != tile_element(tile)
        and not {source_element, element} <= _BYTES
    ):
        raise Invalid(f"copies {source_element} to a tile of {element}")
    if rounds(source, tile) and asynchronous:
        raise Invalid(
            "copies f32 to a tile of tf32, which needs rounding; use smem.copy, which rounds, or a "
            "tile of f32 and the attribute truncate of smem.mma"
        )


def _has_whole_bytes(tile: Type) -> bool:
    """Whether elements of a tile occupy whole bytes, without padding."""
    return not (is_packed(tile) or tile_element(tile).padding)


def is_packed(tile: Type) -> bool:
    """Whether elements of a tile share bytes."""
    return tile_element(tile).bits < 8


def packing_factor(tile: Type) -> int:
    """The number of tile elements in an element of the memref; 1 for padded elements."""
    return 8 // tile_element(tile).bits if is_packed(tile) else 1


def _source_shape(source: Type, tile: Type, permutation: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the memref for a tile; elements are packed along its contiguous dimension."""
    contiguous, shape = contiguous_dim(source), shape_of(tile)
    extents = [shape[permutation.index(dim)] for dim in range(2)]
    extents[contiguous] //= packing_factor(tile)
    return tuple(extents)


def rounds(source: Type, tile: Type) -> bool:
    """Whether a copy rounds f32 to tf32."""
    shaped = tensor_of(source) if isinstance(source, TileType) else source
    return str(shaped.element_type) == "f32" and str(tensor_of(tile).element_type) == "tf32"


@builder
def copy(
    source: TileOrMemref,
    tile: Tile,
    permutation: Sequence[int] | None = None,
    relayout: bool = False,
) -> None:
    """Build an `smem.copy` of the memref or tile `source` to `tile`.

    Args:
        source: the memref or tile.
        tile: the destination tile.
        permutation: [1, 0] to exchange rows and columns.
        relayout: whether the copy may change which dimension is contiguous.

    Example:
        >>> smem.copy(A, a)
        >>> smem.copy(B, b, permutation=(1, 0))  # b is the transposed B
    """
    create(CopyOp, [source, tile], permutation=permutation, relayout=relayout)


@builder
def copy_async(source: Memref, tile: Tile, permutation: Sequence[int] | None = None) -> None:
    """Build an `smem.copy_async` of the memref `source` to `tile`; see `copy`.

    Args:
        source: a memref in global memory.
        tile: the destination tile.
        permutation: [1, 0] to exchange rows and columns.

    Example:
        >>> smem.copy_async(A, a)
        >>> smem.copy_commit()
        >>> smem.copy_wait()
    """
    create(CopyAsyncOp, [source, tile], permutation=permutation)
