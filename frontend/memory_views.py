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
    """Return the ops from the memref that owns memory to a view of it."""
    found: list[Op] = []
    while not isinstance(memref.owner, ir.Block) and memref.owner.operation.name in _VIEWS:
        found.insert(0, memref.owner.operation)
        memref = found[0].operands[0]
    return found


def viewed(views: Sequence[Op], memref: Value) -> Value:
    """Emit the same views of another memref, and return the last one."""
    for view in views:
        made = view.clone().operation
        made.operands[0] = memref
        memref = made.results[0]
    return memref
