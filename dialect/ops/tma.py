"""`smem.tma_load` and `smem.tma_store`: TMA copies between global memory and a tile."""

from collections.abc import Sequence

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ext, ir
from ...layout import Arch
from ...layout.tcgen05 import ScaleUse
from ...layout.tensor_box import PADDED_ALIGNMENT, PADDED_BOX, TensorBox, tensor_box
from ...layout.uses import BulkUse, Use
from ..arguments import Index, Memref, Pipeline, Tile
from ..build import as_index, create
from ..builder import builder
from ..caching import cached_in_context
from ..divisibility import constant_of
from ..effects import Completion, Effects, Proxy, read, write
from ..memrefs import check_global, is_dynamic, strides_of
from ..op import SmemOp
from ..optional_attributes import string_attribute
from ..types import PipelineType, TileType, layout_of, shape_of, tensor_of, tile_element
from ..uses import Chooser, Path
from ..verifier import verifier
from .copy import is_packed, packing_factor
from .pipeline import pipeline_of
from .scale_blocks import check_block_load, holds_scale_blocks, reject_rows

#: Attribute: the dimension of the cluster along which CTAs load the same tile together.
MULTICAST = "multicast"

#: Attribute: the L2 eviction priority of the lines.
CACHE = "cache"

#: Values of `cache` (PTX ISA 9.7.9.15, createpolicy).
CACHE_HINTS = ("evict_first", "evict_last", "evict_normal")

#: Alignment of global addresses and strides of TMA, in bytes (CUDA driver API, cuTensorMapEncodeTiled).
GLOBAL_ALIGNMENT = 16

#: Values of `multicast`.
CLUSTER_DIMS = ("x", "y")


class BulkCopyOp(SmemOp):
    """A TMA copy from or to a tile."""

    @property
    def cache(self) -> str | None:
        """The L2 eviction priority; None if the attribute is absent.

        Raises:
            Invalid: if the attribute is not one of `CACHE_HINTS`.
        """
        return string_attribute(self, CACHE, CACHE_HINTS)


class TmaLoadOp(BulkCopyOp, name="tma_load"):
    """Starts a TMA copy of a box of `source`, a matrix in global memory, to `tile`
    (`cp.async.bulk.tensor`). The thread that executes the op issues the copy.

    `source` is an argument of the kernel. `coordinates` are the start of the box, one for each dimension
    of `source`, in elements; the rows and columns of the tile are its last two dimensions. Elements
    outside of the matrix are filled with zeros. The tensor map with its box and swizzle follows from the
    layout of the tile; the manifest tells the host what to encode. Along the contiguous dimension, the
    box begins at a multiple of 16 bytes; the chip traps at other starts.

    The bytes count for the stage of the pipeline index `index` of `pipeline`. The stage is full when they
    have arrived and its producers have committed. A tile of tf32 is loaded from f32; a tile of i1 or
    f4E2M1FN is loaded from i8, with eight or two elements to a byte.

    A tile of f6E2M3FN, f6E3M2FN or !smem.padded<f4E2M1FN> is loaded from i8 whose bytes hold the
    elements bit-packed, low bits first; the copy pads 16 elements to 16 bytes (sm_100 and sm_103). The
    copy moves lines of 128 elements, and the tile has swizzle 128B. Along the contiguous dimension, the
    coordinate counts elements of the tile and is a multiple of 128; the matrix is a multiple of 128
    elements and of 32 bytes.

    Scale factors are loaded from a memref of blocks, as for `smem.copy`, at two coordinates: the row and
    the factor at which a block begins. There is no tensor map, so any memref in global memory is
    allowed, but the box must be inside of it; and there is no `multicast`.

    `multicast = "x"` (or "y"): the CTAs of the cluster along x load the same box to the same tile. Each
    of them executes the op, loads its share, and multicasts it to all. `cache` is the L2 eviction
    priority: "evict_first", "evict_last" or "evict_normal".
    """

    source: ext.Operand[ir.MemRefType]
    tile: ext.Operand[TileType]
    pipeline: ext.Operand[PipelineType]
    index: ext.Operand[ir.IndexType]
    coordinates: Sequence[ext.Operand[ir.IndexType]]

    effects = Effects(
        accesses=(
            read("source", Proxy.ASYNC, Completion.MBARRIER),
            write("tile", Proxy.ASYNC, Completion.MBARRIER),
        )
    )

    @property
    def multicast(self) -> str | None:
        """The dimension of the cluster along which CTAs load the tile together; None without multicast.

        Raises:
            Invalid: if the attribute is not "x" or "y".
        """
        return string_attribute(self, MULTICAST, CLUSTER_DIMS)

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use:
        """The constraint on the layout of the tile.

        Raises:
            Invalid: if TMA of the architecture does not load such a tile.
        """
        label = f"the tma_load at {format_location(self.location)}"
        if holds_scale_blocks(self.source.type):
            return ScaleUse(label, path)
        _check_padding(self.tile, chooser)
        blocks = chooser.ctas_along(self, self.multicast)
        return BulkUse(label, _contiguous_dim(self.source), blocks, path)

    @verifier
    def verify_region_invariants(self) -> None:
        source, tile = self.source.type, self.tile.type
        pipeline_of(self)
        _check_attributes(self, (MULTICAST, CACHE))
        multicast = self.multicast
        if holds_scale_blocks(source):
            check_global(source, "loads from")
            check_block_load(source, tile, multicast, self.coordinates)
            return
        check_load(source, tile, len(self.coordinates))
        _check_coordinates(source, tile, self.coordinates, "loads")


