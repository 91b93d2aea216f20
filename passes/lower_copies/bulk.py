"""Bulk tensor copies (TMA): each box of a tile is copied by one instruction of one thread."""

from collections.abc import Iterable

from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.ops import TmaLoadOp, TmaStoreOp
from ...dialect.ops.copy import packing_factor
from ...dialect.ops.pipeline import pipeline_of
from ...dialect.ops.scale_blocks import holds_scale_blocks
from ...ir import emit
from ...ir.cluster import cta_rank, ctas_along, multicast_mask
from ...ir.errors import OpError
from ...ir.shared_memory import allocation_multiple, gep
from ...ir.subtiles import IndexSum, Subtile, subtile_from
from ...ir.tile_address import TileAddress
from ...layout import Slice
from ...layout.tensor_box import TensorBox, check_start, least_alignment, share_of, tensor_box
from .lowerings import LOWERINGS, TensorMaps
from .scale_factors import load_scale_blocks
from .synchronization import PipelineState

#: The cache policy that applies to all accesses of a copy (fraction 1.0).
_POLICY = "createpolicy.fractional.L2::{}.b64 $0, 1.0;"


@LOWERINGS.of(TmaLoadOp)
def lower_load(op: TmaLoadOp, maps: TensorMaps) -> None:
    """Emit an `smem.tma_load`: `expect_tx` with the bytes, then one copy of each box.

    Raises:
        OpError: if TMA cannot copy the tile.
    """
    source, tile = op.source, op.tile
    subtile = subtile_from(tile, op)
    layout = subtile.slice.layout
    full = PipelineState(pipeline_of(op), op.index).full()
    size = layout.element.bytes(layout.shape[0] * layout.shape[1])
    emit.op("nvvm.mbarrier.expect_tx", (full, emit.constant(size, emit.i32())))
    if holds_scale_blocks(source.type):
        load_scale_blocks(op, subtile, full, _hints(op))
        return
    dim = op.multicast
    coordinates = _coordinates(op.coordinates)
    if dim is None:
        box, start, masks = tensor_box(layout), _start(op, subtile), ()
    else:
        share = share_of(layout, ctas_along(op, dim))
        first = (cta_rank(dim) * share.extent).value
        share_of_cta = _subtile_of_share(subtile, share.dim, share.extent, share.subtile, first)
        box, start, masks = share.box, _start(op, share_of_cta), (multicast_mask(op, dim),)
        axis = len(coordinates) - 2 + share.dim
        step = emit.binary("divui", first, _packed_elements(tile, share.dim, box))
        coordinates[axis] = emit.binary("addi", coordinates[axis], step)
    pointer = maps.of(op, source, tile, box)
    hints = _hints(op)
    cluster = emit.pointer(7)
    for position, offset in zip(box.places, box.offsets, strict=True):
        target = gep(start, layout.element.bytes(offset))
        target = emit.value("llvm.addrspacecast", (target,), cluster)
        box_coordinates = _box_coordinates(source.type, tile, coordinates, position, box)
        # Operands: destination, map, coordinates, mbarrier, im2col offsets, mask, hint, predicate.
        segments = [1, 1, len(box_coordinates), 1, 0, len(masks), len(hints), 0]
        emit.op(
            "nvvm.cp.async.bulk.tensor.shared.cluster.global",
            (target, pointer, *box_coordinates, full, *masks, *hints),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get(segments),
        )


def _subtile_of_share(
    subtile: Subtile, dim: int, extent: int, share: Slice, first: Value
) -> Subtile:
    """Return the share of a subtile that begins at element `first` along a dimension.

    Args:
        subtile: the subtile.
        dim: 0 for rows, 1 for columns.
        extent: a divisor of `first`, in elements.
        share: the share as a slice of the subtile.
        first: an i32 value.
    """
    position = IndexSum((first,))
    starts = (*subtile.starts, *(position for _ in share.terms))
    return Subtile(subtile.allocation, subtile.slice.then(share), starts, subtile.origin)


@LOWERINGS.of(TmaStoreOp)
def lower_store(op: TmaStoreOp, maps: TensorMaps) -> None:
    """Emit an `smem.tma_store`: one copy of each box.

    Raises:
        OpError: if TMA cannot copy the tile.
    """
    tile, target = op.tile, op.target
    subtile = subtile_from(tile, op)
    layout = subtile.slice.layout
    box, start, hints = tensor_box(layout), _start(op, subtile), _hints(op)
    pointer = maps.of(op, target, tile, box)
    coordinates = _coordinates(op.coordinates)
    for position, offset in zip(box.places, box.offsets, strict=True):
        source = gep(start, layout.element.bytes(offset))
        box_coordinates = _box_coordinates(target.type, tile, coordinates, position, box)
        segments = [1, 1, len(box_coordinates), len(hints), 0]
        emit.op(
            "nvvm.cp.async.bulk.tensor.global.shared.cta",
            (pointer, source, *box_coordinates, *hints),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get(segments),
        )


def _start(op: Op, subtile: Subtile) -> Value:
    """Return the pointer to the first byte of a subtile.

    Raises:
        LayoutError: if the subtile may begin inside a swizzle pattern.
        OpError: if its allocation may begin inside one.
    """
    address = TileAddress(subtile)
    check_start(subtile.slice)
    needed = least_alignment(subtile.slice.layout)
    multiple = allocation_multiple(subtile.allocation)
    if multiple % needed:
        raise OpError(
            op,
            f"copies a tile that begins at multiples of {multiple} bytes; TMA needs multiples of "
            f"{needed}",
        )
    return address.swizzled_pointer()


def _coordinates(values: Iterable[Value]) -> list[Value]:
    return [emit.cast_index(value, emit.i32()) for value in values]


def _packed_elements(tile: Value, dim: int, box: TensorBox) -> int:
    """Return the elements of the tile that one element of the memref holds, along a dimension."""
    return packing_factor(tile.type) if dim == box.contiguous else 1


def _box_coordinates(
    memref: Type, tile: Value, coordinates: list[Value], position: tuple[int, int], box: TensorBox
) -> list[Value]:
    """Return the coordinates of a box in the order of the tensor map: the contiguous dimension first."""
    leading = memref.rank - 2
    of_box = list(coordinates)
    for dim in (0, 1):
        distance = position[dim] // _packed_elements(tile, dim, box)
        of_box[leading + dim] = emit.binary("addi", of_box[leading + dim], distance)
    contiguous = of_box.pop(leading + box.contiguous)
    return [contiguous, *reversed(of_box)]


def _hints(op: Op) -> tuple[Value, ...]:
    """Return the cache policy (i64) of a copy, or no value if it has none."""
    cache = op.cache
    if cache is None:
        return ()
    policy = emit.value(
        "llvm.inline_asm",
        (),
        emit.i64(),
        asm_string=ir.StringAttr.get(_POLICY.format(cache)),
        constraints=ir.StringAttr.get("=l"),
    )
    return (policy,)
