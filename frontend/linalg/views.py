"""Memrefs of a host's program as the arrays that a kernel takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...layout.elements import UNIT_BYTES
from ...runtime.arguments import DTYPES
from .loops import Group

#: A number of elements: known, or a value of the host's program.
Extent = int | Value

_DYNAMIC = ir.ShapedType.get_dynamic_size()
_DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


def index(extent: Extent) -> Value:
    """Return an extent as a value."""
    return emit.constant(extent, ir.IndexType.get()) if isinstance(extent, int) else extent


def times(left: Extent, right: Extent) -> Extent:
    """Return the product of extents, emitted if one is a value."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if isinstance(left, int):
        left, right = right, left
    return emit.binary("muli", left, right)


def ceildiv(extent: Extent, by: int) -> Extent:
    """Return an extent divided by a number, rounded up."""
    if isinstance(extent, int):
        return -(-extent // by)
    return extent if by == 1 else emit.binary("ceildivui", extent, index(by))


def allocated(sizes: Sequence[Extent], like: Type) -> Value:
    """Emit the allocation of a contiguous memref, and return it."""
    shape = [size if isinstance(size, int) else _DYNAMIC for size in sizes]
    dynamic = [size for size in sizes if not isinstance(size, int)]
    return emit.value(
        "memref.alloc",
        dynamic,
        ir.MemRefType.get(shape, like.element_type),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(dynamic), 0]),
    )


def filled(memory: Value, type_: Type) -> Value:
    """Return memory that a kernel has written as a tensor."""
    unit = ir.UnitAttr.get()
    return emit.value("bufferization.to_tensor", (memory,), type_, restrict=unit, writable=unit)


@dataclass(frozen=True)
class Buffer:
    """A memref, with the loop of a contraction for each of its dimensions.

    Attributes:
        memref: the value.
        loops: by dimension.
        sizes, strides: by dimension, in elements.
    """

    memref: Value
    loops: tuple[int, ...]
    sizes: tuple[Extent, ...]
    strides: tuple[Extent, ...]

    @staticmethod
    def of(memref: Value, loops: tuple[int, ...]) -> Buffer:
        """Return the buffer of a memref; what is dynamic is read from it."""
        type_ = ir.MemRefType(memref.type)
        sizes: list[Extent] = [
            emit.value("memref.dim", (memref, index(at)), ir.IndexType.get())
            if size == _DYNAMIC
            else size
            for at, size in enumerate(type_.shape)
        ]
        if type_.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank)):
            strides: list[Extent] = [1] * type_.rank
            for at in range(type_.rank - 2, -1, -1):
                strides[at] = times(strides[at + 1], sizes[at + 1])
            return Buffer(memref, loops, tuple(sizes), tuple(strides))
        known, _ = type_.get_strides_and_offset()
        strides = list(known)
        if _DYNAMIC_STRIDE in known:
            base = ir.MemRefType.get([], type_.element_type, memory_space=type_.memory_space)
            each = [ir.IndexType.get()] * (1 + 2 * type_.rank)
            found = emit.op("memref.extract_strided_metadata", (memref,), [base, *each]).results
            read = list(found)[2 + type_.rank :]
            strides = [
                value if stride == _DYNAMIC_STRIDE else stride
                for value, stride in zip(read, known, strict=True)
            ]
        return Buffer(memref, loops, tuple(sizes), tuple(strides))

    @property
    def item_bytes(self) -> int:
        """The bytes of an element."""
        return DTYPES[str(self.memref.type.element_type)].itemsize

    def size(self, group: Group) -> Extent:
        """Return the extent of a dimension that loops count up."""
        found: Extent = 1
        for loop in group:
            found = times(found, self.sizes[self.loops.index(loop)])
        return found

    def stride(self, group: Group) -> Extent:
        """Return the elements between neighbours along a dimension; of one of extent 1, those of a row
        that begins at a multiple of 16 bytes."""
        if group:
            return self.strides[self.loops.index(group[-1])]
        unit = UNIT_BYTES // self.item_bytes
        elements: Extent = 1
        for size in self.sizes[-1:]:
            elements = size
        return times(ceildiv(elements, unit), unit)

    def view(self, dims: Sequence[Group], type_: Type) -> Value:
        """Return the memref of a kernel's parameter.

        Args:
            dims: its dimensions.
            type_: its type.
        """
        target = ir.MemRefType(type_)
        sizes = [self.size(group) for group in dims]
        strides = [self.stride(group) for group in dims]
        if len(dims) == 1 and not dims[0]:
            strides = [1]
        known_strides, _ = target.get_strides_and_offset()
        dynamic_sizes = [
            index(size)
            for size, known in zip(sizes, target.shape, strict=True)
            if known == _DYNAMIC
        ]
        dynamic_strides = [
            index(stride)
            for stride, known in zip(strides, known_strides, strict=True)
            if known == _DYNAMIC_STRIDE
        ]
        counts = [1, 0, len(dynamic_sizes), len(dynamic_strides)]
        return emit.value(
            "memref.reinterpret_cast",
            [self.memref, *dynamic_sizes, *dynamic_strides],
            type_,
            static_offsets=ir.DenseI64ArrayAttr.get([0]),
            static_sizes=ir.DenseI64ArrayAttr.get(list(target.shape)),
            static_strides=ir.DenseI64ArrayAttr.get(list(known_strides)),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get(counts),
        )
