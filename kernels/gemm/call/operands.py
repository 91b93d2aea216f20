"""Arrays on a GPU as operands of a GEMM: shapes, element types, contiguous dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....layout.elements import UNIT_BYTES
from ....runtime import DeviceArray, Matrix
from ..generator.fusion import Fusion
from ..generator.problem import Problem, ProblemError
from .batches import broadcast, fold_batch


@dataclass(frozen=True)
class GemmOperands:
    """The properties of a GEMM's matrices.

    Attributes:
        problem: element types and major-ness.
        m, n, k: extents of a matrix.
        batch: the leading dimensions of the result that remain (`batches.batched`).
        device: the number of their GPU.
    """

    problem: Problem
    m: int
    n: int
    k: int
    batch: tuple[int, ...]
    device: int


def check_operands(
    a: DeviceArray,
    b: DeviceArray,
    out: DeviceArray,
    fusion: Fusion | None = None,
    second: DeviceArray | None = None,
) -> tuple[GemmOperands, tuple[Matrix, Matrix, Matrix]]:
    """Return the operands of `out = a @ b`, and A, B and C as the kernel addresses them.

    Args:
        a, b: A (..., M, K) and B (..., K, N), whose leading dimensions broadcast.
        out: the result (..., M, N).
        fusion: the epilogue.
        second: its second result, which is as `out` but for the element type.

    Raises:
        ProblemError: if shapes, strides or element types do not fit a GEMM.
    """
    for name, matrix in (("A", a), ("B", b), ("C", out)):
        _check(name, matrix, a)
    (*a_batch, m, k), (*b_batch, rows, n) = a.matrix.shape, b.matrix.shape
    if rows != k:
        raise ProblemError(
            f"A is {_by(a)} and B is {_by(b)}; expected a B of {k} rows, the number of A's columns"
        )
    expected = *broadcast(a_batch, b_batch), m, n
    if out.matrix.shape != expected:
        raise ProblemError(
            f"C is {_by(out)}; expected {'x'.join(map(str, expected))} for A of {_by(a)} and B of "
            f"{_by(b)}"
        )
    if out.matrix.strides[-1] != 1 and n > 1:
        raise ProblemError(
            f"C has the strides {list(out.matrix.strides)}; expected contiguous rows"
        )
    a_dim, b_dim = contiguous_dim("A", a.matrix, 1), contiguous_dim("B", b.matrix, 0)
    if second is not None:
        _check("D", second, a)
        if (second.matrix.shape, second.matrix.strides) != (out.matrix.shape, out.matrix.strides):
            raise ProblemError(
                f"D is {_by(second)} of strides {list(second.matrix.strides)}; expected {_by(out)} of "
                f"{list(out.matrix.strides)}, as C"
            )
    # An epilogue sees the rows of its matrix, not those of several.
    folds = fusion is None or not any(operand.batch for operand in fusion.operands)
    batch = fold_batch(a.matrix, b.matrix, out.matrix, fusion is None, folds)
    a_major, b_major = "mk"[a_dim], "kn"[b_dim]
    gated = fusion is not None and fusion.products > 1
    problem = Problem(
        a.element,
        b.element,
        out.element,
        a_major,
        b_major,
        batch=batch.dims,
        fusion=fusion,
        gated=gated,
        d=second.element if second else None,
    )
    m = batch.c.shape[-2]
    return GemmOperands(problem, m, n, k, batch.extents, a.device), (batch.a, batch.b, batch.c)


def matrix_at(matrices: Matrix, index: tuple[int, ...]) -> Matrix:
    """Return the matrices at a place in their first leading dimensions."""
    elements = sum(i * stride for i, stride in zip(index, matrices.strides, strict=False))
    pointer = matrices.pointer + elements * matrices.item_bytes
    leading = len(index)
    return Matrix(
        pointer, matrices.shape[leading:], matrices.strides[leading:], matrices.item_bytes
    )


def _check(name: str, array: DeviceArray, first: DeviceArray) -> None:
    shape = array.matrix.shape
    if len(shape) < 2:
        raise ProblemError(f"{name} has the shape {list(shape)}; expected a matrix, or several")
    if 0 in shape:
        raise ProblemError(f"{name} has no elements in {list(shape)}")
    if array.device != first.device:
        raise ProblemError(
            f"{name} is on GPU {array.device}, but A is on GPU {first.device}; expected the same GPU"
        )


def _by(array: DeviceArray) -> str:
    return "x".join(map(str, array.matrix.shape))


def contiguous_dim(name: str, matrix: Matrix, usual: int) -> int:
    """Return the contiguous dimension, 0 or 1, of a matrix or of those of a batch; if both are, the one
    whose other stride TMA accepts, or `usual`.

    Raises:
        ProblemError: if no dimension is contiguous.
    """
    matrix = replace(matrix, shape=matrix.shape[-2:], strides=matrix.strides[-2:])
    dims = [d for d in (usual, 1 - usual) if matrix.strides[d] == 1 or matrix.shape[d] == 1]
    if not dims:
        raise ProblemError(
            f"{name} has the strides {list(matrix.strides)} (elements); expected 1 along a dimension"
        )
    return next((d for d in dims if _fits(matrix, 1 - d)), dims[0])


def _fits(matrix: Matrix, dim: int) -> bool:
    """Return whether TMA accepts the stride of a dimension."""
    return matrix.shape[dim] == 1 or matrix.strides[dim] * matrix.item_bytes % UNIT_BYTES == 0
