"""Ranges of integers, and those of the results of ops of `arith`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from typing import NamedTuple

#: An end of a range; infinite if it is not known.
Bound = int | float


class IntegerRange(NamedTuple):
    """The range of an integer.

    Attributes:
        low, high: the integer is at least `low`, and at most `high`.
        attained: whether some thread of some launch has `low`, and some has `high`; that depends on
            `sources` alone.
        dense: whether some thread has each number between them, too.
        sources: what the integer is computed from; ranges without a common source are independent.
    """

    low: Bound
    high: Bound
    attained: bool = False
    dense: bool = False
    sources: frozenset[Hashable] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether there is no such integer: nothing executes the op that has it."""
        return self.low > self.high

    def is_within(self, first: Bound, last: Bound) -> bool:
        """Whether the integer is known to be from `first` to `last`."""
        return self.is_empty or (first <= self.low and self.high <= last)


#: The range of an integer of which nothing is known.
UNKNOWN = IntegerRange(-inf, inf)


def exactly(value: int) -> IntegerRange:
    """Return the range of a known integer."""
    return IntegerRange(value, value, attained=True, dense=True)


def range_below(count: int, *sources: Hashable) -> IntegerRange:
    """Return the range of an integer that has each of the values 0, 1, ..., count - 1 in some thread."""
    return IntegerRange(0, count - 1, attained=True, dense=True, sources=frozenset(sources))


def multiply(factor: int, ranges: list[IntegerRange]) -> IntegerRange:
    """Return the range of a product of a constant and integers."""
    if not ranges:
        return exactly(factor)
    low, high = factor, factor
    for factor_range in ranges:
        corners = [_times(x, y) for x in (low, high) for y in (factor_range.low, factor_range.high)]
        low, high = min(corners), max(corners)
    alone = len(ranges) == 1
    return IntegerRange(
        low,
        high,
        alone and ranges[0].attained,
        alone and ranges[0].dense and abs(factor) == 1,
        frozenset().union(*(factor_range.sources for factor_range in ranges)),
    )


def add(ranges: list[IntegerRange]) -> IntegerRange:
    """Return the range of a sum of integers."""
    varying = [r for r in ranges if r.low != r.high]
    return IntegerRange(
        sum(r.low for r in ranges),
        sum(r.high for r in ranges),
        all(r.attained for r in ranges) and are_independent(varying),
        all(r.dense for r in ranges) and len(varying) <= 1,
        frozenset().union(*(r.sources for r in ranges)),
    )


