"""Copies between memrefs of any strides, and fills, as kernels with a thread for each element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..bindings.irtypes import Value
from ..bindings.mlir import gpu, ir
from ..ir import emit

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
    with _if_not_empty(target) as has_elements:
        if has_elements:
            source_memory, target_memory = _FlatMemRef(source), _FlatMemRef(target)
            order = [list(permutation).index(dim) for dim in range(len(permutation))]
            with _each_element(target) as indices:
                target_memory.store(source_memory.load([indices[dim] for dim in order]), indices)


def fill_with_zeros(target: Value) -> None:
    """Emit a fill of integers with zeros, as a `gpu.launch` unless there are no elements."""
    with _if_not_empty(target) as has_elements:
        if has_elements:
            target_memory, element = _FlatMemRef(target), target.type.element_type
            with _each_element(target) as indices:
                target_memory.store(emit.constant(0, element), indices)


@contextmanager
def _if_not_empty(memref: Value) -> Iterator[bool]:
    """Put the ops of the `with` block in an `scf.if`, unless a memref is known to have elements.

    The value is false if the memref is known to have none; the block must emit nothing then.
    """
    shape = ir.MemRefType(memref.type).shape
    if _UNKNOWN not in shape:
        yield 0 not in shape
        return
    with emit.scf_if(emit.compare("ne", _elements(memref), 0)):
        yield True


@contextmanager
def _each_element(memref: Value) -> Iterator[list[Value]]:
    """Emit a `gpu.launch` with a thread for each element of a memref.

    The value is the indices of the thread's element; the `with` block emits the thread's body.
    """
    index = ir.IndexType.get()
    sizes, total = _sizes(memref), _elements(memref)
    one, threads = _constant(1), _constant(_THREADS)
    blocks = emit.binary("ceildivui", total, threads)
    # Tokens, grid and block; versions of MLIR differ in what follows.
    segments = len(gpu.LaunchOp._ODS_OPERAND_SEGMENTS)
    launch = emit.op(
        "gpu.launch",
        (blocks, one, one, threads, one, one),
        regions=1,
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([0, *[1] * 6, *[0] * (segments - 7)]),
    )
    block = launch.regions[0].blocks.append(*[index] * 12)
    with ir.InsertionPoint(block):
        first = emit.binary("muli", block.arguments[0], threads)
        number = emit.binary("addi", first, block.arguments[3])
        with emit.scf_if(emit.compare("ult", number, total)):
            indices: list[Value] = []
            for size in reversed(sizes):
                indices.insert(0, emit.binary("remui", number, size))
                number = emit.binary("divui", number, size)
            yield indices
        emit.op("gpu.terminator")


class _FlatMemRef:
    """The memory of a memref from offset 0 to its last element, as a memref with one dimension.

    A kernel takes no memref with an offset, so it computes addresses itself.
    """

    def __init__(self, memref: Value) -> None:
        type_ = ir.MemRefType(memref.type)
        self._element = type_.element_type
        index, rank = ir.IndexType.get(), type_.rank
        base = ir.MemRefType.get([], self._element, memory_space=type_.memory_space)
        metadata = emit.op(
            "memref.extract_strided_metadata", (memref,), [base, *[index] * (1 + 2 * rank)]
        ).results
        self._offset = metadata[1]
        self._strides = list(metadata)[2 + rank :]
        last = [
            emit.binary("muli", emit.binary("subi", size, _constant(1)), stride)
            for size, stride in zip(list(metadata)[2 : 2 + rank], self._strides, strict=True)
        ]
        end = _sum([self._offset, *last, _constant(1)])
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

    def _address(self, indices: Sequence[Value]) -> Value:
        terms = [
            emit.binary("muli", index, stride)
            for index, stride in zip(indices, self._strides, strict=True)
        ]
        return _sum([self._offset, *terms])


def _sum(values: Sequence[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = emit.binary("addi", total, value)
    return total


def _sizes(memref: Value) -> list[Value]:
    """Emit the extents of a memref."""
    return [
        emit.value("memref.dim", (memref, _constant(dim)), ir.IndexType.get())
        if extent == _UNKNOWN
        else _constant(extent)
        for dim, extent in enumerate(memref.type.shape)
    ]


def _elements(memref: Value) -> Value:
    """Emit the number of elements of a memref."""
    total = _constant(1)
    for size in _sizes(memref):
        total = emit.binary("muli", total, size)
    return total


def _constant(number: int) -> Value:
    return emit.constant(number, ir.IndexType.get())
