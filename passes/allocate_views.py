"""The memory of an `smem.view`, for `smem-allocate`: its alignment, and the boxes that fill it."""

from collections.abc import Iterator

from ..bindings.diagnostics import Invalid, format_location
from ..bindings.irtypes import Op, Value
from ..dialect.elements import element_of
from ..dialect.ops import ViewOp
from ..dialect.types import layout_of
from ..ir.errors import OpError
from ..ir.kernel import function_of
from ..ir.nvgpu import tensor_map_type
from ..ir.view_memory import DYNAMIC_ALIGNMENT, declaration_of, memory_of
from ..layout.modes import LayoutError
from ..layout.swizzle import Swizzle
from ..layout.tensor_box import tensor_box
from ..layout.tensor_map import tensor_map

_LOAD = "nvgpu.tma.async.load"

#: Ops whose result is a part of a memref with the same layout.
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


def align_memory(view: ViewOp) -> None:
    """Give the declaration of a view's memory the alignment of the view, in bytes.

    Memory that the function does not declare, such as an argument, is not changed.

    Raises:
        OpError: if the view has no layout, or begins at an offset in that memory with less alignment.
    """
    if layout_of(view.tile.type) is None:
        raise OpError(view, "has no layout; run smem-assign-layouts before")
    memory, alignment, function = memory_of(view.memref), view.alignment, function_of(view)
    declaration = declaration_of(memory, function)
    if declaration is None and not memory.is_dynamic:
        return
    if memory.shift is not None and memory.shift % alignment:
        owner = view.memref.owner.operation
        raise OpError(
            view,
            f"names memory {memory.shift} bytes behind its beginning (by the {owner.name} at "
            f"{format_location(owner.location)}), which is not a multiple of {alignment}; move it to "
            f"{-(-memory.shift // alignment) * alignment}, or promise another alignment",
        )
    if memory.is_dynamic and alignment > DYNAMIC_ALIGNMENT:
        raise OpError(
            view,
            f"promises alignment {alignment}, but dynamic shared memory is aligned to "
            f"{DYNAMIC_ALIGNMENT} bytes",
        )
    if declaration is not None and declaration.alignment % alignment:
        declaration.align(alignment)


def check_tensor_maps(view: ViewOp) -> None:
    """Check the tensor maps that fill the memref of a view, or parts of it.

    The swizzle and the length of a box's lines are compared: they do not depend on where a box is. If
    other tiles view the same memref, a map may be meant for one of these, and is not checked.

    Raises:
        OpError: if a copy writes lines that the layout does not have.
    """
    views = [use.owner for use in view.memref.uses if isinstance(use.owner, ViewOp)]
    layout = layout_of(view.tile.type)
    if len(views) > 1 or layout is None:
        return
    if len(layout.shape) == 3:
        layout = layout.stage(0).layout
    for load in _loads(view.memref):
        try:
            box, expected_map = tensor_box(layout), tensor_map(layout).nvgpu_type()
        except LayoutError:
            # Whole boxes do not fill the tile, or upstream's type cannot express their map.
            return
        try:
            fields = tensor_map_type(load.operands[2].type)
            line_of_map = fields.tensor.shape[-1] * element_of(fields.tensor.element_type).bits
        except Invalid as error:
            raise OpError(load, str(error)) from None
        line_of_layout = box.shape[box.contiguous] * layout.element.bits
        # The host decides where a single line without a swizzle begins.
        is_one_line = set(fields.tensor.shape[:-1]) == {1} and layout.swizzle is Swizzle.NONE
        if fields.swizzle is not box.swizzle or (line_of_map != line_of_layout and not is_one_line):
            raise OpError(
                load,
                f"fills the {view.OPERATION_NAME} at {format_location(view.location)} with lines of "
                f"{line_of_map // 8} bytes and the swizzle {fields.swizzle}; its layout has lines of "
                f"{line_of_layout // 8} bytes and the swizzle {box.swizzle}: expected {expected_map}",
            )


def _loads(memref: Value) -> Iterator[Op]:
    """Yield the bulk copies to a memref or to parts of it."""
    for use in memref.uses:
        op = use.owner.operation
        if op.name == _LOAD and op.operands[0] == memref:
            yield op
        elif op.name in _PARTS:
            yield from _loads(op.results[0])
