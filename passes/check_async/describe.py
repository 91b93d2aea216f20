"""Print integers of a kernel, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...ir.parameters import extent_multiple, extent_name, parameter_name
from ..order.report import label
from .intervals import Interval, Intervals, predicate_of
from .polynomials import Polynomial, Symbol, SymbolTable, Term

#: How many bounds are tried.
_TRIED = 8

#: Ops with two operands, as Python writes them.
_INFIX = {
    "arith.divui": "//",
    "arith.divsi": "//",
    "arith.floordivsi": "//",
    "arith.remui": "%",
    "arith.remsi": "%",
    "arith.shrui": ">>",
    "arith.shrsi": ">>",
    "arith.shli": "<<",
    "arith.andi": "&",
    "arith.ori": "|",
    "arith.xori": "^",
}
#: The predicates of `arith.cmpi`: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge.
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")

_FUNCTIONS = {
    "arith.ceildivui": "ceildiv",
    "arith.ceildivsi": "ceildiv",
    "arith.minui": "min",
    "arith.minsi": "min",
    "arith.maxui": "max",
    "arith.maxsi": "max",
}


class PolynomialPrinter:
    """Prints polynomials of a function as Python expressions.

    Args:
        function: the function.
        symbols: its symbols.
    """

    def __init__(self, function: Op, symbols: SymbolTable) -> None:
        self._function = function
        self._symbols = symbols

    def runs(self, known: Intervals, is_known: Callable[[Intervals], bool]) -> str:
        """Return a clause that says on which runs something is not known, and what to assume if there
        are none.

        Args:
            known: what is known of integers on some of these runs.
            is_known: whether it is known if more is known of the integers.

        Returns:
            A clause such as "where K // 64 is 0; if that is never so, assume K // 64 >= 1
            (llvm.intr.assume)". Empty if no integer with a name decides.
        """
        for text, key, interval in self._bounded_above(known):
            if _is_comparison(key):
                if interval.high == 0:
                    return f"where {text} does not hold; if it always does, assume it (llvm.intr.assume)"
                continue
            for bound in _bounds(interval):
                narrowed = known.copy()
                if not narrowed.assume(key, Interval(bound)) or is_known(narrowed):
                    low, high = interval.low, bound - 1
                    value = f"{high}" if low == high else f"at most {high}"
                    return (
                        f"where {text} is {value}; if that is never so, assume {text} >= {bound} "
                        "(llvm.intr.assume)"
                    )
        return ""

    def facts(self, known: Intervals) -> str:
        """Return what is known of integers that have names, such as "K // 64 is 3 or more"."""
        clauses = []
        for key, interval in known.intervals.items():
            text, (low, high) = self.text(key), interval
            if text is None or interval == Interval(key.lower_bound):
                continue
            if _is_comparison(key):
                clauses.append(text if low == 1 else f"not {text}")
            elif low == high:
                clauses.append(f"{text} is {low}")
            elif high is None:
                clauses.append(f"{text} is {low} or more")
            else:
                clauses.append(
                    f"{text} is {high} or less" if low is None else f"{text} is {low} to {high}"
                )
        return " and ".join(clauses)

    def _bounded_above(self, known: Intervals) -> Iterator[tuple[str, Polynomial, Interval]]:
        """Yield integers that have names and an upper bound, each with its interval."""
        for key, interval in known.intervals.items():
            if interval.high is not None and (text := self.text(key)) is not None:
                yield text, key, known.bounds(key)

    def text(self, polynomial: Polynomial) -> str | None:
        """Return the expression of a polynomial, such as "2 * K - 1"; None if an integer has no name."""
        text = ""
        # Python writes the constant last.
        for term in sorted(polynomial.terms, key=lambda term: not term[0]):
            product = self._product(term)
            if product is None:
                return None
            sign = "-" if term[1] < 0 else "+"
            text = f"{text} {sign} {product}" if text else f"{'-' * (term[1] < 0)}{product}"
        return text or "0"

    def _product(self, term: Term) -> str | None:
        symbols, coefficient = term
        names = []
        for symbol in symbols:
            # The symbol of an extent is a part of it.
            multiple = 1 if symbol.operands else self._multiple(*self._symbols.key_of(symbol))
            is_whole = coefficient % multiple == 0
            coefficient //= multiple if is_whole else 1
            name = self._symbol(symbol)
            names.append(name if is_whole or name is None else f"{name} // {multiple}")
        if any(name is None for name in names):
            return None
        factors = [str(abs(coefficient))] if abs(coefficient) != 1 or not names else []
        return " * ".join([*factors, *(str(name) for name in names)])

    def _symbol(self, symbol: Symbol) -> str | None:
        if not symbol.operands:
            return self._leaf(*self._symbols.key_of(symbol))
        operands = [self.text(operand) for operand in symbol.operands]
        if any(operand is None for operand in operands):
            return None
        if symbol.name == "arith.cmpi":
            return f" {_COMPARISONS[predicate_of(symbol)]} ".join(map(str, operands))
        if symbol.name in _INFIX:
            left, right = (
                f"({text})" if len(x.terms) > 1 else text
                for text, x in zip(operands, symbol.operands, strict=True)
            )
            return f"{left} {_INFIX[symbol.name]} {right}"
        if symbol.name in _FUNCTIONS:
            return f"{_FUNCTIONS[symbol.name]}({', '.join(map(str, operands))})"
        if symbol.name == "memref.load":
            array = int(symbol.signature.split()[0])
            return f"{parameter_name(self._function, array)}[{', '.join(map(str, operands))}]"
        return None

    def _multiple(self, kind: str, *key: Any) -> int:
        if kind != "extent":
            return 1
        memref, dim = key
        return extent_multiple(self._function, memref.arg_number, dim)

    def _leaf(self, kind: str, *key: Any) -> str | None:
        if kind == "extent":
            memref, dim = key
            return extent_name(self._function, memref.arg_number, dim)
        if kind == "value" and isinstance(key[0], ir.Value):
            owner = key[0].owner
            if not isinstance(owner, ir.Block):
                return f"the {label(owner)}"
            if owner.owner.operation == self._function:
                return parameter_name(self._function, key[0].arg_number)
        return f"{kind} {key[0]}" if kind.startswith("gpu.") else None


def _is_comparison(polynomial: Polynomial) -> bool:
    return polynomial.symbol is not None and polynomial.symbol.name == "arith.cmpi"


def _bounds(interval: Interval) -> range:
    """Return lower bounds to assume of an integer, the weakest first; the last one contradicts
    `interval`."""
    low, high = interval
    assert high is not None
    return range(high + 1 - _TRIED if low is None else max(low + 1, high + 2 - _TRIED), high + 2)