class TmaStoreOp(BulkCopyOp, name="tma_store"):
    """Starts a TMA copy of `tile` to a box of `target`, a matrix in global memory. The thread that
    executes the op issues the copy.

    The rules of `smem.tma_load` for source, coordinates and tensor map apply to `target`, and no
    coordinate is negative. Elements outside of the matrix are not written, but whole units of 16 bytes
    are: if a line is not a multiple of 16 bytes, the bytes after it must be unused. The copy reads the
    tile through the async proxy: threads that wrote it must execute `smem.fence`, and a barrier must
    follow. `smem.tma_commit` closes the group of copies that the thread has started, and `smem.tma_wait`
    waits for groups.
    """

    tile: ext.Operand[TileType]
    target: ext.Operand[ir.MemRefType]
    coordinates: Sequence[ext.Operand[ir.IndexType]]

    effects = Effects(
        accesses=(
            read("tile", Proxy.ASYNC, Completion.BULK_GROUP),
            write("target", Proxy.ASYNC, Completion.BULK_GROUP),
        )
    )

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use:
        """The constraint on the layout of the tile.

        Raises:
            Invalid: if TMA of the architecture does not store such a tile.
        """
        _check_padding(self.tile, chooser)
        label = f"the tma_store at {format_location(self.location)}"
        return BulkUse(label, _contiguous_dim(self.target), 1, path, stores=True)

    @verifier
    def verify_region_invariants(self) -> None:
        tile, target = self.tile.type, self.target.type
        _check_attributes(self, (CACHE,))
        _check_elements(target, tile, "stores to")
        _check_matrix(target, len(self.coordinates), "stores to", False)
        _check_coordinates(target, tile, self.coordinates, "stores")
        _check_tile(target, tile, "stores")


def check_load(source: Type, tile: Type, coordinates: int) -> None:
    """Check that TMA can load boxes of an array to a tile, at so many coordinates.

    Raises:
        Invalid: if it cannot.
    """
    reject_rows(source, tile)
    _check_elements(source, tile, "loads from")
    _check_matrix(source, coordinates, "loads from", bool(tile_element(tile).padding))
    _check_tile(source, tile, "loads")


def _check_padding(tile: Value, chooser: Chooser) -> None:
    element, arch = tile_element(tile.type), chooser.arch
    if element.padding and not arch.tma_pads:
        padding_archs = " and ".join(str(a) for a in Arch if a.tma_pads)
        raise Invalid(f"loads {element}, which TMA of {arch} does not pad; {padding_archs} do")


def _contiguous_dim(memref: Value) -> int:
    """The dimension of a tile along the contiguous dimension of global memory."""
    return matrix_contiguous(memref.type) - (memref.type.rank - 2)


def _check_attributes(op: Op, names: tuple[str, ...]) -> None:
    for name in op.attributes:
        if name not in names and "." not in name:
            raise Invalid(f"has the attribute {name}; expected {' or '.join(names)}")
    _ = op.cache


@cached_in_context
def _check_matrix(memref: Type, coordinates: int, verb: str, padded: bool) -> None:
    """Check that a tensor map can describe a memref; `padded`: whether it pads the elements."""
    check_global(memref, verb)
    rank = memref.rank
    if not 2 <= rank <= 5:
        raise Invalid(f"{verb} {memref}; a tensor map has 2 to 5 dimensions, not {rank}")
    if coordinates != rank:
        raise Invalid(f"{verb} {memref} at {coordinates} coordinates; expected {rank}")
    strides, offset = strides_of(memref)
    if offset != 0:
        raise Invalid(f"{verb} {memref}, which has an offset; give the start by the coordinates")
    contiguous = matrix_contiguous(memref)
    bits, multiple = memref.element_type.width, PADDED_ALIGNMENT if padded else GLOBAL_ALIGNMENT
    for dim, stride in enumerate(strides):
        if dim != contiguous and not is_dynamic(stride) and stride * bits % (8 * multiple):
            raise Invalid(
                f"{verb} {memref}: the stride of {stride} elements is not a multiple of "
                f"{8 * multiple // bits} ({multiple} bytes), which TMA needs"
            )


