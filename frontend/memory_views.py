"""Views of memrefs: ops whose result is a part of their first operand's memory."""

from __future__ import annotations

from collections.abc import Sequence

from ..bindings.irtypes import Op, Value
from ..bindings.mlir import ir

_VIEWS = (
    *("memref.cast", "memref.subview", "memref.reinterpret_cast", "memref.transpose"),
    *("memref.expand_shape", "memref.collapse_shape", "memref.memory_space_cast"),
)


def views_of(memref: Value) -> list[Op]:
    """Return the view ops from the memref that owns memory to a view of it."""
    views: list[Op] = []
    while not isinstance(memref.owner, ir.Block) and memref.owner.operation.name in _VIEWS:
        views.insert(0, memref.owner.operation)
        memref = views[0].operands[0]
    return views


def clone_views(views: Sequence[Op], memref: Value) -> Value:
    """Emit the same views of another memref, and return the last view."""
    for view in views:
        clone = view.clone().operation
        clone.operands[0] = memref
        memref = clone.results[0]
    return memref
