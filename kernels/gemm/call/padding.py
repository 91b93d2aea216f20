"""Operands that TMA cannot read: they are copied to rows at multiples of 16 bytes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from ....dialect import new_context
from ....layout.elements import UNIT_BYTES
from ....layout.wgmma import MN_MAJOR
from ....runtime import DeviceArray, Kernel, Matrix, cached_compile, device_array
from ...libraries import empty, maker, whole_columns
from ...transpose import build_transpose
from ..generator.problem import ProblemError, is_multiplied, multiplicand
from .copies import MatrixCopies
from .operands import contiguous_dim, matrix_at

#: CTAs of the kernel that transposes operands, of those that fit a multiprocessor.
_TRANSPOSE_CTAS = 2


class GemmOperand(NamedTuple):
    """An operand of a GEMM.

    Attributes:
        array: the array that owns the memory.
        view: its address, shape and element type.
    """

    array: Any
    view: DeviceArray


class RepeatedCopies:
    """The copies of a call, for later calls with operands of the same strides, types and alignments.

    Args:
        makers: for A and B, a function that makes the array for the copy, and returns its address, too;
            None for an operand that is not copied.
        copies: the copies of the others.
    """

    def __init__(
        self, makers: Sequence[Callable[[Any], tuple[int, Any]] | None], copies: MatrixCopies
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


def make_readable(
    a: GemmOperand, b: GemmOperand, stream: int
) -> tuple[GemmOperand, GemmOperand, RepeatedCopies | None]:
    """Return A and B, or copies of them that tensor cores can read by TMA.

    An operand whose strides or address are not multiples of 16 bytes, or that has no contiguous
    dimension, is copied to padded rows; small A and B by one launch. So is one whose rows or columns
    share memory, or whose matrices do along a leading dimension that the other operand lacks. An operand
    of 8 or 32 bits that is not K-major is then transposed.

    Args:
        a, b: the operands.
        stream: the handle of the stream of the copies.

    Returns:
        A, B, and the copies for later calls; None if no operand is copied, or one is transposed.

    Raises:
        ProblemError: for negative strides, or if the library of an array to be copied is not supported.
    """
    operands = [("A", a, 1), ("B", b, 0)]
    if not _are_operands(a.view, b.view):
        # The checks of the operands have the error message.
        return a, b, None
    readable_operands: list[GemmOperand] = []
    pairs: list[tuple[Matrix, Matrix]] = []
    makers: list[Callable[[Any], tuple[int, Any]] | None] = []
    broadcast_dims = _broadcast_dims(a.view.matrix, b.view.matrix)
    for name, operand, k in operands:
        # A is copied along the broadcast dimensions that it has, and B along the others.
        copied_dims = {
            dim for dim in broadcast_dims if (_extent(a.view.matrix, dim) > 1) == (name == "A")
        }
        if is_aligned(operand.view.matrix) and not copied_dims:
            readable_operands.append(operand)
            makers.append(None)
            continue
        _check_strides(name, operand.view.matrix)
        source, target, copied = _padded_copy(name, operand, k, copied_dims)
        pairs.append((source, target))
        readable_operands.append(copied)
        shape = *target.shape[:-1], whole_columns(target.shape[-1], target.item_bytes)
        makers.append(maker(operand.array, shape, operand.view.element))
    copies = MatrixCopies(pairs, a.view.device)
    copies.start([(source.pointer, target.pointer) for source, target in pairs], stream)
    first, second = (
        GemmOperand(*k_major(name, *operand, k, stream))
        for operand, (name, _, k) in zip(readable_operands, operands, strict=True)
    )
    is_all = all(
        x.array is y.array for x, y in zip((first, second), readable_operands, strict=True)
    )
    return first, second, RepeatedCopies(makers, copies) if pairs and is_all else None


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
        and not any(
            extent > 1 and offset for dim, (extent, offset) in enumerate(steps) if dim != along
        )
        for along in (rank - 1, rank - 2)
    )


def _are_operands(a: DeviceArray, b: DeviceArray) -> bool:
    """Return whether A and B have the shapes, types and device of operands."""
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


def _broadcast_dims(a: Matrix, b: Matrix) -> set[int]:
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


def _padded_copy(
    name: str, operand: GemmOperand, k: int, copied_dims: set[int]
) -> tuple[Matrix, Matrix, GemmOperand]:
    """Return the source and the target of a copy to padded rows, both with the rows along the last
    dimension, and the copy as the operand.

    The copy has the contiguous dimension of the operand. If there is none, it is that of the smaller
    stride, or K where tensor cores read a type K-major only: strided reads are needed anyway.
    """
    matrix = operand.view.matrix
    along = _contiguous(matrix, k)
    if along is None:
        is_free = multiplicand(operand.view.element) in MN_MAJOR
        along = k if not is_free or matrix.strides[k - 2] <= matrix.strides[-1 - k] else 1 - k
    source = matrix if along == 1 else matrix.transposed()
    source = _without_broadcast(source, copied_dims)
    *rows, columns = source.shape
    width = whole_columns(columns, matrix.item_bytes)
    memory = empty(operand.array, (*rows, width), operand.view.element, f"a copy of {name}")
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
    view = replace(operand.view, matrix=seen if along == 1 else seen.transposed())
    return source, target, GemmOperand(memory, view)


def _contiguous(matrix: Matrix, k: int) -> int | None:
    """Return the contiguous dimension, 0 or 1, of matrices; that of K if both are; None if neither is."""
    return next((dim for dim in (k, 1 - k) if matrix.strides[dim - 2] == 1), None)


def _without_broadcast(matrix: Matrix, copied_dims: set[int]) -> Matrix:
    """Return matrices without the leading dimensions along which they are the same, but for some."""
    rank = len(matrix.shape)
    shape = (
        1 if matrix.strides[dim] == 0 and dim - rank not in copied_dims else matrix.shape[dim]
        for dim in range(rank - 2)
    )
    return replace(matrix, shape=(*shape, *matrix.shape[-2:]))


def k_major(
    name: str, array: Any, view: DeviceArray, dim: int, stream: Any
) -> tuple[Any, DeviceArray]:
    """Return an operand that tensor cores can read: the array itself, or a K-major copy.

    Args:
        name: "A" or "B".
        array: the operand; a copy belongs to the same library.
        view: its address, shape and element type.
        dim: the dimension of K: 1 for A, 0 for B.
        stream: the stream of the copy.

    Returns:
        The array that owns the memory, and its address, shape and element type.

    Raises:
        ProblemError: if the array is not a matrix with a contiguous dimension, or its library is not
            supported.
        LaunchError: for memory that TMA cannot read.
    """
    if len(view.matrix.shape) < 2 or 0 in view.matrix.shape or not is_multiplied(view.element):
        return array, view
    if multiplicand(view.element) in MN_MAJOR or contiguous_dim(name, view.matrix, dim) == dim:
        return array, view
    source = view.matrix if dim == 1 else view.matrix.transposed()
    *batch, rows, columns = source.shape
    copy = empty(
        array,
        (*batch, rows, whole_columns(columns, source.item_bytes)),
        view.element,
        f"a copy of {name}",
    )
    target = replace(device_array(name, copy).matrix, shape=source.shape)
    kernel = _transpose_kernel("f32" if source.item_bytes == 4 else "i8", view.device)
    ctas = _TRANSPOSE_CTAS * kernel.device.properties.multiprocessor_count
    for index in product(*map(range, batch)):
        kernel.prepare(matrix_at(source, index), matrix_at(target, index), grid=(ctas,)).launch(
            stream
        )
    return copy, replace(view, matrix=target if dim == 1 else target.transposed())


@lru_cache(maxsize=8)
def _transpose_kernel(element: str, device: int) -> Kernel:
    with new_context():
        text = str(build_transpose(element))
    return Kernel(cached_compile(text), device=device)
