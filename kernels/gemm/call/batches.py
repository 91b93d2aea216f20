"""Leading dimensions of operands: broadcast as NumPy's `matmul` does, and as few as the strides allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ....runtime import Matrix
from ..generator.problem import MAX_BATCH_DIMS, ProblemError


class Batch(NamedTuple):
    """Operands whose leading dimensions are those that a kernel takes.

    Attributes:
        a, b, c: the operands; each has the leading dimensions that it is not broadcast along.
        dims: for each leading dimension of C, which of A and B have it (`Problem.batch`).
        extents: the leading dimensions of C.
    """

    a: Matrix
    b: Matrix
    c: Matrix
    dims: tuple[str, ...]
    extents: tuple[int, ...]


def broadcast(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """Return the leading dimensions of the result, of those of A and B.

    Raises:
        ProblemError: if they do not broadcast.
    """
    rank = max(len(a), len(b))
    padded = [(1,) * (rank - len(dims)) + tuple(dims) for dims in (a, b)]
    for a_extent, b_extent in zip(*padded, strict=True):
        if a_extent != b_extent and 1 not in (a_extent, b_extent):
            raise ProblemError(
                f"A has the leading dimensions {list(a)} and B has {list(b)}, which do not broadcast: "
                f"{a_extent} and {b_extent}"
            )
    # An extent of 0 beats one of 1, as NumPy has it.
    return tuple(y if x == 1 else x for x, y in zip(*padded, strict=True))


def fold_batch(
    a: Matrix, b: Matrix, c: Matrix, joins_rows: bool = True, joins_dims: bool = True
) -> Batch:
    """Return the operands with as few leading dimensions as their strides allow.

    Adjacent dimensions become one where all operands step through both evenly. If B has none, those of A
    and C become rows where their rows follow evenly.

    Args:
        a, b: A (..., M, K) and B (..., K, N).
        c: the result (..., M, N), with the leading dimensions that A and B broadcast to.
        joins_rows: whether rows of several matrices may become those of one.
        joins_dims: whether leading dimensions may become one; those of extent 1 are always left out.

    Raises:
        ProblemError: if more leading dimensions remain than TMA takes.
    """
    extents = c.shape[:-2]
    steps = [
        (c.strides[dim], *(_step(operand, dim, len(extents)) for operand in (a, b)))
        for dim in range(len(extents))
    ]
    leading: list[tuple[int, tuple[int, ...]]] = []
    for extent, step in zip(extents, steps, strict=True):
        if extent == 1:
            continue
        is_even = leading and all(
            x == y * extent for x, y in zip(leading[-1][1], step, strict=True)
        )
        if joins_dims and is_even:
            leading[-1] = leading[-1][0] * extent, step
        else:
            leading.append((extent, step))
    a, b, c = (
        replace(operand, shape=operand.shape[-2:], strides=operand.strides[-2:])
        for operand in (a, b, c)
    )
    if joins_rows and leading and _are_rows(a, c, *leading[-1]):
        extent, (of_c, of_a, _) = leading.pop()
        a, c = (_with_rows(operand, extent, step) for operand, step in ((a, of_a), (c, of_c)))
    for extent, step in leading:
        if not any(step[1:]):
            raise ProblemError(
                f"neither A nor B has the leading dimension of {extent}: their strides are 0"
            )
    if len(leading) > MAX_BATCH_DIMS:
        raise ProblemError(
            f"A, B and C have {len(leading)} leading dimensions that their strides keep apart; a kernel "
            f"takes up to {MAX_BATCH_DIMS}"
        )
    dims = tuple(
        "".join(name for name, s in zip("ab", step[1:], strict=True) if s) for _, step in leading
    )
    batch_extents = tuple(extent for extent, _ in leading)
    return Batch(
        _with_leading(a, [(e, step[1]) for e, step in leading if step[1]]),
        _with_leading(b, [(e, step[2]) for e, step in leading if step[2]]),
        _with_leading(c, [(e, step[0]) for e, step in leading]),
        dims,
        batch_extents,
    )


def _step(operand: Matrix, dim: int, rank: int) -> int:
    """Return the stride of an operand along a leading dimension of C; 0 if it is broadcast."""
    own_dim = dim - (rank - (len(operand.shape) - 2))
    return 0 if own_dim < 0 or operand.shape[own_dim] == 1 else operand.strides[own_dim]


def _are_rows(a: Matrix, c: Matrix, extent: int, step: tuple[int, ...]) -> bool:
    """Whether a leading dimension, which B lacks, continues the rows of A and C."""
    of_c, of_a, of_b = step
    rows = a.shape[0]
    return of_b == 0 and (rows == 1 or (of_a, of_c) == (rows * a.strides[0], rows * c.strides[0]))


def _with_rows(matrix: Matrix, extent: int, step: int) -> Matrix:
    """Return the rows of `extent` matrices as those of one."""
    rows, columns = matrix.shape
    along = step if rows == 1 else matrix.strides[0]
    return replace(matrix, shape=(extent * rows, columns), strides=(along, matrix.strides[1]))


def _with_leading(matrix: Matrix, leading: Sequence[tuple[int, int]]) -> Matrix:
    extents, strides = zip(*leading, strict=True) if leading else ((), ())
    return replace(matrix, shape=(*extents, *matrix.shape), strides=(*strides, *matrix.strides))
