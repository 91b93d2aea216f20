"""The loops of a contraction as dimensions of matrices: M, N, K and leading dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .unfit import Unfit

#: Adjacent loops that count up one dimension of a matrix; empty for a dimension of extent 1 that a vector
#: lacks.
Group = tuple[int, ...]


@dataclass(frozen=True)
class Dims:
    """Which loops are which dimensions.

    Attributes:
        m, n, k: the dimensions of C = A * B.
        batch: the leading dimensions of C.
        having: for each of them, which operands have it: "ab", "a" or "b".
        exchanged: whether A is the second operand of the contraction, and B the first.
    """

    m: Group
    n: Group
    k: Group
    batch: tuple[Group, ...]
    having: tuple[str, ...]
    exchanged: bool


def dims_of(a: Sequence[Group], b: Sequence[Group], c: Sequence[Group], k: frozenset[int]) -> Dims:
    """Return the roles of dimensions.

    Args:
        a, b, c: the dimensions of the operands and of the result, in memory's order.
        k: the loops that are summed over.

    Raises:
        Unfit: if they are no dimensions of matrices.
    """
    summed = [group for group in a if group[0] in k]
    if len(summed) != 1:
        raise Unfit(
            f"sums over {len(summed)} dimensions that do not follow each other in both operands; "
            "expected those of one"
        )
    if not c:
        raise Unfit("has one sum, which is no matrix")
    exchanged = c[-1] in a
    if exchanged:
        a, b = b, a
    if c[-1] in a:
        raise Unfit("has a result whose rows are along a dimension that both operands have")
    rows = [group for group in c if group in a and group not in b]
    n, m = c[-1], rows[-1] if rows else ()
    batch = tuple(group for group in c[:-1] if group != m)
    having = tuple(
        "".join(name for name, operand in zip("ab", (a, b), strict=True) if group in operand)
        for group in batch
    )
    for name, operand, minor in (("A", a, (m, summed[0])), ("B", b, (n, summed[0]))):
        if operand[-1] not in minor:
            loops = " ".join(f"d{loop}" for loop in operand[-1])
            raise Unfit(f"has an {name} that is contiguous along {loops}, a dimension of a batch")
    return Dims(m, n, summed[0], batch, having, exchanged)


def merged(
    accesses: Sequence[Sequence[int]], follows: Sequence[Sequence[bool]], k: frozenset[int]
) -> list[tuple[Group, ...]]:
    """Return the dimensions of operands, with as few as possible: adjacent loops that all operands step
    through together become one.

    Args:
        accesses: for each operand, the loop that indexes each of its dimensions.
        follows: for each operand and dimension, whether the next dimension's elements fill one of its
            steps; the last one's is not read.
        k: the loops that are summed over.

    Example:
        >>> merged([(0, 1, 3), (3, 2), (0, 1, 2)], [[True] * 3] * 3, frozenset({3}))
        [((0, 1), (3,)), ((3,), (2,)), ((0, 1), (2,))]
    """
    found: list[list[Group]] = [[(loop,) for loop in loops] for loops in accesses]
    filled = [list(each[: len(loops)]) for each, loops in zip(follows, accesses, strict=True)]
    groups: list[Group] = sorted({group for each in found for group in each})
    pairs = [(first, second) for first in groups for second in groups if first != second]
    while pairs:
        first, second = pairs.pop()
        if (first[0] in k) != (second[0] in k):
            continue
        if not all(
            _are_joined(first, second, each, steps)
            for each, steps in zip(found, filled, strict=True)
        ):
            continue
        for each, steps in zip(found, filled, strict=True):
            if first in each:
                at = each.index(first)
                each[at : at + 2] = [first + second]
                del steps[at]
        groups = sorted({group for each in found for group in each})
        pairs = [(one, other) for one in groups for other in groups if one != other]
    return [tuple(each) for each in found]


def _are_joined(first: Group, second: Group, dims: list[Group], filled: list[bool]) -> bool:
    if first not in dims or second not in dims:
        return first not in dims and second not in dims
    at = dims.index(first)
    return dims[at + 1 : at + 2] == [second] and filled[at]
