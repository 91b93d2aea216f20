"""Counters of loops, relative to each other: a state that stands for all later iterations.

Counters are kept exactly for the first iterations. Then one symbol, the *base*, stands for the iterations
that all threads in a loop have run, and each counter is the base and a constant. So runs come back to
states that they have been in, and are known for all numbers of iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..intervals import Interval, Intervals
from ..polynomials import Polynomial, Symbol, number, variable
from ..values import SymbolicValues

#: Iterations that are kept exactly.
_EXACT = 2


class Base(NamedTuple):
    """What counters of loops are relative to.

    Attributes:
        symbol: how many iterations all threads in the loop have run.
        bound: how many there are; those of other threads differ by a constant.
        outer: the counters of the loops around it.
    """

    symbol: Symbol
    bound: Polynomial
    outer: tuple[Polynomial, ...]


class ThreadState(NamedTuple):
    """How far a thread of execution is.

    Attributes:
        position: that of its next instruction.
        counters: how many iterations were run of each loop around that, from the outside in.
        indices: pipeline indices that it comes to next.
        counts: other numbers that it counts.
    """

    position: int
    counters: tuple[Polynomial, ...]
    indices: tuple[Polynomial, ...]
    counts: tuple[int, ...]


@dataclass
class JointState:
    """How far all threads are, and what is known of integers.

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
    """Keeps the counters of states relative to bases.

    Args:
        values: the integers of the function.
        alone: how many iterations are kept exactly while a single thread is in a loop.
    """

    def __init__(self, values: SymbolicValues, alone: int = _EXACT) -> None:
        self._values = values
        self._alone = max(alone, _EXACT)
        self._past: dict[tuple[Symbol, Symbol], bool] = {}

    def first_counter(
        self, state: JointState, bound: Polynomial, outer: tuple[Polynomial, ...]
    ) -> Polynomial:
        """Return the counter of a loop that begins, relative to those of others that run it.

        Args:
            state: receives a base, if there is none.
            bound: how many iterations the loop has.
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
        """Return a polynomial, and those in which bases that are known exactly are numbers; that is done
        where they stand alone, not in products, nor in what is computed of them."""
        forms = [polynomial]
        for symbol, exact in self._exact_in(state, polynomial):
            if forms[-1].split(symbol) is not None:
                forms.append(self._replace_symbol(forms[-1], symbol, exact))
        return forms

    def forms(self, state: JointState, polynomial: Polynomial) -> list[Polynomial]:
        """Return the linear forms of a polynomial, and last the one in which bases that are known exactly
        are numbers everywhere."""
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
        """Forget what iterations of a loop have computed, which matters no more in the next one."""
        for base in state.bases:
            if base.symbol in counter.symbols:
                state.known.drop(lambda key, base=base: not _matters_later(key, base.symbol))

    def generalize(self, state: JointState) -> JointState:
        """Return a state of which there are finitely many, and which includes another one."""
        state = self._substitute_exact(state)
        for base in state.bases:
            state = self._shift(state, base)
        state = self._drop_unused(state)
        for base in state.bases:
            self._widen(state, base)
        return state

    def _substitute_exact(self, state: JointState) -> JointState:
        """Replace bases that follow from other integers, as after the last iteration."""
        for base in state.bases:
            if _exact(state, base) is not None:
                continue
            for polynomial, exact in state.known.exact():
                split = polynomial.split(base.symbol)
                if split is not None and abs(split[0]) == 1:
                    by = (number(exact) - split[1]) * number(split[0])
                    others = tuple(x for x in state.bases if x is not base)
                    state = self._substitute(replace(state, bases=others), base.symbol, by)
                    return self._substitute_exact(state)
        return state

    def _shift(self, state: JointState, base: Base) -> JointState:
        """Let the least counter be the base itself."""
        least = min(_offsets(state, base), default=0)
        if not least:
            return state
        return self._substitute(state, base.symbol, variable(base.symbol) - number(least))

    def _widen(self, state: JointState, base: Base) -> None:
        """Let a base stand for all later iterations, too."""
        exact, others = _exact(state, base), len(_offsets(state, base)) > 1
        equal = (x for x, _ in state.known.exact() if x != variable(base.symbol))
        if any(base.symbol in x.symbols for x in equal):
            # All iterations were run.
            return
        if exact is not None and exact >= (_EXACT if others else self._alone):
            state.known.forget(variable(base.symbol), Interval(exact))

    def _drop_unused(self, state: JointState) -> JointState:
        """Drop bases that nothing is relative to, and what is known of them and of earlier iterations."""
        used = [x for each in state.threads for x in (*each.counters, *each.indices)]
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
        """Whether a symbol is computed from a number below a base."""
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
            each._replace(counters=replace_in(each.counters), indices=replace_in(each.indices))
            for each in state.threads
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
    known = state.known.intervals.get(variable(base.symbol))
    return None if known is None else known.exact


def _offsets(state: JointState, base: Base) -> list[int]:
    """Return the constants of the counters that are relative to a base."""
    counters = [x - variable(base.symbol) for each in state.threads for x in each.counters]
    return [x.constant for x in counters if x.constant is not None]


def _matters_later(key: Polynomial, base: Symbol) -> bool:
    """Whether a polynomial is linear in a base, with a number or with products of the iteration base + j,
    where j is 0 or more."""
    if any(base.varies & symbol.varies for symbol in key.symbols if symbol is not base):
        return False
    for symbols, coefficient in key.terms:
        if len(symbols) > 1 and base in symbols:
            others = [symbol for symbol in symbols if symbol is not base]
            ahead = sum(x for each, x in key.terms if list(each) == others)
            if len(others) != len(symbols) - 1 or ahead * coefficient < 0:
                return False
    return True
