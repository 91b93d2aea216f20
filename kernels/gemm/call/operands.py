"""Arrays on a GPU as the operands of a product: shapes, element types, which dimension is contiguous."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ....layout.elements import UNIT_BYTES
from ....runtime import DeviceArray, Matrix
from ..generator.problem import Problem, ProblemError


@dataclass(frozen=True)
class Operands:
    """What is known of a product's matrices.

    Attributes:
        problem: element types and majors.
        m, n, k: extents.
        device: the number of their GPU.
    """

    problem: Problem
    m: int
    n: int
    k: int
    device: int


def operands(a: DeviceArray, b: DeviceArray, out: DeviceArray) -> Operands:
    """The operands of `out = a @ b`: `a` (M, K), `b` (K, N), `out` (M, N).

    Raises:
        ProblemError: if shapes, strides or element types are none of a product.
    """
    for name, each in (("A", a), ("B", b), ("C", out)):
        _check(name, each, a)
    (m, k), (rows, n) = a.matrix.shape, b.matrix.shape
    if rows != k:
        raise ProblemError(
            f"A is {_by(a)} and B {_by(b)}; expected a B of {k} rows, as many as A has columns"
        )
    if out.matrix.shape != (m, n):
        raise ProblemError(f"C is {_by(out)}; expected {m}x{n} for A of {_by(a)} and B of {_by(b)}")
    if out.matrix.strides[1] != 1 and n > 1:
        raise ProblemError(
            f"C has the strides {list(out.matrix.strides)}; expected contiguous rows"
        )
    a_dim, b_dim = contiguous_dim("A", a.matrix, 1), contiguous_dim("B", b.matrix, 0)
    problem = Problem(a.element, b.element, out.element, "mk"[a_dim], "kn"[b_dim])
    return Operands(problem, m, n, k, a.device)


def whole_columns(n: int, item_bytes: int) -> int:
    """The columns that TMA writes of a row of `n`: whole units of 16 bytes (measured on an H200: zeros
    beyond the row's end)."""
    unit = UNIT_BYTES // item_bytes
    return ceil(n / unit) * unit


def _check(name: str, each: DeviceArray, first: DeviceArray) -> None:
    shape = each.matrix.shape
    if len(shape) != 2:
        raise ProblemError(f"{name} has the shape {list(shape)}; expected a matrix")
    if 0 in shape:
        raise ProblemError(f"{name} has no elements in {list(shape)}")
    if each.device != first.device:
        raise ProblemError(
            f"{name} is on GPU {each.device}, but A on GPU {first.device}; one kernel takes both"
        )


def _by(each: DeviceArray) -> str:
    return "x".join(map(str, each.matrix.shape))


def contiguous_dim(name: str, matrix: Matrix, usual: int) -> int:
    """The dimension along which neighbours are adjacent; of two, the one that TMA takes, or the usual.

    Raises:
        ProblemError: if there is none.
    """
    dims = [d for d in (usual, 1 - usual) if matrix.strides[d] == 1 or matrix.shape[d] == 1]
    if not dims:
        raise ProblemError(
            f"{name} has the strides {list(matrix.strides)} (elements); expected 1 along a dimension"
        )
    return next((d for d in dims if _fits(matrix, 1 - d)), dims[0])


def _fits(matrix: Matrix, dim: int) -> bool:
    """Whether TMA can step along a dimension."""
    return matrix.shape[dim] == 1 or matrix.strides[dim] * matrix.item_bytes % UNIT_BYTES == 0