def _check_coordinates(memref: Type, tile: Type, coordinates: Sequence[Value], verb: str) -> None:
    """Check the constant coordinates; run-time coordinates are not checked.

    Raises:
        Invalid: if the chip traps at one (measured on an H200).
    """
    contiguous = matrix_contiguous(memref)
    unit = 8 * GLOBAL_ALIGNMENT // memref.element_type.width
    unit_text = f"{GLOBAL_ALIGNMENT} bytes"
    if tile_element(tile).padding:
        unit, unit_text = PADDED_BOX, "what TMA pads at a time"
    for dim, value in enumerate(coordinates):
        number = constant_of(value)
        if number is None:
            continue
        if dim == contiguous and number % unit:
            raise Invalid(
                f"{verb} a box that begins at {number} along dimension {dim}, which is contiguous; "
                f"expected a multiple of {unit} elements ({unit_text})"
            )
        if verb == "stores" and number < 0:
            raise Invalid(
                f"stores to coordinate {number} along dimension {dim}; expected 0 or more"
            )


def matrix_contiguous(memref: Type) -> int:
    """Return the contiguous dimension of a memref, one of its last two.

    Raises:
        Invalid: if neither has the static stride 1.
    """
    strides, _ = strides_of(memref)
    for dim in (memref.rank - 1, memref.rank - 2):
        if strides[dim] == 1:
            return dim
    raise Invalid(
        f"takes {memref}, in which neither of the last two dimensions has the stride 1; TMA needs one, "
        "for example strided<[?, 1]>"
    )


@cached_in_context
def _check_elements(memref: Type, tile: Type, verb: str) -> None:
    memref_element, element = str(memref.element_type), str(tensor_of(tile).element_type)
    if tile_element(tile).padding:
        if verb == "stores to":
            raise Invalid(
                f"stores a tile of {element}, whose elements are padded; they are loaded only"
            )
        fits = memref_element == "i8"
        expected = f"i8, whose bytes hold elements of {tile_element(tile).packed_bits} bits, packed"
    elif is_packed(tile):
        fits, expected = (
            memref_element == "i8",
            f"i8, whose bytes hold {packing_factor(tile)} elements",
        )
    elif element == "tf32":
        fits, expected = memref_element == "f32", "f32"
    else:
        fits, expected = (
            memref_element == element or {memref_element, element} <= {"i8", "si8", "ui8"},
            element,
        )
    if not fits:
        raise Invalid(
            f"{verb} a memref of {memref_element}, with a tile of {element}; expected {expected}"
        )


@cached_in_context
def _check_tile(memref: Type, tile: Type, verb: str) -> None:
    shape = shape_of(tile)
    if len(shape) != 2:
        raise Invalid(f"{verb} a tile (rows, columns), not {list(shape)}; take a stage")
    layout = layout_of(tile)
    if layout is not None:
        check_box(tensor_box(layout), memref)


def check_box(box: TensorBox, memref: Type) -> None:
    """Check that a tile's box is contiguous along the contiguous dimension of global memory.

    Raises:
        Invalid: if it is not.
    """
    along = matrix_contiguous(memref) - (memref.rank - 2)
    if box.contiguous != along:
        names = ("column-major", "row-major")
        raise Invalid(
            f"the data in global memory is {names[along]}, but the tile is {names[box.contiguous]}; TMA "
            "moves lines as they are"
        )


def map_box(memref: Type, tile: Type, box: TensorBox) -> tuple[int, ...]:
    """Return the box extents of the tensor map, for each dimension of the memref.

    They are in elements of the memref; for padded elements, in elements of the tile.
    """
    extents = list(box.shape)
    extents[box.contiguous] //= packing_factor(tile)
    return (1,) * (memref.rank - 2) + tuple(extents)


@builder
def tma_load(
    source: Memref,
    tile: Tile,
    pipeline: Pipeline,
    index: Index,
    coordinates: Sequence[Index],
    multicast: str | None = None,
    cache: str | None = None,
) -> None:
    """Build an `smem.tma_load`.

    Args:
        source: a memref, an argument of the kernel.
        tile: the destination tile.
        pipeline, index: the pipeline, and the pipeline index whose stage the bytes count for.
        coordinates: the start of the box, for each dimension of the source.
        multicast: "x" or "y".
        cache: "evict_first", "evict_last" or "evict_normal".

    Example:
        >>> pipeline = smem.create_pipeline(stages=4)
        >>> smem.tma_load(A, a, pipeline, index=0, coordinates=(0, 0), cache="evict_first")
    """
    operands = [source, tile, pipeline, as_index(index), *map(as_index, coordinates)]
    create(TmaLoadOp, operands, multicast=multicast, cache=cache)


@builder
def tma_store(
    tile: Tile, target: Memref, coordinates: Sequence[Index], cache: str | None = None
) -> None:
    """Build an `smem.tma_store` of a tile to the memref `target`, an argument of the kernel.

    Args:
        tile: the tile, with elements of the target's type.
        target: a memref, an argument of the kernel.
        coordinates: the start of the box, for each dimension of the target, in elements.
        cache: "evict_first", "evict_last" or "evict_normal".

    Example:
        >>> smem.tma_store(a, A, coordinates=(0, 0))
    """
    create(TmaStoreOp, [tile, target, *map(as_index, coordinates)], cache=cache)
