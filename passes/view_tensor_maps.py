"""Upstream's tensor maps that fill memory which a tile views: their boxes must fit the tile's layout."""

from collections.abc import Iterator

from ..dialect.diagnostics import format_location
from ..dialect.elements import element_of
from ..dialect.irtypes import Op, Value
from ..dialect.ops import ViewOp
from ..dialect.types import layout_of
from ..ir.errors import OpError
from ..ir.nvgpu import TensorMapType, tensor_map_type
from ..layout.modes import LayoutError
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import TensorBox, tensor_box
from ..layout.tile import TileLayout

_LOAD = "nvgpu.tma.async.load"

#: Ops whose result is part of a memref: the host keeps one layout in a memref.
_PARTS = frozenset(
    {
        "memref.assume_alignment",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.memory_space_cast",
        "memref.subview",
    }
)


def check_tensor_maps(view: ViewOp) -> None:
    """Check the tensor maps that fill the memref of a view, or parts of it.

    The swizzle and the length of a box's lines are compared: they do not depend on where a box is. If
    other tiles view the same memref, a map may be meant for one of these, and is not checked.

    Raises:
        OpError: if a copy writes lines that the layout does not have.
    """
    others = [use.owner for use in view.memref.uses if isinstance(use.owner, ViewOp)]
    layout = layout_of(view.tile.type)
    if len(others) > 1 or layout is None:
        return
    loads = list(_loads(view.memref))
    box = _box(layout) if loads else None
    if box is None:
        return
    for load in loads:
        fields = tensor_map_type(load.operands[2].type)
        if not _fits(fields, box, layout):
            raise OpError(load, _message(view, fields, box, layout))


def _loads(memref: Value) -> Iterator[Op]:
    """Yield the bulk copies to a memref or to parts of it."""
    for use in memref.uses:
        op = use.owner.operation
        if op.name == _LOAD and op.operands[0] == memref:
            yield op
        elif op.name in _PARTS:
            yield from _loads(op.results[0])


def _box(layout: TileLayout) -> TensorBox | None:
    """Return the box that fills a tile, or a stage of it; None if there is none."""
    try:
        return tensor_box(layout.stage(0).layout if len(layout.shape) == 3 else layout)
    except LayoutError:
        return None


def _fits(fields: TensorMapType, box: TensorBox, layout: TileLayout) -> bool:
    same_line = _line_bits(fields) == box.shape[box.contiguous] * layout.element.bits
    # Where a single line without a swizzle begins, the host says.
    alone = (
        all(extent == 1 for extent in fields.tensor.shape[:-1]) and layout.swizzle is Swizzle.NONE
    )
    return fields.swizzle is box.swizzle and (same_line or alone)


def _line_bits(fields: TensorMapType) -> int:
    return fields.tensor.shape[-1] * element_of(fields.tensor.element_type).bits


def _message(view: ViewOp, fields: TensorMapType, box: TensorBox, layout: TileLayout) -> str:
    line = box.shape[box.contiguous]
    size, given = line * layout.element.bits // 8, _line_bits(fields) // 8
    return (
        f"fills the {view.OPERATION_NAME} at {format_location(view.location)} with lines of {given} "
        f"bytes and the swizzle {fields.swizzle}; its layout has lines of {size} bytes ({line} elements) "
        f"and the swizzle {box.swizzle}"
    )
