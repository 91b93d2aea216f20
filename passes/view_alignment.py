"""Alignment of the memory that an `smem.view` names."""

from ..bindings.diagnostics import format_location
from ..dialect.ops import ViewOp
from ..dialect.types import layout_of
from ..ir.errors import OpError
from ..ir.kernel import function_of
from ..ir.view_memory import DYNAMIC_ALIGNMENT, declaration_of, memory_of


def align_memory(view: ViewOp) -> None:
    """Give the declaration of a view's memory the alignment that the view promises.

    Memory that the function does not declare, such as an argument, is not changed.

    Raises:
        OpError: if the view has no layout, or begins at an offset in that memory that is not aligned so.
    """
    if layout_of(view.tile.type) is None:
        raise OpError(view, "has no layout; run smem-assign-layouts before")
    memory, promised, function = memory_of(view.memref), view.alignment, function_of(view)
    declared = declaration_of(memory, function)
    if declared is None and not memory.is_dynamic:
        return
    if memory.shift is not None and memory.shift % promised:
        owner = view.memref.owner.operation
        raise OpError(
            view,
            f"names memory {memory.shift} bytes behind its beginning (by the {owner.name} at "
            f"{format_location(owner.location)}), which is not a multiple of {promised}; move it to "
            f"{-(-memory.shift // promised) * promised}, or promise another alignment",
        )
    if memory.is_dynamic and promised > DYNAMIC_ALIGNMENT:
        raise OpError(
            view,
            f"promises alignment {promised}, but dynamic shared memory is aligned to "
            f"{DYNAMIC_ALIGNMENT} bytes",
        )
    if declared is not None and declared.alignment % promised:
        declared.align(promised)
