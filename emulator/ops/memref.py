"""memref: views, metadata, loads and stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...bindings.mlir import ir
from ..access import load, store
from ..arguments import number, static_memref
from ..cta import ConvergentThreads
from ..errors import EmulationError
from ..kernel import Op
from ..memory import GENERIC, GLOBAL, SHARED
from ..registry import computes, executes
from ..types import as_signed, bits_of, dtype_of, shape_of
from ..values import MemRef

#: State spaces by the text of a memory space; memory without a space is global.
_SPACES = {
    "None": GLOBAL,
    "0": GENERIC,
    "1": GLOBAL,
    "3": SHARED,
    "#gpu.address_space<global>": GLOBAL,
    "#gpu.address_space<workgroup>": SHARED,
}

_DYNAMIC_SIZE = ir.ShapedType.get_dynamic_size()


def space_of(memref: Any, location: Any) -> int:
    """Return the state space of a memref type.

    Raises:
        EmulationError: if the emulator does not support the memory space.
    """
    text = str(memref.memory_space).split(" :")[0]
    if text not in _SPACES:
        raise EmulationError(f"the emulator has no memory space {memref.memory_space}", location)
    return _SPACES[text]


def _merge_dynamic(static: list[int], dynamic: list[Any]) -> list[np.ndarray]:
    """Merge static integers with the operands that replace dynamic ones."""
    operands = iter(dynamic)
    markers = (_DYNAMIC_SIZE, ir.ShapedType.get_dynamic_stride_or_offset())
    return [
        as_signed(next(operands)).astype(np.int64) if constant in markers else number(constant)
        for constant in static
    ]


def _window(op: Op) -> Callable[[tuple[Any, ...]], list[list[np.ndarray]]]:
    """Return a function from the operands of a subview or a reinterpret_cast to its offsets, sizes and
    strides."""
    names = ("static_offsets", "static_sizes", "static_strides")
    statics = [op.numbers(name) for name in names]
    counts = op.numbers("operandSegmentSizes")[1:]

    def merge(dynamic: tuple[Any, ...]) -> list[list[np.ndarray]]:
        operands, merged = list(dynamic), []
        for static, count in zip(statics, counts, strict=True):
            merged.append(_merge_dynamic(static, operands[:count]))
            del operands[:count]
        return merged

    return merge


def _total(terms: list[np.ndarray]) -> np.ndarray:
    return sum(terms, number(0))


# -- views -----------------------------------------------------------------------------------------


@computes("memref.subview")
def _subview(op: Op) -> Any:
    window = _window(op)
    dimensions = _kept_dimensions(op.numbers("static_sizes"), op.result_types[0].shape)

    def step(source: MemRef, *dynamic: Any) -> MemRef:
        offsets, sizes, steps = window(dynamic)
        terms = [o * s for o, s in zip(offsets, source.strides, strict=True)]
        strides = [t * s for t, s in zip(steps, source.strides, strict=True)]
        return MemRef(
            source.base,
            source.offset + _total(terms),
            tuple(sizes[d] for d in dimensions),
            tuple(strides[d] for d in dimensions),
        )

    return step


def _kept_dimensions(sizes: list[int], result: list[int]) -> list[int]:
    """Return the dimensions that a subview keeps; dropped dimensions have size 1."""
    dimensions: list[int] = []
    for dim, size in enumerate(sizes):
        if len(dimensions) < len(result) and size == result[len(dimensions)]:
            dimensions.append(dim)
    return dimensions


@computes("memref.transpose")
def _transpose(op: Op) -> Any:
    dims = [ir.AffineDimExpr(e).position for e in op.attribute("permutation").value.results]
    return lambda source: replace(
        source,
        sizes=tuple(source.sizes[d] for d in dims),
        strides=tuple(source.strides[d] for d in dims),
    )


@computes("memref.view")
def _view(op: Op) -> Any:
    type_ = op.result_types[0]

    def step(source: MemRef, start: np.ndarray, *sizes: np.ndarray) -> MemRef:
        extents = _merge_dynamic(list(type_.shape), list(sizes))
        steps, stride = [], number(1)
        for extent in reversed(extents):
            steps.append(stride)
            stride = stride * extent
        base = source.base + source.offset + as_signed(start).astype(np.int64)
        return MemRef(base, number(0), tuple(extents), tuple(reversed(steps)))

    return step


@computes("memref.cast", "memref.memory_space_cast")
def _cast(op: Op) -> Any:
    if op.name == "memref.memory_space_cast":
        spaces = {space_of(t, op.location) for t in (op.operand_types[0], op.result_types[0])}
        if len(spaces - {GLOBAL}) and len(spaces) > 1:
            raise op.refuse("changes the memory space, which the emulator does not follow")
    return lambda source: source


@computes("memref.reinterpret_cast")
def _reinterpret(op: Op) -> Any:
    window = _window(op)

    def step(source: MemRef, *dynamic: Any) -> MemRef:
        offsets, sizes, strides = window(dynamic)
        return MemRef(source.base, offsets[0], tuple(sizes), tuple(strides))

    return step


# -- metadata --------------------------------------------------------------------------------------


def _index(value: np.ndarray) -> np.ndarray:
    return value.astype(np.uint64)


@computes("memref.dim")
def _dim(op: Op) -> Any:
    def step(source: MemRef, dim: np.ndarray) -> np.ndarray:
        if (dim != dim[0]).any() or not 0 <= int(dim[0]) < len(source.sizes):
            raise op.refuse(f"queries dimension {dim.tolist()} of {len(source.sizes)}")
        return _index(source.sizes[int(dim[0])])

    return step


@computes("memref.extract_aligned_pointer_as_index")
def _pointer(op: Op) -> Any:
    return lambda source: _index(source.base)


@computes("memref.extract_strided_metadata")
def _metadata(op: Op) -> Any:
    def step(source: MemRef) -> tuple[Any, ...]:
        buffer = MemRef(source.base, number(0), (), ())
        return (buffer, *(_index(x) for x in (source.offset, *source.sizes, *source.strides)))

    return step


@executes("memref.get_global")
def _global(op: Op) -> Any:
    symbol = ir.FlatSymbolRefAttr(op.attribute("name")).value
    type_ = op.result_types[0]

    def step(convergent: ConvergentThreads) -> MemRef:
        symbols = convergent.cta.launch.symbols
        if symbol not in symbols:
            raise op.refuse(f"names '{symbol}', which is not in shared memory")
        return static_memref(type_, number(symbols[symbol]))

    return step


# -- elements --------------------------------------------------------------------------------------


def element_address(memref: MemRef, indices: tuple[Any, ...], size: int) -> np.ndarray:
    """Return the address of an element of `size` bytes, for each thread."""
    terms = [
        as_signed(i).astype(np.int64) * s for i, s in zip(indices, memref.strides, strict=True)
    ]
    return memref.base + (memref.offset + _total(terms)) * size


@executes("memref.load")
def _load(op: Op) -> Any:
    source = op.operand_types[0]
    dtype, space = dtype_of(source.element_type, op.location), space_of(source, op.location)
    size, shape = bits_of(source.element_type, op.location) // 8, shape_of(source.element_type)

    def step(convergent: ConvergentThreads, memref: Any, *indices: Any) -> np.ndarray:
        checked = tuple(convergent.check_value(i) for i in indices)
        address = element_address(convergent.check_value(memref), checked, size)
        raw = load(convergent, address, space, size, size)
        return raw.view(dtype).reshape(len(raw), *shape)

    return step


@executes("memref.store")
def _store(op: Op) -> Any:
    target = op.operand_types[1]
    space = space_of(target, op.location)
    size = bits_of(target.element_type, op.location) // 8

    def step(convergent: ConvergentThreads, value: Any, memref: Any, *indices: Any) -> None:
        checked = tuple(convergent.check_value(i) for i in indices)
        address = element_address(convergent.check_value(memref), checked, size)
        values = convergent.check_value(value)
        raw = np.ascontiguousarray(values).reshape(len(values), -1).view(np.uint8)
        store(convergent, address, space, raw, size)

    return step
