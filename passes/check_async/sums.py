"""Sums of what the iterations of a loop add to a number that it carries."""

from __future__ import annotations

from collections.abc import Callable

from ...dialect.irtypes import Op
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
        function: the function.
        symbols: its symbols.
        replaced: replaces a symbol in a polynomial.
    """

    def __init__(self, function: Op, symbols: SymbolTable, replaced: Replace) -> None:
        self._symbols = symbols
        self._replaced = replaced
        #: Stands for the number of an iteration in a term. It changes with nothing else.
        self._iteration = symbols.of((SUM,), by=function, lower_bound=0)

    def over(self, grown: Polynomial, number_of: Symbol, count: Polynomial) -> Polynomial | None:
        """Return what the first iterations of a loop add together.

        Args:
            grown: what an iteration adds.
            number_of: the number of that iteration.
            count: how many iterations.

        Returns:
            The sum; None if an iteration adds what does not follow from its number, or a sum itself.
        """
        term = self._replaced(grown, number_of, variable(self._iteration))
        if term is None or number_of.varies & term.varies or _has_sum(term):
            return None
        return self.of(term, count)

    def of(self, term: Polynomial, count: Polynomial) -> Polynomial:
        """Return the sum of a term over the first iterations."""
        last = dict(count.terms).get((), 0)
        if 0 < last <= _APART:
            before = count - number(last)
            found = self.of(term, before)
            for i in range(last):
                further = self._replaced(term, self._iteration, before + number(i))
                if further is None:
                    break
                found = found + further
            else:
                return found
        if count.constant == 0:
            return number(0)
        operands, least = (term, count), term.lower_bound
        symbol = self._symbols.of(
            (SUM, "", operands),
            operands,
            max(x.divergence for x in operands),
            0 if least is not None and least >= 0 else None,
            bound=self._iteration,
        )
        return variable(symbol)


def _has_sum(polynomial: Polynomial) -> bool:
    # Symbols share operands; each is visited once.
    seen: set[Symbol] = set()
    todo = [polynomial]
    while todo:
        symbols = [symbol for symbol in todo.pop().symbols if symbol not in seen]
        if any(symbol.name == SUM for symbol in symbols):
            return True
        seen.update(symbols)
        todo.extend(operand for symbol in symbols for operand in symbol.operands)
    return False
