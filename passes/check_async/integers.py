"""What is known of an integer while a program is interpreted."""

from collections.abc import Callable
from math import gcd
from typing import Any, NamedTuple


class Integer(NamedTuple):
    """An integer, or what is known of it. Integers are taken not to wrap around.

    Attributes:
        rest: the integer, modulo `modulus`.
        modulus: 0 if the integer is exactly `rest`.
        least: a number that it is not below; None if none is known.
        uniform: whether it is known to be the same for all threads of the block.
    """

    rest: int
    modulus: int
    least: int | None
    uniform: bool = True

    @property
    def exact(self) -> int | None:
        """The integer, if it is known."""
        return None if self.modulus else self.rest

    def widened(self, modulus: int, bound: int) -> "Integer":
        """One of finitely many integers that are no more precise: exact up to `bound`, and known
        modulo `modulus` beyond."""
        if not self.modulus and abs(self.rest) <= bound:
            return self
        step = gcd(self.modulus, modulus)
        least = None if self.least is None or self.least < -bound else min(self.least, bound)
        return Integer(self.rest % step, step, least, self.uniform)


def exactly(number: int) -> Integer:
    """A known integer."""
    return Integer(number, 0, number)


#: Nothing is known, but that it is the same for all threads; and not even that.
UNKNOWN = Integer(0, 1, None)
VARIES = Integer(0, 1, None, uniform=False)


def joined(x: Integer, y: Integer) -> Integer:
    """What is known of an integer that is one of two."""
    least = None if x.least is None or y.least is None else min(x.least, y.least)
    return _made(x.rest, gcd(x.modulus, y.modulus, x.rest - y.rest), least, x, y)


def _made(rest: int, modulus: int, least: int | None, *sources: Integer) -> Integer:
    """An integer that follows from others."""
    if not modulus:
        return exactly(rest)
    return Integer(rest % modulus, modulus, least, all(s.uniform for s in sources))


def plus(x: Integer, y: Integer) -> Integer:
    """The sum of two integers."""
    least = None if x.least is None or y.least is None else x.least + y.least
    return _made(x.rest + y.rest, gcd(x.modulus, y.modulus), least, x, y)


def _subtract(x: Integer, y: Integer) -> Integer:
    least = None if x.least is None or y.modulus else x.least - y.rest
    return _made(x.rest - y.rest, gcd(x.modulus, y.modulus), least, x, y)


def _multiply(x: Integer, y: Integer) -> Integer:
    modulus = gcd(x.rest * y.modulus, y.rest * x.modulus, x.modulus * y.modulus)
    positive = x.least is not None and y.least is not None and min(x.least, y.least) >= 0
    return _made(x.rest * y.rest, modulus, 0 if positive else None, x, y)


def _is_natural(x: Integer) -> bool:
    return x.least is not None and x.least >= 0


def _remainder(x: Integer, y: Integer) -> Integer:
    if y.modulus or y.rest <= 0 or not _is_natural(x):
        return _made(0, 1, None, x, y)
    modulus = gcd(x.modulus, y.rest)
    if modulus == y.rest or not x.modulus:
        return exactly(x.rest % y.rest)
    return _made(x.rest, modulus, 0, x, y)


