"""The integers of threads of execution, in the iterations in which they are."""

from __future__ import annotations

from typing import TypeAlias

from ....bindings.irtypes import Op, Value
from ....bindings.mlir import ir
from ....ir.op_address import OpIdentity
from ...order.report import at
from ..polynomials import Polynomial, number
from ..values import Values
from .instructions import Code, Instruction

#: How many iterations were run of loops, from the outside in.
Counters: TypeAlias = tuple[Polynomial, ...]


class UnknownError(Exception):
    """What decides about a thread is not known. The message says what that is."""


class Evaluation:
    """Evaluates the integers of threads, each once for the same iterations.

    Args:
        codes: what each thread does.
        values: the integers of the function.
    """

    def __init__(self, codes: list[Code], values: Values) -> None:
        self._codes = codes
        self._values = values
        self._evaluated: dict[tuple[int, int, Polynomial, Counters], Polynomial | None] = {}

    def of(
        self, thread: int, instruction: Instruction, value: Value, counters: Counters
    ) -> Polynomial:
        """Return an integer at an instruction, in some iterations of the loops around it.

        Raises:
            UnknownError: if it is not known.
        """
        return self._at(thread, self._values.of(value), instruction, counters)

    def trips(self, thread: int, loop: Instruction, outer: Counters) -> Polynomial:
        """Return how many iterations a loop has, less than none is none, in some of those around it.

        Raises:
            UnknownError: if that is not known.
        """
        known = self._values.loop(loop.op)
        lower, upper, step = known.bounds
        bound = upper - lower if step.constant == 1 else known.trips
        return self._at(thread, bound, loop, outer)

    def distance(self, thread: int, loop: Instruction, counters: Counters) -> Polynomial | None:
        """Return how far the induction variable of a loop is from its upper bound, if there is a next
        iteration exactly where that is 1 or more; None if not known."""
        lower, upper, step = self._values.loop(loop.op).bounds
        if step.constant is not None or (step.lower_bound or 0) < 1:
            return None
        outer, counter = counters[:-1], counters[-1]
        try:
            ends = [self._at(thread, each, loop, outer) for each in (lower, upper, step)]
        except UnknownError:
            return None
        return ends[1] - ends[0] - counter * ends[2]

    def _at(
        self, thread: int, polynomial: Polynomial, instruction: Instruction, counters: Counters
    ) -> Polynomial:
        """Return a polynomial in some iterations of the first loops around an instruction."""
        key = thread, id(instruction), polynomial, counters
        if key not in self._evaluated:
            loops = instruction.loops[: len(counters)]
            self._evaluated[key] = self._substitute(thread, polynomial, loops, counters)
        result = self._evaluated[key]
        if result is None:
            unknown = self._unknown_value(polynomial, {*map(OpIdentity.of, instruction.loops)})
            by = f": {unknown}" if unknown else ""
            raise UnknownError(
                f"what decides about the {at(instruction.op)} is not known in each iteration{by}"
            )
        return result

    def _unknown_value(self, polynomial: Polynomial, loops: set[OpIdentity]) -> str | None:
        """Return what is not known in each iteration of some loops, in words; None if that is nothing."""
        for symbol in sorted(polynomial.symbols, key=lambda each: each.number):
            if not symbol.varies & loops:
                continue
            inner = (self._unknown_value(operand, loops) for operand in symbol.operands)
            if (unknown := next((x for x in inner if x is not None), None)) is not None:
                return unknown
            kind, value, *_ = (*self._values.symbols.key_of(symbol), None)
            if kind == "value" and isinstance(value, ir.Value):
                owner = value.owner
                if isinstance(owner, ir.Block):
                    return f"a number that the {at(owner.owner)} carries"
                return f"the {at(owner)}"
        return None

    def _substitute(
        self, thread: int, polynomial: Polynomial, loops: tuple[Op, ...], counters: Counters
    ) -> Polynomial | None:
        result: Polynomial | None = polynomial
        partition, warpgroup, _ = self._codes[thread]
        if warpgroup is not None and partition.symbol is not None:
            result = self._values.replaced(polynomial, partition.symbol, number(warpgroup))
        for loop, counter in zip(loops, counters, strict=True):
            if result is not None:
                result = self._values.replaced(result, self._values.loop(loop).count, counter)
        return None if result is None or result.varies & {*map(OpIdentity.of, loops)} else result
