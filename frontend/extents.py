"""Numbers of elements in a program of the host: static, or values."""

from __future__ import annotations

from collections.abc import Iterable

from ..bindings.irtypes import Value
from ..bindings.mlir import ir
from ..ir import emit

#: A number of elements: static, or a value of the host's program.
Extent = int | Value


def index(extent: Extent) -> Value:
    """Return an extent as a value."""
    return emit.constant(extent, ir.IndexType.get()) if isinstance(extent, int) else extent


def times(left: Extent, right: Extent) -> Extent:
    """Return the product of extents, emitted if one is a value."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if isinstance(left, int):
        return times(right, left)
    return emit.binary("muli", left, right)


def ceildiv(extent: Extent, by: int) -> Extent:
    """Return an extent divided by a number, rounded up."""
    if isinstance(extent, int):
        return -(-extent // by)
    return extent if by == 1 else emit.binary("ceildivui", extent, index(by))


def floordiv(extent: Extent, by: int) -> Extent:
    """Return an extent divided by a number, rounded down."""
    if isinstance(extent, int):
        return extent // by
    return extent if by == 1 else emit.binary("divui", extent, index(by))


def minimum(extent: Extent, most: int) -> Extent:
    """Return the smaller one of an extent and a number."""
    if isinstance(extent, int):
        return min(extent, most)
    return emit.binary("minui", extent, index(most))


def product(extents: Iterable[Extent]) -> Extent:
    """Return the product of extents, emitted if one is a value."""
    total: Extent = 1
    for extent in extents:
        total = times(total, extent)
    return total


def extents_of(memref: Value) -> list[Extent]:
    """Return the extents of a memref; emit ops for dynamic ones."""
    dynamic = ir.ShapedType.get_dynamic_size()
    return [
        emit.value("memref.dim", (memref, index(dim)), ir.IndexType.get())
        if extent == dynamic
        else extent
        for dim, extent in enumerate(memref.type.shape)
    ]
