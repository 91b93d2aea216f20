"""What the conditions around an op say of a kernel's integers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .polynomials import Polynomial, Symbol, number

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

    def and_also(self, more: Facts) -> Facts:
        """Return what is known together with other facts."""
        return Facts((*self.natural, *more.natural), (*self.nonzero, *more.nonzero))


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
    # All parts of a conjunction hold, and no part of a disjunction that does not.
    if symbol.name == ("arith.andi" if holds else "arith.ori"):
        left, right = (facts_of(each, holds, is_natural) for each in symbol.operands)
        return left.and_also(right)
    if symbol.name != "arith.cmpi":
        return Facts()
    predicate = predicate_of(symbol)
    left, right = symbol.operands
    return _compared(predicate if holds else _INVERSE[predicate], left, right, is_natural)


def predicate_of(comparison: Symbol) -> int:
    """Return the predicate of an `arith.cmpi`."""
    return int(re.findall(r"predicate = (\d+)", comparison.more)[0])


def _compared(
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
                left = dividend - Polynomial((((symbol,), by),))
                facts = facts.and_also(Facts((left, number(by - 1) - left)))
    return facts
