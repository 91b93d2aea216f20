"""Polynomials over unknown integers of a kernel: pipeline indices, loop bounds and starts of subtiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from math import prod
from typing import TypeAlias

from ...dialect.irtypes import Op, Value

#: What a symbol can change with: a loop, a partition, or a value.
Variable: TypeAlias = Op | Value


class Divergence(IntEnum):
    """The threads of a cluster between which an integer may differ; each member includes those before.

    An integer with `BETWEEN_CTAS`, for example, is the same for all threads of one CTA.
    """

    NONE, BETWEEN_CTAS, BETWEEN_WARPGROUPS, BETWEEN_THREADS = range(4)


@dataclass(frozen=True, eq=False)
class Symbol:
    """An unknown integer.

    Attributes:
        number: identifies it, and orders symbols.
        name: the op that computes it from `operands`; empty if it is not computed from any.
        more: the attributes and the type of that op.
        operands: what it is computed from.
        varies: the loops, partitions and values with which it may change from one use to another.
        divergence: the threads between which it may differ.
        lower_bound: it is not below this; None if not known.
        same_in_pair: whether threads of the same number have the same value in both CTAs of a pair.
        same_in_cluster: whether they have in all CTAs of a cluster.
    """

    number: int
    name: str
    more: str
    operands: tuple[Polynomial, ...]
    varies: frozenset[Variable]
    divergence: Divergence
    lower_bound: int | None
    same_in_pair: bool
    same_in_cluster: bool


#: Ops whose result is the lowest of their operands.
MINIMA = ("arith.minui", "arith.minsi")

#: A product of symbols, in the order of their numbers, and its coefficient.
Term: TypeAlias = tuple[tuple[Symbol, ...], int]


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of symbols, each with its coefficient; integers are assumed not to overflow."""

    terms: tuple[Term, ...] = ()

    def __add__(self, other: Polynomial) -> Polynomial:
        if not self.terms or not other.terms:
            return self if self.terms else other
        return _sum((*self.terms, *other.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other * number(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        if (factor := other.constant) is not None:
            return Polynomial(tuple((symbols, x * factor) for symbols, x in self.terms if factor))
        return _sum(
            [
                (tuple(sorted((*a, *b), key=lambda s: s.number)), x * y)
                for a, x in self.terms
                for b, y in other.terms
            ]
        )

    @property
    def constant(self) -> int | None:
        """The value of a constant polynomial; None if it has symbols."""
        if not self.terms:
            return 0
        (symbols, coefficient), *others = self.terms
        return None if symbols or others else coefficient

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols in it."""
        return frozenset(symbol for symbols, _ in self.terms for symbol in symbols)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that the polynomial is equal to; None if it is not one symbol."""
        if len(self.terms) == 1 and len(self.terms[0][0]) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0][0]
        return None

    @cached_property
    def varies(self) -> frozenset[Variable]:
        """The loops, partitions and values with which it may change; see `Symbol`."""
        return frozenset().union(*(symbol.varies for symbol in self.symbols))

    @property
    def divergence(self) -> Divergence:
        """The threads between which it may differ."""
        return max((symbol.divergence for symbol in self.symbols), default=Divergence.NONE)

    @property
    def same_in_pair(self) -> bool:
        """Whether threads of the same number have the same value in both CTAs of a pair."""
        return all(symbol.same_in_pair for symbol in self.symbols)

    @property
    def same_in_cluster(self) -> bool:
        """Whether threads of the same number have the same value in all CTAs of a cluster."""
        return all(symbol.same_in_cluster for symbol in self.symbols)

    @cached_property
    def lower_bound(self) -> int | None:
        """A number that it is not below; None if none is known."""
        total, subtracted = 0, False
        for symbols, coefficient in self.terms:
            bounds = [symbol.lower_bound for symbol in symbols]
            if not symbols:
                total += coefficient
            elif coefficient < 0 or any(x is None or x < 0 for x in bounds):
                subtracted = True
            else:
                total += coefficient * prod(x for x in bounds if x is not None)
        return _highest(x.lower_bound for x in self._without_a_minimum()) if subtracted else total

    def _without_a_minimum(self) -> Iterator[Polynomial]:
        """Yield polynomials that are not above this one, with an operand for a subtracted minimum."""
        for place, (symbols, coefficient) in enumerate(self.terms):
            if coefficient < 0 and len(symbols) == 1 and symbols[0].name in MINIMA:
                rest = Polynomial(self.terms[:place] + self.terms[place + 1 :])
                for operand in symbols[0].operands:
                    if _is_above(operand, symbols[0]):
                        yield rest + operand * number(coefficient)

    def split(self, symbol: Symbol) -> tuple[int, Polynomial] | None:
        """Return (a, b) with the polynomial = a * symbol + b and a constant a; None if not possible."""
        factor, rest = 0, Polynomial()
        for symbols, coefficient in self.terms:
            if symbols == (symbol,):
                factor = coefficient
            else:
                rest = rest + Polynomial(((symbols, coefficient),))
        return None if symbol.varies & rest.varies else (factor, rest)


def _is_above(operand: Polynomial, minimum: Symbol) -> bool:
    """Whether an operand of a minimum is not below it; a negative one of an unsigned minimum is."""
    bound = operand.lower_bound
    return minimum.name == "arith.minsi" or (bound is not None and bound >= 0)


def _highest(bounds: Iterable[int | None]) -> int | None:
    return max((bound for bound in bounds if bound is not None), default=None)


def number(value: int) -> Polynomial:
    """Return a constant polynomial."""
    return Polynomial((((), value),)) if value else Polynomial()


def variable(symbol: Symbol) -> Polynomial:
    """Return the polynomial that is one symbol."""
    return Polynomial((((symbol,), 1),))


def _sum(terms: Iterable[Term]) -> Polynomial:
    """Add the terms with the same symbols, and sort them by the symbols' numbers."""
    added: dict[tuple[Symbol, ...], int] = {}
    for symbols, coefficient in terms:
        added[symbols] = added.get(symbols, 0) + coefficient
    left = [(symbols, coefficient) for symbols, coefficient in added.items() if coefficient]
    if len(left) > 1:
        left.sort(key=lambda term: [s.number for s in term[0]])
    return Polynomial(tuple(left))
