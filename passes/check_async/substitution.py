"""A symbol replaced by a polynomial, in what is computed from it."""

from __future__ import annotations

from collections.abc import Callable

from .polynomials import Polynomial, Symbol, number, variable

#: Returns the result of an op by its name, its attributes and type, and its operands.
Compute = Callable[[str, str, tuple[Polynomial, ...]], Polynomial]


class Substitution:
    """The replacement of a symbol.

    Symbols share operands, so the paths to one of them can be exponentially many: each symbol's result is
    computed once.

    Args:
        symbol: the symbol that is replaced.
        by: what replaces it.
        compute: returns an op's result of replaced operands.
    """

    def __init__(self, symbol: Symbol, by: Polynomial, compute: Compute) -> None:
        self._symbol, self._compute = symbol, compute
        self._results: dict[Symbol, Polynomial | None] = {symbol: by}

    def of(self, polynomial: Polynomial) -> Polynomial | None:
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
        results = [self.of(operand) for operand in symbol.operands]
        operands = tuple(operand for operand in results if operand is not None)
        if not symbol.name or len(operands) < len(results):
            return None
        return self._compute(symbol.name, symbol.more, operands)
