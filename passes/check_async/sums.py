"""Sums of what the iterations of a loop add to a number that it carries."""

from __future__ import annotations

from collections.abc import Callable

from .polynomials import Polynomial, Symbol, number, variable
from .symbols import SymbolTable

#: The name of a symbol that is a sum; its operands are the term and the number of iterations.
SUM = "sum"

#: How many last terms of a sum stand apart: the sum after the next iteration is this one and a term.
_APART = 4

#: Replaces a symbol in a polynomial; returns None if the result is not known.
Replace = Callable[[Polynomial, Symbol, Polynomial], Polynomial | None]


class Sums:
    """The sums of a function. Loops whose terms are computed alike have equal sums, in all partitions.

    Args:
        symbols: the symbols of the function.
        replaced: replaces a symbol in a polynomial.
    """

    def __init__(self, symbols: SymbolTable, replaced: Replace) -> None:
        self._symbols = symbols
        self._replaced = replaced
        self._depths: dict[Symbol, int] = {}

    def over(self, grown: Polynomial, number_of: Symbol, count: Polynomial) -> Polynomial | None:
        """Return what the first iterations of a loop add together.

        Args:
            grown: what an iteration adds.
            number_of: the number of that iteration.
            count: how many iterations.

        Returns:
            The sum; None if an iteration adds what does not follow from its number.
        """
        depth = self._depth(grown) + 1
        term = self._replaced(grown, number_of, variable(self._iteration(depth)))
        if term is None or number_of.varies & term.varies:
            return None
        return self.of(term, count, depth)

    def _iteration(self, depth: int) -> Symbol:
        """Return what stands for the number of an iteration in a term with sums up to a depth.

        It changes with nothing else. Those of the sums in a term are others, so they are never confused.
        """
        return self._symbols.of((SUM, depth), by=f"iteration {depth}", lower_bound=0)

    def _depth(self, polynomial: Polynomial) -> int:
        """Return how deep the sums in a polynomial are nested; 0 if there are none."""
        for symbol in polynomial.symbols:
            if symbol not in self._depths:
                inner = max(map(self._depth, symbol.operands), default=0)
                self._depths[symbol] = max(inner, int(symbol.more) if symbol.name == SUM else 0)
        return max((self._depths[symbol] for symbol in polynomial.symbols), default=0)

    def of(self, term: Polynomial, count: Polynomial, depth: int) -> Polynomial:
        """Return the sum of a term over the first iterations.

        Args:
            term: what an iteration adds, by its number: a symbol for that depth.
            count: how many iterations.
            depth: more than that of sums in the term.
        """
        iteration = self._iteration(depth)
        last = dict(count.terms).get((), 0)
        if 0 < last <= _APART:
            before = count - number(last)
            found = self.of(term, before, depth)
            for i in range(last):
                further = self._replaced(term, iteration, before + number(i))
                if further is None:
                    break
                found = found + further
            else:
                return found
        if -_APART <= last < 0:
            # The terms between are not in it.
            later = count - number(last)
            terms = [self._replaced(term, iteration, count + number(i)) for i in range(-last)]
            known = [each for each in terms if each is not None]
            if later.terms and len(known) == len(terms):
                return sum((each * number(-1) for each in known), self.of(term, later, depth))
        if count.constant == 0:
            return number(0)
        operands, least = (term, count), term.lower_bound
        symbol = self._symbols.of(
            (SUM, str(depth), operands),
            operands,
            max(x.divergence for x in operands),
            0 if least is not None and least >= 0 else None,
            bound=iteration,
        )
        return variable(symbol)
