"""What ops of `arith` compute, beside sums and products: exact results, and lower bounds."""

from __future__ import annotations

from collections.abc import Callable

from .polynomials import MINIMA, Polynomial, number

#: Ops whose result is 0 or more.
_NATURAL = ("arith.remui", "arith.divui", "arith.ceildivui", "arith.minui", "arith.maxui")

#: Ops that divide, with their results for known natural numbers.
_DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "arith.divui": lambda x, by: x // by,
    "arith.ceildivui": lambda x, by: -(-x // by),
    "arith.remui": lambda x, by: x % by,
}


def exact_result(name: str, operands: tuple[Polynomial, ...]) -> Polynomial | None:
    """Return the result of an op that divides by a number a multiple of it and a known remainder; None
    for others."""
    by = operands[-1].constant
    if name not in _DIVISIONS or not by:
        return None
    if by == 1:
        return number(0) if name == "arith.remui" else operands[0]
    quotient, remainder = operands[0].divided(by)
    if remainder is None or quotient.lower_bound is None or quotient.lower_bound < 0:
        return None
    whole = number(0) if name == "arith.remui" else quotient
    return whole + number(_DIVISIONS[name](remainder, by))


def lowest_result(name: str, operands: tuple[Polynomial, ...]) -> int | None:
    """Return a number that an op's result is not below; None if none is known."""
    bounds = [x.lower_bound for x in operands]
    known = [x for x in bounds if x is not None]
    by, lowest = operands[-1].constant, 0 if name in _NATURAL else None
    if name in _DIVISIONS and name != "arith.remui" and by and bounds[0] is not None:
        return max(_DIVISIONS[name](bounds[0], by), 0)
    if name == "arith.maxui":
        return max([0, *known])
    if name == "arith.maxsi":
        return max(known, default=None)
    if name in MINIMA and len(known) == len(bounds):
        return max(min(known), 0) if lowest is not None else min(known)
    return lowest
