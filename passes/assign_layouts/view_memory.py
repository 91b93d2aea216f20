"""Limits of the memory of an `smem.view`: its size, and the alignment of its first byte."""

from ...bindings.diagnostics import format_location
from ...bindings.mlir import ir
from ...dialect.ops import AllocationOp, ViewOp
from ...dialect.types import layout_of
from ...ir.errors import OpError
from ...ir.kernel import function_of
from ...ir.view_memory import Memory, declaration_of, memory_of
from ...layout.uses import MemoryUse


def memory_uses(allocation: AllocationOp) -> list[MemoryUse]:
    """Return the memory of a view without a layout, as a use; an empty list for other ops.

    The verifier of the view checks a layout in its type.

    Raises:
        OpError: if nothing is known of the alignment of the memory.
    """
    if not isinstance(allocation, ViewOp) or layout_of(allocation.tile.type) is not None:
        return []
    description = f"the memory {allocation.memref.type}"
    return [MemoryUse(description, allocation.memref_bytes, _alignment(allocation))]


def _alignment(view: ViewOp) -> int | None:
    """Return a number that divides the address of a view's memory, in bytes.

    None means that `smem-allocate` aligns the memory as the layout needs.
    """
    asserted = view.asserted_alignment
    if asserted is not None:
        return asserted
    memory = memory_of(view.memref)
    if memory.shift is None or declaration_of(memory, function_of(view)) is None:
        raise OpError(
            view,
            f"has #smem.auto over {view.memref.type}, {_origin(memory)}, whose alignment is not known; "
            "give alignment = N : i64, in bytes: 1024 allows every swizzle, 16 none",
        )
    return memory.shift & -memory.shift or None


def _origin(memory: Memory) -> str:
    """Describe a memory of unknown alignment."""
    owner = memory.base.owner
    if isinstance(owner, ir.Block):
        base = f"an argument of '{owner.owner.operation.name}'"
    else:
        where = format_location(owner.location)
        base = f"the result of '{owner.operation.name}' at {where}"
    return base if memory.shift is not None else f"at a run-time offset in {base}"
