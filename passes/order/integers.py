"""Abstract integers: a residue modulo some number, a lower bound, and whether they are uniform."""

from collections.abc import Callable
from math import gcd
from typing import NamedTuple


class Integer(NamedTuple):
    """What is known of an integer; integers are assumed not to overflow.

    Attributes:
        residue: the integer modulo `modulus`.
        modulus: 0 if the integer is exactly `residue`.
        lower_bound: it is not below this; None if not known.
        uniform: whether it is known to be the same for all threads of the CTA.
    """

    residue: int
    modulus: int
    lower_bound: int | None
    uniform: bool = True

    @property
    def exact(self) -> int | None:
        """The integer; None if not known."""
        return None if self.modulus else self.residue

    def widen(self, modulus: int, bound: int) -> "Integer":
        """Return one of finitely many abstract integers that include this one.

        It is exact up to `bound`, and a residue modulo `modulus` beyond.
        """
        if not self.modulus and abs(self.residue) <= bound:
            return self
        step = gcd(self.modulus, modulus)
        lower_bound = (
            None
            if self.lower_bound is None or self.lower_bound < -bound
            else min(self.lower_bound, bound)
        )
        return Integer(self.residue % step, step, lower_bound, self.uniform)


def exactly(number: int) -> Integer:
    """Return a known integer."""
    return Integer(number, 0, number)


#: An unknown integer that is the same for all threads, and one that may differ between them.
UNKNOWN = Integer(0, 1, None)
VARIES = Integer(0, 1, None, uniform=False)


def join(x: Integer, y: Integer) -> Integer:
    """Return what is known of an integer that is one of two."""
    lower_bound = (
        None
        if x.lower_bound is None or y.lower_bound is None
        else min(x.lower_bound, y.lower_bound)
    )
    return _derive(x.residue, gcd(x.modulus, y.modulus, x.residue - y.residue), lower_bound, x, y)


def _derive(residue: int, modulus: int, lower_bound: int | None, *sources: Integer) -> Integer:
    """Return an integer that is computed from others."""
    if not modulus:
        return exactly(residue)
    return Integer(residue % modulus, modulus, lower_bound, all(s.uniform for s in sources))


def plus(x: Integer, y: Integer) -> Integer:
    """Return the sum of two integers."""
    lower_bound = (
        None if x.lower_bound is None or y.lower_bound is None else x.lower_bound + y.lower_bound
    )
    return _derive(x.residue + y.residue, gcd(x.modulus, y.modulus), lower_bound, x, y)


def _subtract(x: Integer, y: Integer) -> Integer:
    lower_bound = None if x.lower_bound is None or y.modulus else x.lower_bound - y.residue
    return _derive(x.residue - y.residue, gcd(x.modulus, y.modulus), lower_bound, x, y)


def _multiply(x: Integer, y: Integer) -> Integer:
    modulus = gcd(x.residue * y.modulus, y.residue * x.modulus, x.modulus * y.modulus)
    positive = (
        x.lower_bound is not None
        and y.lower_bound is not None
        and min(x.lower_bound, y.lower_bound) >= 0
    )
    return _derive(x.residue * y.residue, modulus, 0 if positive else None, x, y)


def _is_natural(x: Integer) -> bool:
    return x.lower_bound is not None and x.lower_bound >= 0


def _remainder(x: Integer, y: Integer) -> Integer:
    if y.modulus or y.residue <= 0 or not _is_natural(x):
        return _derive(0, 1, None, x, y)
    modulus = gcd(x.modulus, y.residue)
    if modulus == y.residue or not x.modulus:
        return exactly(x.residue % y.residue)
    return _derive(x.residue, modulus, 0, x, y)


