"""Arrays on a GPU as the operands of a product: shapes, element types, which dimension is contiguous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_smem.runtime import Matrix, Seen, seen

from .problem import Problem, ProblemError

#: Bytes that TMA's strides are multiples of.
_UNIT = 16


@dataclass(frozen=True)
class Operands:
    """The matrices of a product, with the problem that they are.

    Attributes:
        problem: element types and majors.
        m, n, k: extents.
        matrices: A, B and C.
        device: the number of their GPU.
    """

    problem: Problem
    m: int
    n: int
    k: int
    matrices: tuple[Matrix, Matrix, Matrix]
    device: int


def operands(a: Any, b: Any, out: Any) -> Operands:
    """The operands of `out = a @ b`: `a` (M, K), `b` (K, N), `out` (M, N).

    Raises:
        ProblemError: if shapes, strides or element types are none of a product.
        LaunchError: if one is no array on a GPU.
    """
    found = {name: seen(name, array) for name, array in (("A", a), ("B", b), ("C", out))}
    first = found["A"]
    for name, each in found.items():
        _check(name, each, first)
    (m, k), (_, n) = first.matrix.shape, found["B"].matrix.shape
    if found["B"].matrix.shape[0] != k:
        raise ProblemError(
            f"A is {_by(first)} and B {_by(found['B'])}; expected a B of {k} rows, as many as A has columns"
        )
    if found["C"].matrix.shape != (m, n):
        raise ProblemError(
            f"C is {_by(found['C'])}; expected {m}x{n} for A of {_by(first)} and B of {_by(found['B'])}"
        )
    dims = contiguous_dim("A", first.matrix, 1), contiguous_dim("B", found["B"].matrix, 0)
    if found["C"].matrix.strides[1] != 1 and n > 1:
        raise ProblemError(
            f"C has the strides {list(found['C'].matrix.strides)}; expected contiguous rows"
        )
    problem = Problem(*(found[name].element for name in "ABC"), "mk"[dims[0]], "kn"[dims[1]])
    matrices = found["A"].matrix, found["B"].matrix, found["C"].matrix
    return Operands(problem, m, n, k, matrices, first.device)


def _check(name: str, each: Seen, first: Seen) -> None:
    shape = each.matrix.shape
    if len(shape) != 2:
        raise ProblemError(f"{name} has the shape {list(shape)}; expected a matrix")
    if 0 in shape:
        raise ProblemError(f"{name} has no elements in {list(shape)}")
    if each.device != first.device:
        raise ProblemError(
            f"{name} is on GPU {each.device}, but A on GPU {first.device}; one kernel takes both"
        )


def _by(each: Seen) -> str:
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
    return matrix.shape[dim] == 1 or matrix.strides[dim] * matrix.item_bytes % _UNIT == 0
