"""Upstream's tensor maps that fill memory which a tile views: their boxes must fit the tile's layout."""

from collections.abc import Iterator

from ..bindings.diagnostics import Invalid, format_location
from ..bindings.irtypes import Op, Value
from ..dialect.elements import element_of
from ..dialect.ops import ViewOp
from ..dialect.types import layout_of
from ..ir.errors import OpError
from ..ir.nvgpu import tensor_map_type
from ..layout.modes import LayoutError
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import tensor_box
from ..layout.tensor_map import tensor_map

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
    if len(layout.shape) == 3:
        layout = layout.stage(0).layout
    for load in _loads(view.memref):
        try:
            box, fits = tensor_box(layout), tensor_map(layout).nvgpu_type()
        except LayoutError:
            # Whole boxes do not fill the tile, or upstream's type cannot say their map.
            return
        try:
            fields = tensor_map_type(load.operands[2].type)
            given = fields.tensor.shape[-1] * element_of(fields.tensor.element_type).bits
        except Invalid as error:
            raise OpError(load, str(error)) from None
        line = box.shape[box.contiguous] * layout.element.bits
        # Where a single line without a swizzle begins, the host says.
        alone = set(fields.tensor.shape[:-1]) == {1} and layout.swizzle is Swizzle.NONE
        if fields.swizzle is not box.swizzle or (given != line and not alone):
            raise OpError(
                load,
                f"fills the {view.OPERATION_NAME} at {format_location(view.location)} with lines of "
                f"{given // 8} bytes and the swizzle {fields.swizzle}; its layout has lines of "
                f"{line // 8} bytes and the swizzle {box.swizzle}: expected {fits}",
            )


def _loads(memref: Value) -> Iterator[Op]:
    """Yield the bulk copies to a memref or to parts of it."""
    for use in memref.uses:
        op = use.owner.operation
        if op.name == _LOAD and op.operands[0] == memref:
            yield op
        elif op.name in _PARTS:
            yield from _loads(op.results[0])
