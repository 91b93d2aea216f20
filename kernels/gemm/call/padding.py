"""Operands that TMA cannot read: they are copied to rows at multiples of 16 bytes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ....layout.elements import UNIT_BYTES
from ....layout.wgmma import MN_MAJOR
from ....runtime import DeviceArray, Matrix, device_array
from ...libraries import empty, maker, whole_columns
from ..generator.problem import ProblemError, is_multiplied, multiplicand
from .copies import Copies
from .transposing import k_major


class Operand(NamedTuple):
    """An operand of a GEMM.

    Attributes:
        array: the array that owns the memory.
        view: its address, shape and element type.
    """

    array: Any
    view: DeviceArray


class Again:
    """The copies of a call, for later calls with operands of the same strides, types and alignments.

    Args:
        makers: for A and B, what makes the array for the copy, with its address; None for one that is not
            copied.
        copies: the copies of those that are.
    """

    def __init__(
        self, makers: Sequence[Callable[[Any], tuple[int, Any]] | None], copies: Copies
    ) -> None:
        self._makers, self._copies = makers, copies

    def start(
        self, arrays: Sequence[Any], addresses: Sequence[int], stream: int
    ) -> tuple[list[int], list[Any]]:
        """Start the copies; return the addresses of the operands to multiply, and the new arrays."""
        readable_addresses: list[int] = []
        new_arrays: list[Any] = []
        pairs: list[tuple[int, int]] = []
        for make, array, address in zip(self._makers, arrays, addresses, strict=True):
            if make is None:
                readable_addresses.append(address)
                continue
            new_address, copy = make(array)
            new_arrays.append(copy)
            readable_addresses.append(new_address)
            pairs.append((address, new_address))
        self._copies.start(pairs, stream)
        return readable_addresses, new_arrays


def readable(a: Operand, b: Operand, stream: int) -> tuple[Operand, Operand, Again | None]:
    """Return A and B, or copies of them that tensor cores can read by TMA.

    An operand whose strides or address are not multiples of 16 bytes, or that has no contiguous
    dimension, is copied to padded rows; small A and B by one launch. So is one whose rows or columns
    share memory, or whose matrices do along a leading dimension that the other operand lacks. An operand
    of 8 or 32 bits that is not K-major is then transposed.

    Args:
        a, b: the operands.
        stream: the handle of the stream of the copies.

    Returns:
        A, B, and what repeats the copies; None if nothing is copied, or something is transposed.

    Raises:
        ProblemError: for negative strides, or if the library of an array to be copied is not supported.
    """
    operands = [("A", a, 1), ("B", b, 0)]
    if not _go_together(a.of, b.of):
        # The checks of the operands say what is wrong.
        return a, b, None
    readable_operands: list[Operand] = []
    pairs: list[tuple[Matrix, Matrix]] = []
    makers: list[Callable[[Any], tuple[int, Any]] | None] = []
    repeated = _repeated(a.of.matrix, b.of.matrix)
    for name, operand, k in operands:
        # A is copied along those that it has, and B along the others.
        copied_dims = {dim for dim in repeated if (_extent(a.of.matrix, dim) > 1) == (name == "A")}
        if is_aligned(operand.of.matrix) and not copied_dims:
            readable_operands.append(operand)
            makers.append(None)
            continue
        _check_strides(name, operand.of.matrix)
        source, target, copied = _padded(name, operand, k, copied_dims)
        pairs.append((source, target))
        readable_operands.append(copied)
        shape = *target.shape[:-1], whole_columns(target.shape[-1], target.item_bytes)
        makers.append(maker(operand.array, shape, operand.of.element))
    copies = Copies(pairs, a.of.device)
    copies.start([(source.pointer, target.pointer) for source, target in pairs], stream)
    first, second = (
        Operand(*k_major(name, *operand, k, stream))
        for operand, (name, _, k) in zip(readable_operands, operands, strict=True)
    )
    is_all = all(x.array is y.array for x, y in zip((first, second), readable_operands, strict=True))
    return first, second, Again(makers, copies) if pairs and is_all else None


def is_aligned(matrix: Matrix) -> bool:
    """Return whether TMA reads and writes matrices: one dimension of them is contiguous, and the address
    and the other strides are multiples of 16 bytes."""
    if matrix.pointer % UNIT_BYTES or min(matrix.strides) < 0:
        return False
    rank = len(matrix.shape)
    last = zip(matrix.shape[-2:], matrix.strides[-2:], strict=True)
    if any(extent > 1 and stride == 0 for extent, stride in last):
        return False
    steps = [
        (extent, stride * matrix.item_bytes % UNIT_BYTES)
        for extent, stride in zip(matrix.shape, matrix.strides, strict=True)
    ]
    return any(
        (matrix.strides[along] == 1 or matrix.shape[along] == 1)
        and not any(extent > 1 and rest for dim, (extent, rest) in enumerate(steps) if dim != along)
        for along in (rank - 1, rank - 2)
    )


def _go_together(a: DeviceArray, b: DeviceArray) -> bool:
    """Return whether A and B have the shapes, types and place of operands."""
    shapes = a.matrix.shape, b.matrix.shape
    return (
        all(len(shape) >= 2 and 0 not in shape for shape in shapes)
        and shapes[0][-1] == shapes[1][-2]
        and is_multiplied(a.element)
        and is_multiplied(b.element)
        and a.device == b.device
    )


def _check_strides(name: str, matrix: Matrix) -> None:
    if any(stride < 0 for stride in matrix.strides):
        raise ProblemError(
            f"{name} has the strides {list(matrix.strides)} (elements); expected none below 0"
        )


def _repeated(a: Matrix, b: Matrix) -> set[int]:
    """Return the leading dimensions, counted from the end, along which both operands stay the same."""
    rank = max(len(a.shape), len(b.shape))
    return {
        dim
        for dim in range(-rank, -2)
        if max(_extent(matrix, dim) for matrix in (a, b)) > 1
        and all(_extent(matrix, dim) == 1 or matrix.strides[dim] == 0 for matrix in (a, b))
    }


def _extent(matrix: Matrix, dim: int) -> int:
    return matrix.shape[dim] if -dim <= len(matrix.shape) else 1


def _padded(name: str, operand: Operand, k: int, copied_dims: set[int]) -> tuple[Matrix, Matrix, Operand]:
    """Return the source and the target of a copy to padded rows, both with the rows along the last
    dimension, and the copy as the operand.

    The copy has the contiguous dimension of the operand. If there is none, it is that of the smaller
    stride, or K where tensor cores read a type K-major only: strided reads are needed anyway.
    """
    matrix = operand.of.matrix
    along = _contiguous(matrix, k)
    if along is None:
        is_free = multiplicand(operand.of.element) in MN_MAJOR
        along = k if not is_free or matrix.strides[k - 2] <= matrix.strides[-1 - k] else 1 - k
    source = matrix if along == 1 else matrix.transposed()
    source = _once(source, copied_dims)
    *rows, columns = source.shape
    width = whole_columns(columns, matrix.item_bytes)
    memory = empty(operand.array, (*rows, width), operand.of.element, f"a copy of {name}")
    padded = device_array(name, memory).matrix
    target = replace(padded, shape=source.shape)
    steps = (
        0 if extent == 1 else step
        for extent, step in zip(target.shape[:-2], target.strides[:-2], strict=True)
    )
    seen = replace(
        target,
        shape=(*matrix.shape[:-2], *target.shape[-2:]),
        strides=(*steps, *target.strides[-2:]),
    )
    view = replace(operand.of, matrix=seen if along == 1 else seen.transposed())
    return source, target, Operand(memory, view)


def _contiguous(matrix: Matrix, k: int) -> int | None:
    """Return the contiguous dimension, 0 or 1, of matrices; that of K if both are; None if neither is."""
    return next((dim for dim in (k, 1 - k) if matrix.strides[dim - 2] == 1), None)


def _once(matrix: Matrix, copied_dims: set[int]) -> Matrix:
    """Return matrices without the leading dimensions along which they are the same, but for some."""
    rank = len(matrix.shape)
    shape = (
        1 if matrix.strides[dim] == 0 and dim - rank not in copied_dims else matrix.shape[dim]
        for dim in range(rank - 2)
    )
    return replace(matrix, shape=(*shape, *matrix.shape[-2:]))