def join(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    """Return the range of an integer that is one of two."""
    if x.is_empty or y.is_empty:
        return y if x.is_empty else x
    return IntegerRange(min(x.low, y.low), max(x.high, y.high), sources=x.sources | y.sources)


def narrow(x: IntegerRange, low: Bound, high: Bound) -> IntegerRange:
    """Return the range of an integer that is also known to be from `low` to `high`."""
    if low <= x.low and high >= x.high:
        return x
    return IntegerRange(max(x.low, low), min(x.high, high), sources=x.sources)


def are_independent(ranges: list[IntegerRange]) -> bool:
    """Whether no two of some integers are computed from the same source."""
    return sum(len(r.sources) for r in ranges) == len(
        frozenset().union(*(r.sources for r in ranges))
    )


def compute_range(name: str, operands: list[IntegerRange]) -> IntegerRange:
    """Return the range of the result of an op of `arith`, by its name."""
    if any(r.is_empty for r in operands):
        return IntegerRange(0, -1)
    sources = frozenset().union(*(r.sources for r in operands))
    if name in _REMAINDERS:
        return _remainder(name, *operands)._replace(sources=sources)
    if name not in _OPERATIONS:
        return UNKNOWN._replace(sources=sources)
    low, high = _OPERATIONS[name](*operands)
    # These ops are monotone in an operand, if the other ones are constants.
    varying = [r for r in operands if r.low != r.high]
    attained = len(varying) <= 1 and all(r.attained for r in operands)
    is_exact = attained and name in _MONOTONE and _is_natural(*operands)
    dense = is_exact and operands[0].dense and operands[-1] not in varying
    return IntegerRange(low, high, is_exact, dense, sources)


def _times(x: Bound, y: Bound) -> Bound:
    return x * y if x and y else 0


def _over(x: Bound, by: Bound) -> Bound:
    """Divide a natural number, rounding down."""
    if by == inf:
        return 0 if x != inf else inf
    return x if x == inf else x // by


def _is_natural(*ranges: IntegerRange) -> bool:
    return all(r.low >= 0 for r in ranges)


def _remainder(name: str, x: IntegerRange, y: IntegerRange) -> IntegerRange:
    if y.low < 1:
        return UNKNOWN
    if _is_natural(x) and x.high < y.low:
        return x
    if not _is_natural(x):
        return IntegerRange(1 - y.high if name == "arith.remsi" else 0, y.high - 1)
    whole = y.low == y.high and x.dense and x.high - x.low >= y.high - 1
    return IntegerRange(0, min(x.high, y.high - 1), attained=whole, dense=whole)


def _divide(x: IntegerRange, y: IntegerRange) -> tuple[Bound, Bound]:
    if y.low < 1 or not _is_natural(x):
        return (-inf, inf)
    return _over(x.low, y.high), _over(x.high, y.low)


def _divide_up(x: IntegerRange, y: IntegerRange) -> tuple[Bound, Bound]:
    if y.low < 1 or not _is_natural(x):
        return (-inf, inf)
    return _up(x.low, y.high), _up(x.high, y.low)


def _up(x: Bound, by: Bound) -> Bound:
    return x if x in (0, inf) else 1 if by == inf else -(-x // by)


def _shift_right(x: IntegerRange, y: IntegerRange) -> tuple[Bound, Bound]:
    if not _is_natural(x, y) or y.high > 63:
        return (0, x.high) if _is_natural(x) else (-inf, inf)
    return _over(x.low, 1 << int(y.high)), _over(x.high, 1 << int(y.low))


def _shift_left(x: IntegerRange, y: IntegerRange) -> tuple[Bound, Bound]:
    if not _is_natural(x, y) or y.high > 31:
        return (-inf, inf)
    return _times(x.low, 1 << int(y.low)), _times(x.high, 1 << int(y.high))


def _and(x: IntegerRange, y: IntegerRange) -> tuple[Bound, Bound]:
    highs = [r.high for r in (x, y) if _is_natural(r)]
    return (0, min(highs)) if highs else (-inf, inf)


def _or(x: IntegerRange, y: IntegerRange) -> tuple[Bound, Bound]:
    if not _is_natural(x, y):
        return (-inf, inf)
    most = max(x.high, y.high)
    return 0, most if most == inf else (1 << int(most).bit_length()) - 1


def _extend(x: IntegerRange) -> tuple[Bound, Bound]:
    """Extend with the sign: an `i1` that is true becomes -1."""
    return (-1 if x.low >= 0 and x.high == 1 else x.low), x.high


def _least(*operands: IntegerRange) -> tuple[Bound, Bound]:
    return min(x.low for x in operands), min(x.high for x in operands)


def _most(*operands: IntegerRange) -> tuple[Bound, Bound]:
    return max(x.low for x in operands), max(x.high for x in operands)


def _unsigned_least(*operands: IntegerRange) -> tuple[Bound, Bound]:
    if _is_natural(*operands):
        return _least(*operands)
    natural = [x.high for x in operands if _is_natural(x)]
    return (0, min(natural)) if natural else (-inf, inf)


def _unsigned_most(*operands: IntegerRange) -> tuple[Bound, Bound]:
    return _most(*operands) if _is_natural(*operands) else (-inf, inf)


#: Ops that are monotone in an operand that is not constant.
_MONOTONE = frozenset(
    {
        *("arith.divui", "arith.divsi", "arith.floordivsi", "arith.ceildivui", "arith.ceildivsi"),
        *("arith.minui", "arith.minsi", "arith.maxui", "arith.maxsi", "arith.shrui", "arith.shrsi"),
    }
)

_REMAINDERS = frozenset({"arith.remui", "arith.remsi"})

_OPERATIONS: dict[str, Callable[..., tuple[Bound, Bound]]] = {
    "arith.divui": _divide,
    "arith.divsi": _divide,
    "arith.floordivsi": _divide,
    "arith.ceildivui": _divide_up,
    "arith.ceildivsi": _divide_up,
    "arith.minsi": _least,
    "arith.maxsi": _most,
    "arith.minui": _unsigned_least,
    "arith.maxui": _unsigned_most,
    "arith.andi": _and,
    "arith.ori": _or,
    "arith.xori": _or,
    "arith.shli": _shift_left,
    "arith.shrui": _shift_right,
    "arith.shrsi": _shift_right,
    "arith.extsi": _extend,
    "arith.cmpi": lambda *_: (0, 1),
}
