"""Memrefs of a host's program as arguments of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ir
from ...dialect.memrefs import has_identity_layout
from ...ir import emit
from ...layout.elements import UNIT_BYTES
from ...runtime.arguments import DTYPES
from ..extents import Extent, ceildiv, extents_of, index, product, times
from .gemm_dims import Group
from .generic import RESHAPES, owner, terminator

#: Ops whose results are memory of their own.
_ALLOCATED = ("tensor.empty", "tensor.pad", "tensor.generate", "bufferization.alloc_tensor")

_DYNAMIC = ir.ShapedType.get_dynamic_size()
_DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


def allocate(sizes: Sequence[Extent], like: Type) -> Value:
    """Emit the allocation of a contiguous memref, and return it."""
    shape = [size if isinstance(size, int) else _DYNAMIC for size in sizes]
    dynamic = [size for size in sizes if not isinstance(size, int)]
    return emit.value(
        "memref.alloc",
        dynamic,
        ir.MemRefType.get(shape, like.element_type),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(dynamic), 0]),
    )


def memory_of(tensor: Value) -> Value:
    """Emit the read-only, contiguous memory of a tensor, and return it; a copy, if need be.

    Upstream takes a memref of dynamic strides for a contiguous one, such as that of a slice whose
    extents are dynamic. It copies one whose static strides say that it is not.
    """
    if not _is_contiguous(tensor):
        segments = ir.DenseI32ArrayAttr.get([0, 1, 0])
        tensor = emit.value(
            "bufferization.alloc_tensor", (tensor,), tensor.type, operandSegmentSizes=segments
        )
    type_ = ir.MemRefType.get(tensor.type.shape, tensor.type.element_type)
    return emit.value("bufferization.to_buffer", (tensor,), type_, read_only=ir.UnitAttr.get())


def _is_contiguous(tensor: Value) -> bool:
    """Whether a tensor's memory is contiguous, or has static strides that say that it is not."""
    if tensor.type.has_static_shape:
        return True
    op = owner(tensor)
    if op is None:
        return tensor.owner.owner.operation.name == "func.func"
    if op.name in RESHAPES:
        return _is_contiguous(op.operands[0])
    if op.name == "bufferization.to_tensor":
        return has_identity_layout(ir.MemRefType(op.operands[0].type))
    if op.name == "tensor.insert_slice":
        return _is_contiguous(op.operands[1])
    if op.name == "scf.if":
        ends = [terminator(region.blocks[0]) for region in op.regions]
        return all(_is_contiguous(end.operands[tensor.result_number]) for end in ends)
    if op.name.startswith("linalg."):
        outputs = list(op.operands)[-len(op.results) :]
        return _is_contiguous(outputs[tensor.result_number])
    return op.name in _ALLOCATED


def as_tensor(memory: Value, type_: Type) -> Value:
    """Emit the tensor of memory that a kernel has written, and return it.

    Nothing else may write the memory: where a later launch reads the tensor, upstream folds that to the
    memory, which bufferization then does not see.
    """
    return emit.value("bufferization.to_tensor", (memory,), type_, restrict=ir.UnitAttr.get())


@dataclass(frozen=True)
class StridedMemRef:
    """A memref, its sizes and strides, and the loop of a contraction that indexes each dimension.

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
    def of(memref: Value, loops: tuple[int, ...]) -> StridedMemRef:
        """Read the sizes and strides of a memref; emit ops for dynamic ones."""
        type_ = ir.MemRefType(memref.type)
        sizes = extents_of(memref)
        if has_identity_layout(type_):
            strides: list[Extent] = [1] * type_.rank
            for dim in range(type_.rank - 2, -1, -1):
                strides[dim] = times(strides[dim + 1], sizes[dim + 1])
            return StridedMemRef(memref, loops, tuple(sizes), tuple(strides))
        static_strides, _ = type_.get_strides_and_offset()
        strides = list(static_strides)
        if _DYNAMIC_STRIDE in static_strides:
            base = ir.MemRefType.get([], type_.element_type, memory_space=type_.memory_space)
            index_types = [ir.IndexType.get()] * (1 + 2 * type_.rank)
            metadata = emit.op(
                "memref.extract_strided_metadata", (memref,), [base, *index_types]
            ).results
            dynamic_strides = list(metadata)[2 + type_.rank :]
            strides = [
                value if stride == _DYNAMIC_STRIDE else stride
                for value, stride in zip(dynamic_strides, static_strides, strict=True)
            ]
        return StridedMemRef(memref, loops, tuple(sizes), tuple(strides))

    @staticmethod
    def allocate(
        sizes: Sequence[Extent], like: Type, loops: tuple[int, ...], row: int
    ) -> StridedMemRef:
        """Emit the allocation of a copy; for `row`, see `ArrayAccess`."""
        outer, inner = sizes[: len(sizes) - row], sizes[len(sizes) - row :]
        if not row:
            return StridedMemRef.of(allocate(sizes, like), loops)
        unit = UNIT_BYTES // DTYPES[str(like.element_type)].itemsize
        length = times(ceildiv(product(inner), unit), unit)
        strides: list[Extent] = [1]
        for dim in range(len(sizes) - 1, 0, -1):
            is_row = dim == len(outer)
            strides.insert(0, length if is_row else times(strides[0], sizes[dim]))
        return StridedMemRef(allocate([*outer, length], like), loops, tuple(sizes), tuple(strides))

    def elements(self) -> Value:
        """Emit the memref with a dimension for each loop, and return it."""
        shape = [size if isinstance(size, int) else _DYNAMIC for size in self.sizes]
        layout = ir.StridedLayoutAttr.get(0, [_DYNAMIC_STRIDE] * len(shape))
        type_ = ir.MemRefType.get(shape, self.memref.type.element_type, layout)
        return self.view([(loop,) for loop in self.loops], type_)

    @property
    def item_bytes(self) -> int:
        """The bytes of an element."""
        return DTYPES[str(self.memref.type.element_type)].itemsize

    def size(self, group: Group) -> Extent:
        """Return the extent of a dimension that consists of loops."""
        return product(self.sizes[self.loops.index(loop)] for loop in group)

    def stride(self, group: Group) -> Extent:
        """Return the stride of a dimension, in elements.

        Without loops, the extent is 1, and the stride is that of a row padded to 16 bytes.
        """
        if group:
            return self.strides[self.loops.index(group[-1])]
        unit = UNIT_BYTES // self.item_bytes
        elements: Extent = 1
        for size in self.sizes[-1:]:
            elements = size
        return times(ceildiv(elements, unit), unit)

    def view(self, dims: Sequence[Group], type_: Type) -> Value:
        """Emit the view that a kernel's parameter has, and return it.

        Args:
            dims: the parameter's dimensions.
            type_: the parameter's type.
        """
        target = ir.MemRefType(type_)
        sizes = [self.size(group) for group in dims]
        strides = [self.stride(group) for group in dims]
        if len(dims) == 1 and not dims[0]:
            strides = [1]
        known_strides, _ = target.get_strides_and_offset()
        dynamic_sizes = [
            index(size)
            for size, static in zip(sizes, target.shape, strict=True)
            if static == _DYNAMIC
        ]
        dynamic_strides = [
            index(stride)
            for stride, static in zip(strides, known_strides, strict=True)
            if static == _DYNAMIC_STRIDE
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
