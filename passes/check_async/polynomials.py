"""Polynomials over what is not known of a kernel: steps, bounds of loops and starts of parts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import prod
from typing import Any


class Spread(IntEnum):
    """Among whom a number is the same: all threads of the cluster, of the block, of the warpgroup, or
    no more than one."""

    CLUSTER, BLOCK, WARPGROUP, THREAD = range(4)


@dataclass(frozen=True, eq=False)
class Symbol:
    """A number that is not known.

    Attributes:
        number: tells it from others, and orders them.
        name: the op that computes it from `operands`; empty if it is not computed from any.
        more: what else the op needs to be the same.
        operands: what it is computed from.
        varies: the loops, the partitions and the values by which it may change from one use to another.
        spread: among whom it is the same.
        least: a number that it is not below; None if none is known.
        alike: whether threads of the same number have the same in both blocks of a pair.
    """

    number: int
    name: str
    more: str
    operands: tuple[Polynomial, ...]
    varies: frozenset[Any]
    spread: Spread
    least: int | None
    alike: bool


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of symbols, each with its coefficient. Integers are taken not to wrap around."""

    terms: tuple[tuple[tuple[Symbol, ...], int], ...] = ()

    def __add__(self, other: Polynomial) -> Polynomial:
        return _sum((*self.terms, *other.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other * number(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _sum(
            [
                (tuple(sorted((*a, *b), key=lambda s: s.number)), x * y)
                for a, x in self.terms
                for b, y in other.terms
            ]
        )

    @property
    def constant(self) -> int | None:
        """The number that the form is; None if it has symbols."""
        if not self.terms:
            return 0
        (symbols, coefficient), *others = self.terms
        return None if symbols or others else coefficient

    @property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols that it is made of."""
        return frozenset(symbol for symbols, _ in self.terms for symbol in symbols)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that the form is; None if it is more than one."""
        if len(self.terms) == 1 and len(self.terms[0][0]) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0][0]
        return None

    @property
    def varies(self) -> frozenset[Any]:
        """See `Symbol`."""
        return frozenset().union(*(symbol.varies for symbol in self.symbols))

    @property
    def spread(self) -> Spread:
        """Among whom it is the same."""
        return max((symbol.spread for symbol in self.symbols), default=Spread.CLUSTER)

    @property
    def alike(self) -> bool:
        """Whether threads of the same number have the same in both blocks of a pair."""
        return all(symbol.alike for symbol in self.symbols)

    @property
    def least(self) -> int | None:
        """A number that it is not below; None if none is known."""
        total = 0
        for symbols, coefficient in self.terms:
            least = [symbol.least for symbol in symbols]
            if not symbols:
                total += coefficient
            elif coefficient < 0 or any(x is None or x < 0 for x in least):
                return None
            else:
                total += coefficient * prod(x for x in least if x is not None)
        return total

    def split(self, symbol: Symbol) -> tuple[int, Polynomial] | None:
        """(a, b) of a form that is a * symbol + b with a number a; None if it is not of that kind."""
        factor, rest = 0, Polynomial()
        for symbols, coefficient in self.terms:
            if symbols == (symbol,):
                factor = coefficient
            else:
                rest = rest + Polynomial(((symbols, coefficient),))
        return None if symbol.varies & rest.varies else (factor, rest)


def number(value: int) -> Polynomial:
    """A number that is known."""
    return Polynomial((((), value),)) if value else Polynomial()


def one(symbol: Symbol) -> Polynomial:
    """A symbol alone."""
    return Polynomial((((symbol,), 1),))


def _sum(terms: tuple | list) -> Polynomial:
    """The form with terms of the same symbols added, in the order of the symbols' numbers."""
    added: dict[tuple[Symbol, ...], int] = {}
    for symbols, coefficient in terms:
        added[symbols] = added.get(symbols, 0) + coefficient
    left = [(symbols, coefficient) for symbols, coefficient in added.items() if coefficient]
    return Polynomial(tuple(sorted(left, key=lambda term: [s.number for s in term[0]])))