def _divide(x: Integer, y: Integer) -> Integer:
    if y.modulus or y.residue <= 0 or not _is_natural(x) or x.modulus % y.residue:
        return _derive(0, 1, 0 if _is_natural(x) and _is_natural(y) else None, x, y)
    assert x.lower_bound is not None
    return _derive(x.residue // y.residue, x.modulus // y.residue, x.lower_bound // y.residue, x, y)


def _and(x: Integer, y: Integer) -> Integer:
    for mask, other in ((y, x), (x, y)):
        if mask.exact == 0:
            return exactly(0)
        low_bits = not mask.modulus and mask.residue & (mask.residue + 1) == 0
        if low_bits and _is_natural(other):
            return _remainder(other, exactly(mask.residue + 1))
    return _exact_only(int.__and__)(x, y)


def _shift_left(x: Integer, y: Integer) -> Integer:
    shifts = not y.modulus and 0 <= y.residue < 64
    return _multiply(x, exactly(1 << y.residue)) if shifts else _derive(0, 1, None, x, y)


def _shift_right(x: Integer, y: Integer) -> Integer:
    shifts = not y.modulus and 0 <= y.residue < 64
    return _divide(x, exactly(1 << y.residue)) if shifts else _derive(0, 1, None, x, y)


def _exact_only(compute: Callable[[int, int], int]) -> Callable[[Integer, Integer], Integer]:
    def result(x: Integer, y: Integer) -> Integer:
        known = not x.modulus and not y.modulus
        return exactly(compute(x.residue, y.residue)) if known else _derive(0, 1, None, x, y)

    return result


def _make_unsigned(
    compute: Callable[[Integer, Integer], Integer],
) -> Callable[[Integer, Integer], Integer]:
    """Return an unsigned operation: its result is unknown for operands that may be negative."""

    def result(x: Integer, y: Integer) -> Integer:
        return compute(x, y) if _is_natural(x) and _is_natural(y) else _derive(0, 1, None, x, y)

    return result


def select(condition: Integer, x: Integer, y: Integer) -> Integer:
    """Return the result of `arith.select`."""
    if not condition.modulus:
        return x if condition.residue else y
    either = join(x, y)
    return either._replace(uniform=either.uniform and condition.uniform)


def less(x: Integer, y: Integer) -> Integer:
    """Return whether x < y: 0, 1 or unknown."""
    if not x.modulus and not y.modulus:
        return exactly(int(x.residue < y.residue))
    if not y.modulus and x.lower_bound is not None and x.lower_bound >= y.residue:
        return exactly(0)
    if not x.modulus and y.lower_bound is not None and y.lower_bound > x.residue:
        return exactly(1)
    return _derive(0, 1, 0, x, y)


def _equal(x: Integer, y: Integer) -> Integer:
    step = gcd(x.modulus, y.modulus)
    if not step:
        return exactly(int(x.residue == y.residue))
    different = (x.residue - y.residue) % step != 0
    if different or less(x, y).exact == 1 or less(y, x).exact == 1:
        return exactly(0)
    return _derive(0, 1, 0, x, y)


def _not(x: Integer) -> Integer:
    return x if x.modulus else exactly(1 - x.residue)


#: The comparisons of `arith.cmpi` in the order of its predicate attribute.
COMPARISONS: tuple[Callable[[Integer, Integer], Integer], ...] = (
    _equal,
    lambda x, y: _not(_equal(x, y)),
    less,
    lambda x, y: _not(less(y, x)),
    lambda x, y: less(y, x),
    lambda x, y: _not(less(x, y)),
    _make_unsigned(less),
    _make_unsigned(lambda x, y: _not(less(y, x))),
    _make_unsigned(lambda x, y: less(y, x)),
    _make_unsigned(lambda x, y: _not(less(x, y))),
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
    "arith.maxui": _make_unsigned(_exact_only(max)),
    "arith.minui": _make_unsigned(_exact_only(min)),
    "arith.maxsi": _exact_only(max),
    "arith.minsi": _exact_only(min),
    "arith.index_cast": lambda x: x,
    "arith.index_castui": lambda x: x,
    "arith.extsi": lambda x: x,
    "arith.extui": lambda x: x,
    "arith.select": select,
}
