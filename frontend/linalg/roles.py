"""The loops of attention as dimensions of its kernel: batches, heads, queries, keys, head dimension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from ...bindings.mlir import ir
from .expressions import Element
from .masks import ARBITRARY
from .places import Digit, Place
from .unfit import Unfit

_DYNAMIC = ir.ShapedType.get_dynamic_size()

#: Which operands of attention a dimension is one of.
SHARED, ROWS, KEYS, SUMMED, COLUMNS = "qkvo", "qo", "kv", "qk", "vo"


@dataclass(frozen=True)
class Dim:
    """A dimension that loops count.

    Attributes:
        digits: of the loops, the most significant one first.
        extent: how many places it has.
        strides: the elements between neighbours in each operand that has it.
    """

    digits: tuple[Digit, ...]
    extent: int
    strides: Mapping[str, int]

    @property
    def role(self) -> str:
        """The operands that have it, of "qkvo"."""
        return "".join(name for name in SHARED if name in self.strides)


@dataclass(frozen=True)
class Roles:
    """Which dimensions are which; None for those of extent 1.

    Attributes:
        batch: the batches.
        head: the heads of keys.
        sharing: the heads of queries that share one of keys.
        row, key: the queries and the keys.
        summed: the head dimension of queries and keys.
        column: that of values and the result.
    """

    batch: Dim | None
    head: Dim | None
    sharing: Dim | None
    row: Dim | None
    key: Dim | None
    summed: Dim
    column: Dim


def roles_of(operands: Mapping[str, Element], row: Place | None) -> Roles:
    """Return the roles of loops.

    Args:
        operands: an element of each of q, k, v and o; the tensors are contiguous.
        row: the place of the query, if a mask tells it.

    Raises:
        Unfit: if the kernel has no such dimensions.
    """
    extents = [extent for each in operands.values() for extent in each.value.type.shape]
    if _DYNAMIC in extents:
        raise Unfit("has dynamic extents; the kernel is launched with known ones")
    if 0 in extents:
        raise Unfit("has an extent of 0")
    dims = _dims(operands, row or ())
    for each in dims:
        if each.role not in (SHARED, ROWS, KEYS, SUMMED, COLUMNS):
            raise Unfit(
                f"has a dimension of {' and '.join(each.role)} alone, which the kernel has not"
            )

    def of(role: str, ordered: bool = False) -> list[Dim]:
        return _merged([each for each in dims if each.role == role], ordered)

    key, summed, column = _only(of(KEYS, row is not None)), _only(of(SUMMED)), _only(of(COLUMNS))
    if summed is None or column is None:
        raise Unfit("has a head dimension of 1")
    if row is None:
        found = sorted(of(ROWS), key=lambda each: -each.extent)
        query, sharing = next(iter(found), None), _only(found[1:])
    else:
        told = _told(dims, row)
        query = _only(_merged(told, ordered=True))
        sharing = _only(
            _merged([each for each in dims if each.role == ROWS and each not in told], False)
        )
    batch, head = _heads(of(SHARED), sharing)
    return Roles(batch, head, sharing, query, key, summed, column)


def _told(dims: list[Dim], row: Place) -> list[Dim]:
    """Return the dimensions that the place of a query counts."""
    if not row:
        return []
    digit = row[0]
    found = [
        each
        for each in dims
        if each.digits[0].loop == digit.loop
        and digit.step <= each.digits[0].step < digit.step * digit.extent
    ]
    if len(row) > 1 or any(each.role != ROWS for each in found):
        raise Unfit(ARBITRARY)
    return found


def _heads(shared: list[Dim], sharing: Dim | None) -> tuple[Dim | None, Dim | None]:
    """Return the dimensions of batches and of heads of keys.

    Args:
        shared: the dimensions of all operands.
        sharing: that of the heads of queries that share one of keys.
    """
    if len(shared) > 2:
        raise Unfit(
            f"has {len(shared)} dimensions of batches and heads that do not follow each other; the "
            "kernel has two"
        )
    ordered = sorted(shared, key=lambda each: -each.strides["q"])
    if sharing is None:
        head = ordered.pop() if ordered else None
    else:
        head = next((each for each in ordered if _follows(each, sharing)), None)
        ordered = [each for each in ordered if each is not head]
    if len(ordered) > 1:
        raise Unfit("has heads of queries that do not follow each other where they share keys")
    return (ordered[0] if ordered else None), head


def _only(dims: list[Dim]) -> Dim | None:
    if len(dims) > 1:
        names = " and ".join(dims[0].role)
        raise Unfit(
            f"has {len(dims)} dimensions of {names} that do not follow each other; the kernel has one"
        )
    return dims[0] if dims else None


def _dims(operands: Mapping[str, Element], row: Place) -> list[Dim]:
    """Return the smallest dimensions into which the indices of operands divide the loops."""
    found = {name: _strides(element) for name, element in operands.items()}
    cuts: dict[int, set[int]] = {}
    for digit in (*row, *(digit for each in found.values() for digit, _ in each)):
        cuts.setdefault(digit.loop, set()).update((digit.step, digit.step * digit.extent))
    strides: dict[Digit, dict[str, int]] = {}
    for name, digits in found.items():
        for digit, stride in digits:
            for part in _parts(digit, cuts[digit.loop]):
                of_part = strides.setdefault(part, {})
                if name in of_part:
                    raise Unfit(f"reads a diagonal of {name}")
                of_part[name] = stride * (part.step // digit.step)
    return [Dim((digit,), digit.extent, each) for digit, each in strides.items()]


def _parts(digit: Digit, cuts: Iterable[int]) -> list[Digit]:
    """Return a digit as several that begin at given steps."""
    inside = sorted(each for each in cuts if digit.step <= each <= digit.step * digit.extent)
    parts: list[Digit] = []
    for low, high in pairwise(inside):
        if high % low:
            raise Unfit("divides a dimension in two ways that do not go together")
        parts.insert(0, Digit(digit.loop, low, high // low))
    return parts


def _strides(element: Element) -> list[tuple[Digit, int]]:
    """Return the digits of an element's index, with the elements that each steps over."""
    shape = element.value.type.shape
    found: list[tuple[Digit, int]] = []
    for dim, place in enumerate(element.at):
        if prod(digit.extent for digit in place) != shape[dim]:
            raise Unfit("reads a part of a tensor")
        stride = prod(shape[dim + 1 :])
        for digit in reversed(place):
            found.append((digit, stride))
            stride *= digit.extent
    return found


def _merged(dims: list[Dim], ordered: bool) -> list[Dim]:
    """Return dimensions of one role with as few as possible: those that follow each other become one.

    Args:
        dims: the dimensions.
        ordered: whether the numbers of places matter, so that only the parts of one loop become one.
    """
    found = list(dims)
    pairs = [(first, second) for first in found for second in found if first is not second]
    while pairs:
        first, second = pairs.pop()
        if not _follows(first, second) or (ordered and not _is_one_loop(first, second)):
            continue
        found = [each for each in found if each is not first and each is not second]
        made = Dim(first.digits + second.digits, first.extent * second.extent, dict(second.strides))
        found.append(made)
        pairs = [(one, other) for one in found for other in found if one is not other]
    return found


def _follows(first: Dim, second: Dim) -> bool:
    """Whether a dimension's places fill one step of another, in all operands of the second that have the
    first."""
    return all(
        first.strides[name] == stride * second.extent
        for name, stride in second.strides.items()
        if name in first.strides
    )


def _is_one_loop(first: Dim, second: Dim) -> bool:
    high, low = first.digits[-1], second.digits[0]
    return high.loop == low.loop and high.step == low.step * low.extent
