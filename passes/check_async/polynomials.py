"""Polynomials over unknown integers of a kernel: pipeline indices, loop bounds and starts of subtiles.

Each computation has one symbol, so that polynomials can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from math import gcd, prod
from typing import TypeAlias

from ...bindings.irtypes import Op, Value
from ...ir.op_address import OpIdentity

#: What a symbol can vary with: a loop, a partition, a value, or a named symbol.
Variable: TypeAlias = OpIdentity | Value | str


class Divergence(IntEnum):
    """The threads of a cluster between which an integer may differ; each member includes earlier ones.

    An integer with `BETWEEN_CTAS`, for example, is the same for all threads of one CTA.
    """

    NONE, BETWEEN_CTAS, BETWEEN_WARPGROUPS, BETWEEN_THREADS = range(4)


@dataclass(frozen=True, eq=False)
class Symbol:
    """An unknown integer.

    Attributes:
        number: identifies it, and orders symbols.
        name: the op that computes it from `operands`; empty if it is not computed from any.
        signature: the attributes and the result type of that op.
        operands: the operands of that op.
        varies: the loops, partitions and values with which it may vary from one use to another.
        divergence: the threads between which it may differ.
        lower_bound: it is not below this; None if not known.
        same_in_pair: whether threads of the same number have the same value in both CTAs of a pair.
        same_in_cluster: whether they have the same value in all CTAs of a cluster.
    """

    number: int
    name: str
    signature: str
    operands: tuple[Polynomial, ...]
    varies: frozenset[Variable]
    divergence: Divergence
    lower_bound: int | None
    same_in_pair: bool
    same_in_cluster: bool

    @cached_property
    def polynomial(self) -> Polynomial:
        """The symbol as a polynomial."""
        return Polynomial((((self,), 1),))


#: Ops whose result is the lowest of their operands.
MINIMA = ("arith.minui", "arith.minsi")

#: The name of a symbol that is a loop's trip count; its operands are the bounds, and the step.
TRIPS = "trips"

#: A product of symbols, in the order of their numbers, and its coefficient.
Term: TypeAlias = tuple[tuple[Symbol, ...], int]


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of symbols, each with its coefficient; integers are assumed not to overflow."""

    terms: tuple[Term, ...] = ()

    def __add__(self, other: Polynomial) -> Polynomial:
        if not self.terms or not other.terms:
            return self if self.terms else other
        if len(other.terms) == 1 and not other.terms[0][0]:
            return self._plus(other.terms[0][1])
        return _sum((*self.terms, *other.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        if len(other.terms) == 1 and not other.terms[0][0]:
            return self._plus(-other.terms[0][1])
        return self + other * number(-1)

    def _plus(self, added: int) -> Polynomial:
        """Return the sum with a constant, whose term comes first."""
        constant, terms = added, self.terms
        if terms and not terms[0][0]:
            constant, terms = added + terms[0][1], terms[1:]
        return Polynomial((((), constant), *terms) if constant else terms)

    def __mul__(self, other: Polynomial) -> Polynomial:
        if (factor := other.constant) is not None:
            if factor == 1:
                return self
            return Polynomial(tuple((symbols, x * factor) for symbols, x in self.terms if factor))
        return _sum(
            [
                (tuple(sorted((*a, *b), key=lambda s: s.number)), x * y)
                for a, x in self.terms
                for b, y in other.terms
            ]
        )

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @property
    def constant(self) -> int | None:
        """The value of a constant polynomial; None if it has symbols."""
        terms = self.terms
        if not terms:
            return 0
        return terms[0][1] if len(terms) == 1 and not terms[0][0] else None

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols in it."""
        return frozenset(symbol for symbols, _ in self.terms for symbol in symbols)

    @cached_property
    def products(self) -> frozenset[tuple[Symbol, ...]]:
        """The products of several symbols in it."""
        return frozenset(symbols for symbols, _ in self.terms if len(symbols) > 1)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that the polynomial consists of; None if it is not one symbol."""
        if len(self.terms) == 1 and len(self.terms[0][0]) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0][0]
        return None

    @cached_property
    def varies(self) -> frozenset[Variable]:
        """The loops, partitions and values with which it may vary; see `Symbol`."""
        return frozenset().union(*(symbol.varies for symbol in self.symbols))

    def depends_on(self, symbol: Symbol) -> bool:
        """Whether a symbol is in it, or both may vary with the same loop, partition or value."""
        return symbol in self.symbols or bool(symbol.varies & self.varies)

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
        """Yield polynomials p <= this one, in which an operand replaces a subtracted minimum."""
        for position, (symbols, coefficient) in enumerate(self.terms):
            if coefficient < 0 and len(symbols) == 1 and symbols[0].name in MINIMA:
                other_terms = Polynomial(self.terms[:position] + self.terms[position + 1 :])
                for operand in symbols[0].operands:
                    if _is_above(operand, symbols[0]):
                        yield other_terms + operand * number(coefficient)

    @cached_property
    def normal(self) -> tuple[Polynomial, int, int]:
        """(key, sign, constant), with the polynomial = sign * key + constant: the key has no constant
        term, and its first coefficient is positive."""
        constant = sum(x for symbols, x in self.terms if not symbols)
        nonconstant = Polynomial(tuple(term for term in self.terms if term[0]))
        if nonconstant.terms and nonconstant.terms[0][1] < 0:
            return nonconstant * number(-1), -1, constant
        return nonconstant, 1, constant

    @cached_property
    def primitive_part(self) -> Polynomial:
        """A polynomial that is 0 or more if and only if this one is, divided by the common divisor of its
        coefficients."""
        divisor = gcd(*(x for symbols, x in self.terms if symbols))
        if divisor <= 1:
            return self
        terms = [(symbols, x // divisor) for symbols, x in self.terms]
        return Polynomial(tuple(term for term in terms if term[1]))

    def divide(self, by: int) -> tuple[Polynomial, int | None]:
        """Return (q, r) with the polynomial = q * by + r and 0 <= r < by; r is None if not known."""
        quotient = Polynomial(tuple((symbols, x // by) for symbols, x in self.terms if x // by))
        remainder = self - quotient * number(by)
        return quotient, remainder.constant

    def split(self, symbol: Symbol) -> tuple[int, Polynomial] | None:
        """Return (a, b) with the polynomial = a * symbol + b and a constant a; None if not possible."""
        if not self.depends_on(symbol):
            return 0, self
        remainder = Polynomial(tuple(term for term in self.terms if term[0] != (symbol,)))
        factor = sum(x for symbols, x in self.terms if symbols == (symbol,))
        return None if symbol.varies & remainder.varies else (factor, remainder)

    def replace(self, symbol: Symbol, by: Polynomial) -> Polynomial:
        """Return the polynomial with another one for a symbol, but in the operands of symbols."""
        result = number(0)
        for symbols, coefficient in self.terms:
            factors = (by if factor == symbol else variable(factor) for factor in symbols)
            result += prod(factors, start=number(coefficient))
        return result


def _is_above(operand: Polynomial, minimum: Symbol) -> bool:
    """Whether an operand of a minimum is at least the minimum: not so for a negative one of an unsigned
    minimum."""
    bound = operand.lower_bound
    return minimum.name == "arith.minsi" or (bound is not None and bound >= 0)


def _highest(bounds: Iterable[int | None]) -> int | None:
    return max((bound for bound in bounds if bound is not None), default=None)


@lru_cache(maxsize=1024)
def number(value: int) -> Polynomial:
    """Return a constant polynomial."""
    return Polynomial((((), value),)) if value else Polynomial()


def variable(symbol: Symbol) -> Polynomial:
    """Return the polynomial that is one symbol."""
    return symbol.polynomial


def _sum(terms: Iterable[Term]) -> Polynomial:
    """Add the terms with the same symbols, and sort them by the symbols' numbers."""
    added: dict[tuple[Symbol, ...], int] = {}
    for symbols, coefficient in terms:
        added[symbols] = added.get(symbols, 0) + coefficient
    nonzero = [(symbols, coefficient) for symbols, coefficient in added.items() if coefficient]
    if len(nonzero) > 1:
        nonzero.sort(key=lambda term: [s.number for s in term[0]])
    return Polynomial(tuple(nonzero))


class SymbolTable:
    """The symbols of a function's values, by their keys."""

    def __init__(self) -> None:
        self._symbols: dict[tuple, Symbol] = {}
        self._keys: list[tuple] = []

    def find(self, key: tuple) -> Symbol | None:
        """Return the symbol of a key; None if there is none yet."""
        return self._symbols.get(key)

    def key_of(self, symbol: Symbol) -> tuple:
        """Return the key of a symbol."""
        return self._keys[symbol.number]

    def symbol(
        self,
        key: tuple,
        operands: tuple[Polynomial, ...] = (),
        divergence: Divergence = Divergence.NONE,
        lower_bound: int | None = None,
        by: Variable | None = None,
        within: Op | None = None,
        same_in_pair: bool = False,
        same_in_cluster: bool = False,
        bound: Symbol | None = None,
    ) -> Symbol:
        """Return the symbol of a key.

        Args:
            key: identifies it; with operands, it begins with the op's name and signature.
            operands: what it is computed from.
            divergence: the threads between which it may differ.
            lower_bound: it is not below this.
            by: a loop, partition or value with which it varies.
            within: it varies with the loops around this op.
            same_in_pair: whether it is known to be the same in both CTAs of a pair.
            same_in_cluster: whether it is known to be the same in all CTAs of a cluster.
            bound: a bound symbol of the operands, with which it does not vary: the iteration of a sum.
        """
        if key not in self._symbols:
            varies = frozenset(() if by is None else (by,)).union(*(x.varies for x in operands))
            if within is not None:
                varies |= frozenset(_loops_around(within))
            if bound is not None:
                varies -= bound.varies
            name, signature = key[:2] if operands else ("", "")
            new = len(self._symbols)
            self._keys.append(key)
            in_pair = bool(operands) and all(x.same_in_pair for x in operands)
            in_cluster = bool(operands) and all(x.same_in_cluster for x in operands)
            self._symbols[key] = Symbol(
                new,
                name,
                signature,
                operands,
                varies,
                divergence,
                lower_bound,
                same_in_pair or in_pair or divergence is Divergence.NONE,
                same_in_cluster or in_cluster or divergence is Divergence.NONE,
            )
        return self._symbols[key]

    def unknown(
        self,
        value: Hashable,
        within: Op | None,
        divergence: Divergence = Divergence.BETWEEN_THREADS,
    ) -> Symbol:
        """Return the symbol of a value of which nothing else is known."""
        return self.symbol(("value", value), divergence=divergence, within=within)


def _loops_around(op: Op | None) -> list[OpIdentity]:
    """Return the loops around an op, and the op itself if it is a loop."""
    loops = []
    while op is not None and op.name != "builtin.module":
        if op.name == "scf.for":
            loops.append(OpIdentity.of(op))
        op = op.parent.operation if op.parent is not None else None
    return loops


#: Returns the result of an op by its name, its signature, and its operands.
Compute = Callable[[str, str, tuple[Polynomial, ...]], Polynomial]


class Substitution:
    """The replacement of a symbol.

    Symbols share operands, so the paths to one of them can be exponentially many: each symbol's result is
    computed once.

    Args:
        symbol: the symbol that is replaced.
        by: what replaces it.
        compute: returns the result of an op with replaced operands.
    """

    def __init__(self, symbol: Symbol, by: Polynomial, compute: Compute) -> None:
        self._symbol, self._compute = symbol, compute
        self._results: dict[Symbol, Polynomial | None] = {symbol: by}

    def apply(self, polynomial: Polynomial) -> Polynomial | None:
        """Return a polynomial with the symbol replaced; None if the result is not known."""
        if not polynomial.depends_on(self._symbol):
            return polynomial
        result = Polynomial()
        for symbols, coefficient in polynomial.terms:
            product = number(coefficient)
            for symbol in symbols:
                if symbol not in self._results:
                    self._results[symbol] = self._of_symbol(symbol)
                factor = self._results[symbol]
                if factor is None:
                    return None
                product = product * factor
            result = result + product
        return result

    def _of_symbol(self, symbol: Symbol) -> Polynomial | None:
        if not self._symbol.varies & symbol.varies:
            return variable(symbol)
        results = [self.apply(operand) for operand in symbol.operands]
        operands = tuple(operand for operand in results if operand is not None)
        if not symbol.name or len(operands) < len(results):
            return None
        return self._compute(symbol.name, symbol.signature, operands)
