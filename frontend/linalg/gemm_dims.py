"""The loops of a contraction as dimensions of matrices: M, N, K and leading dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .unsupported import Unsupported

#: Adjacent loops that are one dimension of a matrix; empty for the dimension of extent 1 of a vector.
Group = tuple[int, ...]


@dataclass(frozen=True)
class GemmDims:
    """The loops of each dimension of a GEMM.

    Attributes:
        m, n, k: the dimensions of C = A * B.
        batch: the leading dimensions of C.
        having: for each leading dimension, which operands have it: "ab", "a" or "b".
        exchanged: whether A is the second operand of the contraction, and B the first.
    """

    m: Group
    n: Group
    k: Group
    batch: tuple[Group, ...]
    having: tuple[str, ...]
    exchanged: bool


def match_gemm_dims(
    a: Sequence[Group], b: Sequence[Group], c: Sequence[Group], k: frozenset[int]
) -> GemmDims:
    """Match the dimensions of operands with those of a GEMM.

    Args:
        a, b, c: the dimensions of the operands and of the result, the outermost in memory first.
        k: the loops that are summed over.

    Raises:
        Unsupported: if they are no dimensions of a GEMM.
    """
    summed = [group for group in a if group[0] in k]
    if len(summed) != 1:
        raise Unsupported(
            f"sums over {len(summed)} dimensions that do not follow each other in both operands; "
            "expected those of one"
        )
    if not c:
        raise Unsupported("has one sum, which is no matrix")
    exchanged = c[-1] in a
    if exchanged:
        a, b = b, a
    if c[-1] in a:
        raise Unsupported("has a result along one dimension, which both operands have")
    rows = [group for group in c if group in a and group not in b]
    n, m = c[-1], rows[-1] if rows else ()
    batch = tuple(group for group in c[:-1] if group != m)
    having = tuple(
        "".join(name for name, operand in zip("ab", (a, b), strict=True) if group in operand)
        for group in batch
    )
    return GemmDims(m, n, summed[0], batch, having, exchanged)


def merge_dims(
    accesses: Sequence[Sequence[int]], collapsible: Sequence[Sequence[bool]], k: frozenset[int]
) -> list[tuple[Group, ...]]:
    """Merge adjacent dimensions that are collapsible in all operands.

    Args:
        accesses: for each operand, the loop that indexes each of its dimensions.
        collapsible: for each operand and dimension `d`, whether
            `stride[d] == stride[d + 1] * extent[d + 1]`; the last one is not read.
        k: the loops that are summed over.

    Returns:
        The merged dimensions of each operand, as few as possible.

    Example:
        >>> merge_dims([(0, 1, 3), (3, 2), (0, 1, 2)], [[True] * 3] * 3, frozenset({3}))
        [((0, 1), (3,)), ((3,), (2,)), ((0, 1), (2,))]
    """
    dims: list[list[Group]] = [[(loop,) for loop in loops] for loops in accesses]
    collapsible_left = [
        list(operand_dims[: len(loops)])
        for operand_dims, loops in zip(collapsible, accesses, strict=True)
    ]
    groups: list[Group] = sorted({group for operand_dims in dims for group in operand_dims})
    pairs = [(first, second) for first in groups for second in groups if first != second]
    while pairs:
        first, second = pairs.pop()
        if (first[0] in k) != (second[0] in k):
            continue
        if not all(
            _can_merge(first, second, operand_dims, flags)
            for operand_dims, flags in zip(dims, collapsible_left, strict=True)
        ):
            continue
        for operand_dims, flags in zip(dims, collapsible_left, strict=True):
            if first in operand_dims:
                position = operand_dims.index(first)
                operand_dims[position : position + 2] = [first + second]
                del flags[position]
        groups = sorted({group for operand_dims in dims for group in operand_dims})
        pairs = [(first, second) for first in groups for second in groups if first != second]
    return [tuple(operand_dims) for operand_dims in dims]


def _can_merge(first: Group, second: Group, dims: list[Group], collapsible: list[bool]) -> bool:
    if first not in dims or second not in dims:
        return first not in dims and second not in dims
    dim = dims.index(first)
    return dims[dim + 1 : dim + 2] == [second] and collapsible[dim]
