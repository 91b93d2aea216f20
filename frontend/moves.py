"""Copies between memrefs of any strides, and fills, as kernels with a thread for each element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..bindings.irtypes import Type, Value
from ..bindings.mlir import gpu, ir
from ..dialect.build import i64
from ..ir import emit
from ..layout.elements import UNIT_BYTES
from ..runtime.arguments import DTYPES
from .extents import Extent, extents_of, index, product

_THREADS = 256

_UNKNOWN = ir.ShapedType.get_dynamic_size()


def move(source: Value, target: Value, permutation: Sequence[int]) -> None:
    """Emit a copy with the dimensions in another order, as a `gpu.launch`.

    Neighbouring threads write neighbours along the target's last dimension. Nothing is launched where
    there are no elements.

    Args:
        source, target: the memrefs.
        permutation: for each dimension of the target, that of the source.
    """
    sizes = extents_of(target)
    with if_not_empty(sizes) as has_elements:
        if has_elements:
            source_memory, target_memory = FlatMemRef(source), FlatMemRef(target)
            order = [list(permutation).index(dim) for dim in range(len(permutation))]
            with each_index(sizes) as indices:
                target_memory.store(source_memory.load([indices[dim] for dim in order]), indices)


def fill(target: Value, number: float) -> None:
    """Emit a fill with a number, as a `gpu.launch` unless there are no elements.

    Args:
        target: the memref.
        number: a float for a float type, an integer for an integer type.
    """
    sizes = extents_of(target)
    with if_not_empty(sizes) as has_elements:
        if has_elements:
            target_memory, element = FlatMemRef(target), target.type.element_type
            with each_index(sizes) as indices:
                target_memory.store(emit.constant(number, element), indices)


@contextmanager
def if_not_empty(sizes: Sequence[Extent]) -> Iterator[bool]:
    """Put the ops of the `with` block in an `scf.if`, unless it is known that no extent is 0.

    The value is false if one is known to be 0; the block must emit nothing then.
    """
    if all(isinstance(size, int) for size in sizes):
        yield 0 not in sizes
        return
    with emit.scf_if(emit.compare("ne", index(product(sizes)), 0)):
        yield True


@contextmanager
def each_index(sizes: Sequence[Extent], lanes: int = 1) -> Iterator[list[Value]]:
    """Emit a `gpu.launch` with `lanes` threads for each element of an array.

    The value is the indices of the thread's element, and its lane if there are several; the `with` block
    emits the thread's body.
    """
    all_sizes = [*sizes, lanes] if lanes > 1 else list(sizes)
    total = index(product(all_sizes))
    with launch(emit.binary("ceildivui", total, index(_THREADS)), _THREADS) as (block, thread, _):
        number = emit.binary("addi", emit.binary("muli", block, _THREADS), thread)
        with emit.scf_if(emit.compare("ult", number, total)):
            yield split_index(number, all_sizes)


@contextmanager
def launch(
    blocks: Value, threads: int, shared: Sequence[Type] = ()
) -> Iterator[tuple[Value, Value, list[Value]]]:
    """Emit a `gpu.launch` of blocks and threads along x, with memrefs in shared memory.

    The value is the block, the thread, and the memrefs; the `with` block emits the thread's body.
    """
    one, count = index(1), index(threads)
    # Tokens, grid and block; versions of MLIR differ in what follows.
    segments = len(gpu.LaunchOp._ODS_OPERAND_SEGMENTS)
    op = emit.op(
        "gpu.launch",
        (blocks, one, one, count, one, one),
        regions=1,
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([0, *[1] * 6, *[0] * (segments - 7)]),
        **({"workgroup_attributions": i64(len(shared))} if shared else {}),
    )
    block = op.regions[0].blocks.append(*[ir.IndexType.get()] * 12, *shared)
    with ir.InsertionPoint(block):
        yield block.arguments[0], block.arguments[3], list(block.arguments)[12:]
        emit.op("gpu.terminator")


def split_index(number: Value, sizes: Sequence[Extent]) -> list[Value]:
    """Emit the indices of an element by its number in the order of memory."""
    indices: list[Value] = []
    for size in reversed(sizes[1:]):
        indices.insert(0, emit.binary("remui", number, index(size)))
        number = emit.binary("divui", number, index(size))
    return [number, *indices] if sizes else []


class FlatMemRef:
    """The memory of a memref from offset 0 to its last element, as a memref with one dimension.

    A kernel takes no memref with an offset, so it computes addresses itself.
    """

    def __init__(self, memref: Value) -> None:
        type_ = ir.MemRefType(memref.type)
        self._element = type_.element_type
        index_type, rank = ir.IndexType.get(), type_.rank
        base = ir.MemRefType.get([], self._element, memory_space=type_.memory_space)
        metadata = emit.op(
            "memref.extract_strided_metadata", (memref,), [base, *[index_type] * (1 + 2 * rank)]
        ).results
        # Constants, where the type has them: the kernel takes no arguments for these.
        strides, offset = type_.get_strides_and_offset()
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        self._offset, *self._strides = (
            value if known == dynamic else index(known)
            for value, known in zip(
                (metadata[1], *list(metadata)[2 + rank :]), (offset, *strides), strict=True
            )
        )
        last = [
            emit.binary("muli", emit.binary("subi", size, index(1)), stride)
            for size, stride in zip(list(metadata)[2 : 2 + rank], self._strides, strict=True)
        ]
        # A kernel takes no empty memref; it reads nothing of one.
        end = _sum([self._offset, *last, index(1)])
        end = emit.value("arith.maxsi", (end, index(1)), index_type)
        self._memory = emit.value(
            "memref.reinterpret_cast",
            (metadata[0], end),
            ir.MemRefType.get([_UNKNOWN], self._element, memory_space=type_.memory_space),
            static_offsets=ir.DenseI64ArrayAttr.get([0]),
            static_sizes=ir.DenseI64ArrayAttr.get([_UNKNOWN]),
            static_strides=ir.DenseI64ArrayAttr.get([1]),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 0, 1, 0]),
        )

    def load(self, indices: Sequence[Value]) -> Value:
        """Emit a load, and return the element."""
        return emit.value("memref.load", (self._memory, self._address(indices)), self._element)

    def store(self, element: Value, indices: Sequence[Value]) -> None:
        """Emit a store."""
        emit.op("memref.store", (element, self._memory, self._address(indices)))

    def load_vector(self, indices: Sequence[Value], width: int) -> list[Value]:
        """Emit a load of neighbours along the last dimension, from an aligned one on; return them."""
        type_ = ir.VectorType.get([width], self._element)
        operands = (self._memory, self._address(indices))
        vector = emit.value("vector.load", operands, type_, alignment=i64(self._bytes(width)))
        return [emit.extract_element(vector, n) for n in range(width)]

    def store_vector(self, elements: Sequence[Value], indices: Sequence[Value]) -> None:
        """Emit a store of neighbours along the last dimension, from an aligned one on."""
        type_ = ir.VectorType.get([len(elements)], self._element)
        vector = emit.value("vector.from_elements", elements, type_)
        operands = (vector, self._memory, self._address(indices))
        emit.op("vector.store", operands, alignment=i64(self._bytes(len(elements))))

    def _bytes(self, width: int) -> int:
        """The alignment of a vector: its size, up to what one instruction loads."""
        return min(width * DTYPES[str(self._element)].itemsize, UNIT_BYTES)

    @property
    def address(self) -> Value:
        """The address of the memory."""
        return emit.value(
            "memref.extract_aligned_pointer_as_index", (self._memory,), ir.IndexType.get()
        )

    def _address(self, indices: Sequence[Value]) -> Value:
        terms = [
            emit.binary("muli", place, stride)
            for place, stride in zip(indices, self._strides, strict=True)
        ]
        return _sum([self._offset, *terms])


def _sum(values: Sequence[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = emit.binary("addi", total, value)
    return total
