"""What is known of integers on some runs: facts of conditions, and intervals of polynomials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import NamedTuple

from .polynomials import MINIMA, TRIPS, Polynomial, Symbol, number, variable

#: The inverse of each predicate of `arith.cmpi`: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge.
_INVERSE = (1, 0, 5, 4, 3, 2, 9, 8, 7, 6)


class Facts(NamedTuple):
    """What is known of integers.

    Attributes:
        natural: polynomials that are 0 or more.
        nonzero: polynomials that are not 0.
    """

    natural: tuple[Polynomial, ...] = ()
    nonzero: tuple[Polynomial, ...] = ()

    def and_also(self, other: Facts) -> Facts:
        """Return these facts and other ones."""
        return Facts((*self.natural, *other.natural), (*self.nonzero, *other.nonzero))


def facts_of(condition: Polynomial, holds: bool, is_natural: Callable[[Polynomial], bool]) -> Facts:
    """Return what follows from a condition (i1).

    Args:
        condition: the condition.
        holds: whether it is true, or false.
        is_natural: whether an integer is known to be 0 or more.
    """
    symbol = condition.symbol
    if symbol is None:
        return Facts()
    # All parts of a true conjunction hold, and no part of a false disjunction.
    if symbol.name == ("arith.andi" if holds else "arith.ori"):
        left, right = (facts_of(operand, holds, is_natural) for operand in symbol.operands)
        return left.and_also(right)
    if symbol.name != "arith.cmpi":
        return Facts()
    predicate = predicate_of(symbol)
    left, right = symbol.operands
    return _facts_of_comparison(
        predicate if holds else _INVERSE[predicate], left, right, is_natural
    )


def predicate_of(comparison: Symbol) -> int:
    """Return the predicate of an `arith.cmpi`."""
    return int(re.findall(r"predicate = (\d+)", comparison.signature)[0])


def _facts_of_comparison(
    predicate: int, x: Polynomial, y: Polynomial, is_natural: Callable[[Polynomial], bool]
) -> Facts:
    if predicate == 0:
        return Facts((x - y, y - x))
    if predicate == 1:
        return Facts((), (x - y,))
    signed = predicate < 6
    if (predicate - 2) % 4 >= 2:
        x, y = y, x
    # Now x < y, or x <= y for odd predicates.
    below = y - x - number(1 - predicate % 2)
    if signed:
        return Facts((below,))
    # Without sign, a negative x is above all natural numbers.
    return Facts((below, x)) if is_natural(y) else Facts()


def facts_of_quotients(polynomial: Polynomial, is_natural: Callable[[Polynomial], bool]) -> Facts:
    """Return what is known of the quotients in a polynomial: 0 <= x - x / d * d < d."""
    facts = Facts()
    for symbol in polynomial.symbols:
        if symbol.name in ("arith.divui", "arith.divsi", "arith.floordivsi"):
            dividend, by = symbol.operands[0], symbol.operands[1].constant
            rounds_down = symbol.name == "arith.floordivsi" or is_natural(dividend)
            if by is not None and by > 0 and rounds_down:
                remainder = dividend - Polynomial((((symbol,), by),))
                facts = facts.and_also(Facts((remainder, number(by - 1) - remainder)))
    return facts


def facts_of_extrema(
    polynomials: Iterable[Polynomial], is_natural: Callable[[Polynomial], bool]
) -> Facts:
    """Return what is known of the minima and maxima in polynomials: x - min(x, y) >= 0, and the other way
    round where x <= y is known."""
    natural: list[Polynomial] = []
    symbols = [symbol for polynomial in polynomials for symbol in polynomial.symbols]
    seen = set[Symbol]()
    while symbols:
        symbol = symbols.pop()
        kind = symbol.name.removeprefix("arith.")
        if symbol in seen or kind not in ("minsi", "maxsi", "minui", "maxui"):
            continue
        seen.add(symbol)
        x, y = symbol.operands
        if kind.endswith("ui") and not (is_natural(x) and is_natural(y)):
            continue
        symbols += (*x.symbols, *y.symbols)
        sign = number(1 if kind.startswith("min") else -1)
        natural += [(operand - symbol.polynomial) * sign for operand in (x, y)]
        for operand, other in ((x, y), (y, x)):
            if is_natural((other - operand) * sign):
                natural.append((symbol.polynomial - operand) * sign)
    return Facts(tuple(natural))


class Interval(NamedTuple):
    """The numbers from `low` to `high`, both included; None where there is no bound."""

    low: int | None = None
    high: int | None = None

    def __and__(self, other: Interval) -> Interval:
        low, high = self
        if low is None or (other.low is not None and other.low > low):
            low = other.low
        if high is None or (other.high is not None and other.high < high):
            high = other.high
        return Interval(low, high)

    def plus(self, other: Interval) -> Interval:
        """Return the interval of the sum of two numbers."""
        return Interval(
            None if self.low is None or other.low is None else self.low + other.low,
            None if self.high is None or other.high is None else self.high + other.high,
        )

    def times(self, factor: int) -> Interval:
        """Return the interval of a number times a factor."""
        ends = [None if x is None else x * factor for x in self]
        return Interval(*(ends if factor >= 0 else ends[::-1]))

    @property
    def is_empty(self) -> bool:
        """Whether no number is in it."""
        return self.low is not None and self.high is not None and self.low > self.high

    @property
    def is_positive(self) -> bool | None:
        """Whether its numbers are 1 or more; None if only some are."""
        if self.low is not None and self.low >= 1:
            return True
        return False if self.high is not None and self.high <= 0 else None

    @property
    def exact(self) -> int | None:
        """The only number in it; None if there are others."""
        return self.low if self.low == self.high else None

    def contains(self, other: Interval) -> bool:
        """Whether all numbers of another interval are in it."""
        return (self & other) == other


_ONE = Interval(1, 1)


class Intervals:
    """Intervals of integers on some runs, in addition to the lower bounds of their symbols.

    Args:
        intervals: the intervals of polynomials, by their keys (`Polynomial.normal`).
    """

    def __init__(self, intervals: dict[Polynomial, Interval] | None = None) -> None:
        self.intervals = dict(intervals or {})
        self._bounds: dict[Polynomial, Interval] = {}

    def copy(self) -> Intervals:
        """Return a copy that can be changed independently."""
        copied = Intervals(self.intervals)
        copied._bounds = dict(self._bounds)
        return copied

    def bounds(self, polynomial: Polynomial) -> Interval:
        """Return the known interval of a polynomial."""
        if polynomial not in self._bounds:
            self._bounds[polynomial] = self._compute_bounds(polynomial)
        return self._bounds[polynomial]

    def _compute_bounds(self, polynomial: Polynomial) -> Interval:
        key, sign, constant = polynomial.normal
        bounds = self._by_terms(polynomial)
        if key in self.intervals:
            bounds &= self.intervals[key].times(sign).plus(Interval(constant, constant))
        if any(symbol.name in MINIMA for symbol in polynomial.symbols):
            least, most = polynomial.lower_bound, (polynomial * number(-1)).lower_bound
            bounds &= Interval(least, None if most is None else -most)
        for symbol in polynomial.symbols:
            trips = self._trips(symbol) if symbol.name == TRIPS else None
            if trips is not None:
                bounds &= self.bounds(polynomial.replace(symbol, trips))
        return bounds

    def _trips(self, symbol: Symbol) -> Polynomial | None:
        """Return the trip count of a loop by 1 whose end is known to be behind its begin, or is not."""
        lower, upper, step = symbol.operands
        if step.constant != 1:
            return None
        low, high = self.bounds(upper - lower)
        if low is not None and low >= 0:
            return upper - lower
        return number(0) if high is not None and high <= 0 else None

    def bounds_by_others(self, polynomial: Polynomial) -> Interval:
        """Return the known interval of a polynomial, also by those of others with the same products:
        x - 2 * y * z is negative if x - y * z is, and y and z are natural."""
        bounds = self.bounds(polynomial)
        for key, interval in self.intervals.items() if polynomial.products else ():
            if key.products & polynomial.products:
                for sign in (1, -1):
                    difference = polynomial - key * number(sign)
                    bounds &= self._by_terms(difference).plus(interval.times(sign))
        return bounds

    def _by_terms(self, polynomial: Polynomial) -> Interval:
        low: int | None = 0
        high: int | None = 0
        for symbols, coefficient in polynomial.terms:
            product = self._of_product(symbols) if symbols else _ONE
            least, most = product if coefficient >= 0 else product[::-1]
            low = None if low is None or least is None else low + least * coefficient
            high = None if high is None or most is None else high + most * coefficient
        return Interval(low, high)

    def _of_product(self, symbols: tuple[Symbol, ...]) -> Interval:
        if len(symbols) == 1:
            return self._of_symbol(symbols[0])
        intervals = [self._of_symbol(symbol) for symbol in symbols]
        lows = [x.low for x in intervals if x.low is not None and x.low >= 0]
        if len(lows) < len(intervals):
            return Interval()
        highs = [x.high for x in intervals if x.high is not None]
        return Interval(prod(lows), prod(highs) if len(highs) == len(intervals) else None)

    def _of_symbol(self, symbol: Symbol) -> Interval:
        assumed, declared = self.intervals.get(variable(symbol)), Interval(symbol.lower_bound)
        return declared if assumed is None else assumed & declared

    def assume(self, polynomial: Polynomial, interval: Interval) -> bool:
        """Note that a polynomial is in an interval; return whether that is possible."""
        key, sign, constant = polynomial.normal
        narrowed = self.bounds(polynomial) & interval
        if key.terms:
            self._set(key, narrowed.plus(Interval(-constant, -constant)).times(sign))
        return not narrowed.is_empty

    def decide(self, condition: Polynomial) -> bool | None:
        """Whether a condition (i1) holds; None if not known."""
        low, high = self.bounds(condition)
        if low == high and low is not None:
            return low != 0
        for holds in (True, False):
            facts = self._facts_of(condition, holds)
            impossible = any((self.bounds_by_others(x).high or 0) < 0 for x in facts.natural)
            if impossible or any(self.bounds(x).exact == 0 for x in facts.nonzero):
                return not holds
        return None

    def assume_condition(self, condition: Polynomial, holds: bool) -> bool:
        """Note whether a condition holds; return whether that is possible."""
        possible = self.assume(condition, Interval(int(holds), int(holds)))
        natural = self._facts_of(condition, holds).natural
        return all([possible, *(self.assume(x, Interval(0)) for x in natural)])

    def _facts_of(self, condition: Polynomial, holds: bool) -> Facts:
        return facts_of(condition, holds, self._is_natural)

    def _is_natural(self, polynomial: Polynomial) -> bool:
        low = self.bounds(polynomial).low
        return low is not None and low >= 0

    def drop(self, is_dropped: Callable[[Polynomial], bool]) -> None:
        """Forget what is known of some polynomials."""
        for key in list(filter(is_dropped, self.intervals)):
            del self.intervals[key]
            self._bounds.clear()

    def forget(self, polynomial: Polynomial, interval: Interval) -> None:
        """Widen what is known of a polynomial to an interval, if something is known of it."""
        key, sign, constant = polynomial.normal
        if key in self.intervals:
            self._set(key, interval.plus(Interval(-constant, -constant)).times(sign))

    def _set(self, key: Polynomial, interval: Interval) -> None:
        if self.intervals.get(key) != interval:
            self.intervals[key] = interval
            self._bounds.clear()

    def and_also(self, others: Intervals) -> Intervals | None:
        """Return these intervals and other ones; None if they contradict each other."""
        combined = self.copy()
        for key, interval in others.intervals.items():
            if not combined.assume(key, interval):
                return None
        return combined

    def imply(self, others: Intervals) -> bool:
        """Whether all of `others` follow from these."""
        return all(
            interval.contains(self.bounds(key)) for key, interval in others.intervals.items()
        )

    def replace(self, replaced_by: Callable[[Polynomial], Polynomial]) -> Intervals:
        """Return the intervals with each polynomial replaced by another one."""
        intervals = Intervals()
        for key, interval in self.intervals.items():
            intervals.assume(replaced_by(key), interval)
        return intervals

    def exact(self) -> Iterator[tuple[Polynomial, int]]:
        """Yield polynomials that are known exactly, with their numbers."""
        for key, interval in self.intervals.items():
            if interval.exact is not None:
                yield key, interval.exact
