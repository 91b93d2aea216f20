"""vector: elements, slices and casts of vectors."""

from typing import Any

import numpy as np

from ...bindings.mlir import ir
from ..cta import ConvergentThreads
from ..kernel import Op
from ..registry import computes, executes
from ..types import dtype_of, shape_of
from ..values import RegisterStruct
from .llvm import member
from .llvm_vector import element_positions, insert_element

#: Stands in a position for an index that is an operand (`ShapedType::kDynamic`).
_DYNAMIC = ir.ShapedType.get_dynamic_size()


@computes("vector.from_elements")
def _from_elements(op: Op) -> Any:
    shape = shape_of(op.result_types[0])

    def step(*elements: np.ndarray) -> np.ndarray:
        stacked = np.stack(np.broadcast_arrays(*elements), axis=-1)
        return stacked.reshape(len(stacked), *shape)

    return step


@computes("vector.broadcast", "vector.splat")
def _broadcast(op: Op) -> Any:
    shape = shape_of(op.result_types[0])

    def step(a: np.ndarray) -> np.ndarray:
        missing = len(shape) - (a.ndim - 1)
        return np.broadcast_to(a.reshape(len(a), *(1,) * missing, *a.shape[1:]), (len(a), *shape))

    return step


def _position(op: Op, operands: int) -> tuple[int, ...]:
    """Return the static position of an element; a dynamic one is refused."""
    position = tuple(op.numbers("static_position"))
    if any(p < 0 for p in position) or len(op.operand_types) != operands:
        raise op.refuse("takes an element whose position is known at run time only")
    return position


@executes("vector.extract")
def _extract(op: Op) -> Any:
    if _DYNAMIC in op.numbers("static_position"):
        return _extract_at(op)
    position = _position(op, 1)

    def step(convergent: ConvergentThreads, a: Any) -> Any:
        if isinstance(a, RegisterStruct) and len(position) == 1:
            return member(a, position[0])
        return convergent.check_value(a)[(slice(None), *position)]

    return step


def _extract_at(op: Op) -> Any:
    """Return the step of an extraction at positions that each thread has."""
    static = op.numbers("static_position")
    extents = shape_of(op.operand_types[0])

    def step(convergent: ConvergentThreads, a: Any, *indices: Any) -> np.ndarray:
        dynamic, rows = iter(indices), np.arange(convergent.lanes.count)
        position = [
            convergent.broadcast(element_positions(op, convergent, next(dynamic), extent))
            if index == _DYNAMIC
            else index
            for index, extent in zip(static, extents, strict=False)
        ]
        return convergent.broadcast(convergent.check_value(a))[(rows, *position)]

    return step


@executes("vector.insert")
def _insert(op: Op) -> Any:
    position = _position(op, 2)
    shape, dtype = shape_of(op.result_types[0]), dtype_of(op.result_types[0], op.location)

    def step(convergent: ConvergentThreads, element: Any, a: Any) -> Any:
        if len(shape) == len(position) == 1:
            return insert_element(
                convergent, a, element, np.array(position), np.zeros((1, *shape), dtype)
            )
        element, a = convergent.check_value(element), convergent.check_value(a)
        rows = max(len(element), len(a))
        vector = np.array(np.broadcast_to(a, (rows, *a.shape[1:])))
        vector[(slice(None), *position)] = element
        return vector

    return step


@computes("vector.to_elements")
def _to_elements(op: Op) -> Any:
    single = len(op.result_types) == 1

    def step(a: np.ndarray) -> Any:
        columns = a.reshape(len(a), -1)
        return columns[:, 0] if single else tuple(columns.T)

    return step


@computes("vector.shape_cast", "vector.bitcast")
def _cast(op: Op) -> Any:
    shape, dtype = shape_of(op.result_types[0]), dtype_of(op.result_types[0], op.location)
    if "i1" in (str(t.element_type) for t in (*op.operand_types, *op.result_types)):
        raise op.refuse("casts vectors of i1, which the emulator does not know")
    return lambda a: np.ascontiguousarray(a).view(dtype).reshape(len(a), *shape)


@computes("vector.shuffle")
def _shuffle(op: Op) -> Any:
    mask = op.numbers("mask")
    if min(mask) < 0:
        raise op.refuse("leaves elements poison, which the emulator does not know")

    def step(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        rows = max(len(a), len(b))
        vectors = [np.broadcast_to(x, (rows, *x.shape[1:])) for x in (a, b)]
        return np.concatenate(vectors, axis=1)[:, mask]

    return step


def _numbers(op: Op, name: str) -> list[int]:
    return [ir.IntegerAttr(number).value for number in op.attribute(name)]


# The ops' verifiers check that strides of slices are 1.


@computes("vector.extract_strided_slice")
def _extract_slice(op: Op) -> Any:
    bounds = zip(_numbers(op, "offsets"), _numbers(op, "sizes"), strict=True)
    part = (slice(None), *(slice(first, first + size) for first, size in bounds))
    return lambda a: a[part]


@computes("vector.insert_strided_slice")
def _insert_slice(op: Op) -> Any:
    offsets, sizes = _numbers(op, "offsets"), shape_of(op.operand_types[0])
    outer = len(offsets) - len(sizes)
    inner = (slice(o, o + n) for o, n in zip(offsets[outer:], sizes, strict=True))
    part = (slice(None), *offsets[:outer], *inner)

    def step(source: np.ndarray, a: np.ndarray) -> np.ndarray:
        vector = np.array(np.broadcast_to(a, (max(len(source), len(a)), *a.shape[1:])))
        vector[part] = source
        return vector

    return step