def _divide(x: Integer, y: Integer) -> Integer:
    if y.modulus or y.rest <= 0 or not _is_natural(x) or x.modulus % y.rest:
        return _made(0, 1, 0 if _is_natural(x) and _is_natural(y) else None, x, y)
    assert x.least is not None
    return _made(x.rest // y.rest, x.modulus // y.rest, x.least // y.rest, x, y)


def _and(x: Integer, y: Integer) -> Integer:
    for mask, other in ((y, x), (x, y)):
        if mask.exact == 0:
            return exactly(0)
        low_bits = not mask.modulus and mask.rest & (mask.rest + 1) == 0
        if low_bits and _is_natural(other):
            return _remainder(other, exactly(mask.rest + 1))
    return _exact_only(int.__and__)(x, y)


def _shift_left(x: Integer, y: Integer) -> Integer:
    shifts = not y.modulus and 0 <= y.rest < 64
    return _multiply(x, exactly(1 << y.rest)) if shifts else _made(0, 1, None, x, y)


def _shift_right(x: Integer, y: Integer) -> Integer:
    shifts = not y.modulus and 0 <= y.rest < 64
    return _divide(x, exactly(1 << y.rest)) if shifts else _made(0, 1, None, x, y)


def _exact_only(compute: Callable[[int, int], int]) -> Callable[[Integer, Integer], Integer]:
    def result(x: Integer, y: Integer) -> Integer:
        known = not x.modulus and not y.modulus
        return exactly(compute(x.rest, y.rest)) if known else _made(0, 1, None, x, y)

    return result


def _unsigned(compute: Callable[[Integer, Integer], Integer]) -> Any:
    """An operation that sees negative numbers as large ones, of which we know nothing."""

    def result(x: Integer, y: Integer) -> Integer:
        return compute(x, y) if _is_natural(x) and _is_natural(y) else _made(0, 1, None, x, y)

    return result


def select(condition: Integer, x: Integer, y: Integer) -> Integer:
    """`arith.select`."""
    if not condition.modulus:
        return x if condition.rest else y
    either = joined(x, y)
    return either._replace(uniform=either.uniform and condition.uniform)


def less(x: Integer, y: Integer) -> Integer:
    """Whether x < y: 0, 1 or not known."""
    if not x.modulus and not y.modulus:
        return exactly(int(x.rest < y.rest))
    if not y.modulus and x.least is not None and x.least >= y.rest:
        return exactly(0)
    if not x.modulus and y.least is not None and y.least > x.rest:
        return exactly(1)
    return _made(0, 1, 0, x, y)


def _equal(x: Integer, y: Integer) -> Integer:
    step = gcd(x.modulus, y.modulus)
    if not step:
        return exactly(int(x.rest == y.rest))
    apart = (x.rest - y.rest) % step != 0
    if apart or less(x, y).exact == 1 or less(y, x).exact == 1:
        return exactly(0)
    return _made(0, 1, 0, x, y)


def _not(x: Integer) -> Integer:
    return x if x.modulus else exactly(1 - x.rest)


#: The comparisons of `arith.cmpi` in the order of its predicate attribute.
COMPARISONS: tuple[Callable[[Integer, Integer], Integer], ...] = (
    _equal,
    lambda x, y: _not(_equal(x, y)),
    less,
    lambda x, y: _not(less(y, x)),
    lambda x, y: less(y, x),
    lambda x, y: _not(less(x, y)),
    _unsigned(less),
    _unsigned(lambda x, y: _not(less(y, x))),
    _unsigned(lambda x, y: less(y, x)),
    _unsigned(lambda x, y: _not(less(x, y))),
)

#: Ops of `arith` with integer operands.
OPERATIONS: dict[str, Callable[..., Integer]] = {
    "arith.addi": plus,
    "arith.subi": _subtract,
    "arith.muli": _multiply,
    "arith.remui": _remainder,
    "arith.remsi": _remainder,
    "arith.divui": _divide,
    "arith.divsi": _divide,
    "arith.andi": _and,
    "arith.ori": _exact_only(int.__or__),
    "arith.xori": _exact_only(int.__xor__),
    "arith.shli": _shift_left,
    "arith.shrui": _shift_right,
    "arith.maxui": _unsigned(_exact_only(max)),
    "arith.minui": _unsigned(_exact_only(min)),
    "arith.maxsi": _exact_only(max),
    "arith.minsi": _exact_only(min),
    "arith.index_cast": lambda x: x,
    "arith.index_castui": lambda x: x,
    "arith.extsi": lambda x: x,
    "arith.extui": lambda x: x,
    "arith.select": select,
}
