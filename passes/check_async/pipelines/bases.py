"""Counters of loops, relative to each other: a state that stands for all later iterations.

Counters are exact for the first iterations. Then one symbol, the *base*, stands for the iterations that
all threads in a loop have run, and each counter is the base plus a constant. So there are finitely many
states, and the search covers all numbers of iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..intervals import Interval, Intervals
from ..polynomials import Polynomial, Symbol, number, variable
from ..values import SymbolicValues

#: Iterations whose counters are exact.
_EXACT = 2


class Base(NamedTuple):
    """The base of a loop's counters.

    Attributes:
        symbol: how many iterations all threads in the loop have run.
        bound: the loop's trip count; those of other threads differ by a constant.
        outer: the counters of the loops around it.
    """

    symbol: Symbol
    bound: Polynomial
    outer: tuple[Polynomial, ...]


class ThreadState(NamedTuple):
    """The progress of a thread of execution.

    Attributes:
        position: that of its next instruction.
        counters: how many iterations were run of each loop around that, from the outside in.
        indices: its next pipeline index, by slot: one slot for each pipeline side.
        counts: other numbers that it counts.
    """

    position: int
    counters: tuple[Polynomial, ...]
    indices: tuple[Polynomial, ...]
    counts: tuple[int, ...]


@dataclass
class JointState:
    """The progress of all threads, and what is known of integers.

    Attributes:
        certain: whether some run is known to come to the state.
    """

    threads: list[ThreadState]
    bases: tuple[Base, ...]
    known: Intervals
    certain: bool = True

    def copy(self) -> JointState:
        """Return a copy that can be changed independently."""
        return replace(self, threads=[*self.threads], known=self.known.copy())


class Bases:
    """Expresses the counters of states relative to bases.

    Args:
        values: the integers of the function.
        alone: how many iterations have exact counters while a single thread is in a loop.
    """

    def __init__(self, values: SymbolicValues, alone: int = _EXACT) -> None:
        self._values = values
        self._alone = max(alone, _EXACT)
        self._past: dict[tuple[Symbol, Symbol], bool] = {}

    def first_counter(
        self, state: JointState, bound: Polynomial, outer: tuple[Polynomial, ...]
    ) -> Polynomial:
        """Return the first counter of a loop, relative to those of other threads that run it.

        Args:
            state: receives a base, if there is none.
            bound: the loop's trip count.
            outer: the counters of the loops around it.
        """
        if bound.constant is not None:
            return number(0)
        for base in state.bases:
            exact = _exact(state, base)
            is_same = (base.bound - bound).constant is not None and base.outer == outer
            if is_same and exact is not None:
                return variable(base.symbol) - number(exact)
        used = {base.symbol for base in state.bases}
        free = next(x for slot in range(len(used) + 1) if (x := self._symbol(slot)) not in used)
        state.bases = (*state.bases, Base(free, bound, outer))
        state.known.assume(variable(free), Interval(0, 0))
        return variable(free)

    def _symbol(self, slot: int) -> Symbol:
        return self._values.symbols.symbol(("base", slot), lower_bound=0, by=f"base {slot}")

    def linear_forms(self, state: JointState, polynomial: Polynomial) -> list[Polynomial]:
        """Return a polynomial, and those in which exactly known bases are numbers. A base is replaced
        where it stands alone: not in products, nor in operands of symbols."""
        forms = [polynomial]
        for symbol, exact in self._exact_in(state, polynomial):
            if forms[-1].split(symbol) is not None:
                forms.append(self._replace_symbol(forms[-1], symbol, exact))
        return forms

    def forms(self, state: JointState, polynomial: Polynomial) -> list[Polynomial]:
        """Return the linear forms of a polynomial, and last the one in which exactly known bases are
        numbers everywhere."""
        forms = self.linear_forms(state, polynomial)
        for symbol, exact in self._exact_in(state, forms[-1]):
            forms.append(self._replace_symbol(forms[-1], symbol, exact))
        return forms

    def _exact_in(
        self, state: JointState, polynomial: Polynomial
    ) -> Iterator[tuple[Symbol, Polynomial]]:
        for base in state.bases:
            if base.symbol.varies & polynomial.varies:
                exact = _exact(state, base)
                if exact is not None:
                    yield base.symbol, number(exact)

    def forget_iterations(self, state: JointState, counter: Polynomial) -> None:
        """Drop what is known of integers that an iteration of a loop has computed."""
        for base in state.bases:
            if base.symbol in counter.symbols:
                state.known.drop(lambda key, base=base: not _is_linear_in_base(key, base.symbol))

    def generalize(self, state: JointState) -> JointState:
        """Return an abstraction of a state. There are finitely many of them."""
        state = self._substitute_exact(state)
        for base in state.bases:
            state = self._shift(state, base)
        state = self._drop_unused(state)
        for base in state.bases:
            self._widen(state, base)
        return state

    def _substitute_exact(self, state: JointState) -> JointState:
        """Replace bases that equal other integers, for example after the last iteration."""
        for base in state.bases:
            if _exact(state, base) is not None:
                continue
            for polynomial, exact in state.known.exact():
                split = polynomial.split(base.symbol)
                if split is not None and abs(split[0]) == 1:
                    by = (number(exact) - split[1]) * number(split[0])
                    other_bases = tuple(x for x in state.bases if x is not base)
                    state = self._substitute(replace(state, bases=other_bases), base.symbol, by)
                    return self._substitute_exact(state)
        return state

    def _shift(self, state: JointState, base: Base) -> JointState:
        """Shift a base so that it equals the least counter."""
        least = min(_offsets(state, base), default=0)
        if not least:
            return state
        return self._substitute(state, base.symbol, variable(base.symbol) - number(least))

    def _widen(self, state: JointState, base: Base) -> None:
        """Widen a base to all later iterations."""
        exact, is_shared = _exact(state, base), len(_offsets(state, base)) > 1
        equal = (x for x, _ in state.known.exact() if x != variable(base.symbol))
        if any(base.symbol in x.symbols for x in equal):
            # All iterations were run.
            return
        if exact is not None and exact >= (_EXACT if is_shared else self._alone):
            state.known.forget(variable(base.symbol), Interval(exact))

    def _drop_unused(self, state: JointState) -> JointState:
        """Drop unused bases, and what is known of them and of earlier iterations."""
        used = [x for thread in state.threads for x in (*thread.counters, *thread.indices)]
        varies = frozenset().union(*(x.varies for x in used))
        bases = tuple(base for base in state.bases if base.symbol.varies & varies)
        unused = frozenset().union(*(x.symbol.varies for x in state.bases if x not in bases))
        intervals = {
            key: interval
            for key, interval in state.known.intervals.items()
            if not key.varies & unused
            and not any(self._is_past(x, base.symbol) for x in key.symbols for base in bases)
        }
        return replace(state, bases=bases, known=Intervals(intervals))

    def _is_past(self, symbol: Symbol, base: Symbol) -> bool:
        """Whether a symbol is computed from an earlier iteration: a number below a base."""
        if not base.varies & symbol.varies:
            return False
        if (symbol, base) not in self._past:
            self._past[symbol, base] = any(
                self._is_computed_from_past(operand, base) for operand in symbol.operands
            )
        return self._past[symbol, base]

    def _is_computed_from_past(self, operand: Polynomial, base: Symbol) -> bool:
        split = operand.split(base)
        if split is not None and split[0] == 1 and (split[1].constant or 0) < 0:
            return True
        return any(self._is_past(inner, base) for inner in operand.symbols)

    def _substitute(self, state: JointState, symbol: Symbol, by: Polynomial) -> JointState:
        def replace_in(polynomials: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
            return tuple(self._replace_symbol(x, symbol, by) for x in polynomials)

        threads = [
            thread._replace(
                counters=replace_in(thread.counters), indices=replace_in(thread.indices)
            )
            for thread in state.threads
        ]
        bases = tuple(
            Base(base.symbol, self._replace_symbol(base.bound, symbol, by), replace_in(base.outer))
            for base in state.bases
        )
        known = state.known.replace(lambda x: self._replace_symbol(x, symbol, by))
        return replace(state, threads=threads, bases=bases, known=known)

    def _replace_symbol(self, polynomial: Polynomial, symbol: Symbol, by: Polynomial) -> Polynomial:
        if not symbol.varies & polynomial.varies:
            return polynomial
        result = self._values.substitute(polynomial, symbol, by)
        assert result is not None, "what is computed from a base is known for each number"
        return result


def _exact(state: JointState, base: Base) -> int | None:
    interval = state.known.intervals.get(variable(base.symbol))
    return None if interval is None else interval.exact


def _offsets(state: JointState, base: Base) -> list[int]:
    """Return the constants of the counters that are relative to a base."""
    counters = [x - variable(base.symbol) for thread in state.threads for x in thread.counters]
    return [x.constant for x in counters if x.constant is not None]


def _is_linear_in_base(key: Polynomial, base: Symbol) -> bool:
    """Whether a polynomial is linear in a base: with a constant factor, or with factors that multiply
    base + j for some j >= 0. Only such polynomials matter in later iterations."""
    if any(base.varies & symbol.varies for symbol in key.symbols if symbol is not base):
        return False
    for symbols, coefficient in key.terms:
        if len(symbols) > 1 and base in symbols:
            other_symbols = [symbol for symbol in symbols if symbol is not base]
            ahead = sum(x for factors, x in key.terms if list(factors) == other_symbols)
            if len(other_symbols) != len(symbols) - 1 or ahead * coefficient < 0:
                return False
    return True
