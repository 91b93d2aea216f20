"""Gated products: the columns of B that make the gates, and those that are multiplied by them."""

from __future__ import annotations

from dataclasses import replace

from ....runtime import Matrix
from ..generator.problem import ProblemError

#: How columns of B are shared out: alternating, gates first; or its first half for gates.
GATED = ("interleaved", "halves")


def gates(b: Matrix, gated: str) -> tuple[Matrix, int]:
    """Return the columns of B for the gates, and the bytes from there to the others.

    Args:
        b: B (..., K, 2 * N).
        gated: how the columns are shared out, one of `GATED`.

    Raises:
        ProblemError: for something else, an odd number of columns, or columns that TMA cannot take apart.
    """
    if gated not in GATED:
        raise ProblemError(f"gated is {gated!r}; expected {' or '.join(map(repr, GATED))}")
    *batch, k, columns = b.shape
    *steps, down, along = b.strides
    if gated == "interleaved" and down != 1 and k > 1:
        raise ProblemError(
            f"B has the strides {list(b.strides)} and interleaved columns; expected contiguous columns, "
            "as those of a transposed weight, or gated='halves'"
        )
    if columns % 2:
        raise ProblemError(f"B has {columns} columns; expected an even number for gated={gated!r}")
    shape = (*batch, k, columns // 2)
    step, distance = (2 * along, along) if gated == "interleaved" else (along, columns // 2 * along)
    return replace(b, shape=shape, strides=(*steps, down, step)), distance * b.item_bytes
