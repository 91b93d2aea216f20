"""Abstract runs of several threads of execution: what they do with pipelines, and what they decide.

Where it is not known whether a loop ends or a branch is taken, both ways are followed. What was
decided then decides for the other threads, which come to the same condition later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import TypeAlias

from ....bindings.irtypes import Op, Value
from ....bindings.mlir import ir
from ....ir.op_address import OpIdentity
from ...order.report import label
from ..intervals import Interval, Intervals
from ..polynomials import TRIPS, Polynomial, Symbol, number
from ..values import SymbolicValues
from .bases import Bases, JointState, ThreadState
from .instructions import Opcode, PipelineInstruction, ThreadProgram

#: The most states, and steps of each thread, that are followed.
_STATES = 400
_STEPS = 20_000


class TooManyError(Exception):
    """More states or steps than are followed. The message says which."""


class _ImpossibleError(Exception):
    """No run comes to a state: something contradicts an assumption of the kernel."""


class _UndecidedError(Exception):
    """It is not known whether polynomials are positive, which are together, or a condition (i1) holds."""

    def __init__(self, polynomials: list[Polynomial], is_condition: bool) -> None:
        self.polynomials = polynomials
        self.is_condition = is_condition


def _is_free(symbol: Symbol) -> bool:
    """Whether an integer has any value in some run: an argument, an extent, or a quotient of one."""
    is_leaf_or_quotient = symbol.name in ("", "arith.divui", "arith.ceildivui", TRIPS)
    return is_leaf_or_quotient and all(
        map(_is_free, (x for operand in symbol.operands for x in operand.symbols))
    )


class JointRun(ABC):
    """Follows threads of execution.

    Args:
        programs: those of the threads.
        values: the integers of the function.
        known: what is known of integers before.
        bases: keeps the counters of loops.
        forgets: whether the trip count of a loop may be forgotten after it.
    """

    def __init__(
        self,
        programs: list[ThreadProgram],
        values: SymbolicValues,
        known: Intervals,
        bases: Bases,
        forgets: bool = False,
    ) -> None:
        self._known = known
        self.forgets = forgets
        self.programs = programs
        self.values = values
        self.bases = bases
        self._steps = 0
        self._first_ops: dict[tuple[int, int], list[tuple[int, PipelineInstruction]]] = {}
        self._evaluation = IterationEvaluator(programs, values)

    # What is followed.

    @abstractmethod
    def first(self, thread: int) -> ThreadState:
        """Return the first state of a thread."""

    @abstractmethod
    def execute(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState | None:
        """Return the state of a thread after an instruction; None if it waits. The caller sets the
        position."""

    @abstractmethod
    def slot_of(self, thread: int, instruction: PipelineInstruction) -> int | None:
        """Return the slot in `ThreadState.indices` of the index that an instruction takes; None if it
        takes none."""

    @abstractmethod
    def end(self, state: JointState) -> None:
        """Note a state in which no thread can go on."""

    # Following.

    def follow(self) -> None:
        """Follow all runs.

        Raises:
            UnknownError: if an integer that decides about a thread is not known.
            TooManyError: if there are too many states or steps.
        """
        threads = [self.first(thread) for thread in range(len(self.programs))]
        work = deque([JointState(threads, (), self._known.copy())])
        seen: dict[tuple, list[Intervals]] = {}
        count = 0
        while work:
            for decided in self._advance(work.popleft()):
                state = self.normalize(self.bases.generalize(decided))
                key = tuple(state.threads), state.bases, state.certain
                similar = seen.setdefault(key, [])
                if not any(state.known.imply(other) for other in similar):
                    similar.append(state.known.copy())
                    work.append(state)
                    count += 1
            if count > _STATES:
                raise TooManyError("they have too many different states")

    def normalize(self, state: JointState) -> JointState:
        """Return an abstraction of a state. There are finitely many of them."""
        return state

    def _advance(self, state: JointState) -> list[JointState]:
        """Run all threads as far as possible; return the states after a decision, none at the end."""
        moves = True
        try:
            while moves:
                moves = False
                for thread in range(len(self.programs)):
                    while self.step(state, thread):
                        moves = True
        except _UndecidedError as undecided:
            return self._decide(state, undecided)
        except _ImpossibleError:
            return []
        self.end(state)
        return []

    def _decide(self, state: JointState, undecided: _UndecidedError) -> list[JointState]:
        states = []
        # Integers that are computed of one exact iteration do not matter in the next one.
        forms_of = self.bases.linear_forms if self.forgets else self.bases.forms
        forms = [form for p in undecided.polynomials for form in forms_of(state, p)]
        for holds in (True, False):
            decided = state.copy()
            if all(self._assume(decided, form, undecided.is_condition, holds) for form in forms):
                states.append(decided)
        is_free = not undecided.is_condition and all(
            map(_is_free, undecided.polynomials[0].symbols)
        )
        for decided in states if len(states) > 1 else ():
            decided.certain &= is_free
        return states

    def _assume(self, state: JointState, form: Polynomial, is_condition: bool, holds: bool) -> bool:
        if is_condition:
            return state.known.assume_condition(form, holds)
        return state.known.assume(form, Interval(1, None) if holds else Interval(None, 0))

    def step(self, state: JointState, thread: int) -> bool:
        """Execute the next instruction of a thread; return whether that is possible.

        Raises:
            UnknownError: if an integer that decides about it is not known.
            TooManyError: if too many instructions were executed before.
        """
        current = state.threads[thread]
        instructions = self.programs[thread].instructions
        if current.position >= len(instructions):
            return False
        instruction = instructions[current.position]
        kind, following, counters = instruction.kind, current.position + 1, current.counters
        if kind is Opcode.ENTER:
            bound = self._evaluation.trips(thread, instruction, counters)
            counters = (*counters, self.bases.first_counter(state, bound, counters))
        elif kind is Opcode.LOOP:
            current, _ = self._rebase(state, thread, instruction, counters, counters)
            state.threads[thread] = current
            if self.forgets:
                self.bases.forget_iterations(state, counters[-1])
            remaining = self._evaluation.trips(thread, instruction, counters[:-1]) - counters[-1]
            if not self._goes_on(state, thread, instruction, remaining):
                current = self._exit(state, thread, instruction, remaining)
                following, counters = instruction.target, current.counters
        elif kind is Opcode.NEXT:
            counters, following = (*counters[:-1], counters[-1] + number(1)), instruction.target
        elif kind is Opcode.JUMP:
            following = instruction.target
        elif kind is Opcode.ASSUME:
            self._assume_at(state, thread, instruction)
        elif kind is Opcode.BRANCH:
            condition = self.evaluate(thread, instruction, instruction.op.operands[0], counters)
            if not self._holds(state, condition):
                following = instruction.target
        else:
            after = self.execute(state, thread, instruction)
            if after is None:
                return False
            current = after
        state.threads[thread] = current._replace(position=following, counters=counters)
        self._steps += 1
        if self._steps > _STEPS * len(self.programs):
            raise TooManyError("they take too many steps")
        return True

    def _assume_at(self, state: JointState, thread: int, assumption: PipelineInstruction) -> None:
        """Note the condition of an `llvm.intr.assume`.

        Raises:
            _ImpossibleError: if no run comes to it in this state.
        """
        counters = state.threads[thread].counters
        try:
            condition = self.evaluate(thread, assumption, assumption.op.operands[0], counters)
        except UnknownError:
            return
        forms = self.bases.forms(state, condition)
        if not all(state.known.assume_condition(form, True) for form in forms):
            raise _ImpossibleError

    def _exit(
        self, state: JointState, thread: int, loop: PipelineInstruction, remaining: Polynomial
    ) -> ThreadState:
        """Return the state of a thread after a loop."""
        counters = state.threads[thread].counters
        after = state.threads[thread]._replace(counters=counters[:-1])
        bound = self._evaluation.trips(thread, loop, counters[:-1])
        if self.exactly(state, remaining) != 0:
            return after
        # Other integers follow from the end of the loop.
        state.known.assume(remaining, Interval(0, 0))
        rebased, is_known = self._rebase(state, thread, loop, counters, (*counters[:-1], bound))
        if is_known and self.forgets and self.is_positive(state, bound):
            # Only the indices depend on the trip count from here on.
            for form in self.bases.forms(state, bound):
                state.known.forget(form, Interval(1))
        return rebased._replace(counters=counters[:-1])

    def _rebase(
        self,
        state: JointState,
        thread: int,
        loop: PipelineInstruction,
        counters: Counters,
        equal: Counters,
    ) -> tuple[ThreadState, bool]:
        """Express the next indices of a thread by the first ones of an iteration of a loop.

        The values stay the same. The new expressions hold in all later iterations, too.

        Args:
            state: the state.
            thread: the thread.
            loop: the loop.
            counters: those of the iteration.
            equal: the same counters as they are to be expressed.

        Returns:
            The state of the thread, and whether all indices could be expressed so.
        """
        current, is_known = state.threads[thread], True
        indices = [*current.indices]
        for slot, first in self._first_uses(thread, current.position):
            inner = (number(0),) * (len(first.loops) - len(loop.loops))
            try:
                index = self.evaluate(thread, first, first.op.index, (*counters, *inner))
                wanted = self.evaluate(thread, first, first.op.index, (*equal, *inner))
                ahead = self.exactly(state, index - indices[slot])
            except UnknownError:
                is_known = False
                continue
            is_known &= ahead is not None
            if ahead is not None:
                indices[slot] = wanted - number(ahead)
        return current._replace(indices=tuple(indices)), is_known

    def _first_uses(self, thread: int, head: int) -> list[tuple[int, PipelineInstruction]]:
        """Return the slots that a loop uses, each with the first instruction that takes an index of
        it."""
        if (thread, head) not in self._first_ops:
            instructions = self.programs[thread].instructions
            end = instructions[head].target
            first_ops: dict[int, PipelineInstruction] = {}
            for instruction in instructions[head:end]:
                slot = self.slot_of(thread, instruction)
                if slot is not None:
                    first_ops.setdefault(slot, instruction)
            self._first_ops[thread, head] = list(first_ops.items())
        return self._first_ops[thread, head]

    # Integers.

    def evaluate(
        self, thread: int, instruction: PipelineInstruction, value: Value, counters: Counters
    ) -> Polynomial:
        """Return the value of an integer in the current iterations of a thread.

        Raises:
            UnknownError: if it is not known.
        """
        return self._evaluation.evaluate(thread, instruction, value, counters)

    def exactly(self, state: JointState, polynomial: Polynomial) -> int | None:
        """Return the exact value of a polynomial; None if not known."""
        constant = polynomial.constant
        if constant is not None:
            return constant
        return next((x.exact for x in self._bounds(state, polynomial) if x.exact is not None), None)

    def is_positive(self, state: JointState, polynomial: Polynomial) -> bool | None:
        """Whether a polynomial is 1 or more; None if not known."""
        verdicts = (bounds.is_positive for bounds in self._bounds(state, polynomial))
        return next((x for x in verdicts if x is not None), None)

    def _bounds(self, state: JointState, polynomial: Polynomial) -> Iterator[Interval]:
        """Yield ever narrower intervals of a polynomial, by more and more of its forms."""
        bounds = Interval()
        for form in self.bases.forms(state, polynomial):
            bounds &= state.known.bounds(form)
            yield bounds

    def _goes_on(
        self, state: JointState, thread: int, loop: PipelineInstruction, remaining: Polynomial
    ) -> bool:
        """Whether a loop has another iteration, `remaining` of which are left."""
        distance = self._evaluation.distance(thread, loop, state.threads[thread].counters)
        numbers = [remaining, *([] if distance is None else [distance])]
        verdicts = [self.is_positive(state, n) for n in numbers]
        if distance is not None:
            verdicts += [
                state.known.bounds_by_others(form).is_positive
                for form in self.bases.forms(state, distance)
            ]
        holds = next((x for x in verdicts if x is not None), None)
        if holds is None:
            raise _UndecidedError(numbers, is_condition=False)
        for n in numbers if distance is not None else ():
            self._assume(state, n, False, holds)
        return holds

    def _holds(self, state: JointState, condition: Polynomial) -> bool:
        forms = self.bases.forms(state, condition)
        verdicts = (state.known.decide(form) for form in forms)
        holds = next((x for x in verdicts if x is not None), None)
        if holds is None:
            raise _UndecidedError([condition], is_condition=True)
        return holds


#: How many iterations were run of loops, from the outside in.
Counters: TypeAlias = tuple[Polynomial, ...]


class UnknownError(Exception):
    """An integer that decides about a thread is not known. The message says which."""


class IterationEvaluator:
    """Evaluates the integers of threads, each once for the same iterations.

    Args:
        programs: those of the threads.
        values: the integers of the function.
    """

    def __init__(self, programs: list[ThreadProgram], values: SymbolicValues) -> None:
        self._codes = programs
        self._values = values
        self._evaluated: dict[tuple[int, int, Polynomial, Counters], Polynomial | None] = {}

    def evaluate(
        self, thread: int, instruction: PipelineInstruction, value: Value, counters: Counters
    ) -> Polynomial:
        """Return an integer at an instruction, in some iterations of the loops around it.

        Raises:
            UnknownError: if it is not known.
        """
        return self._in_iterations(thread, self._values.polynomial(value), instruction, counters)

    def trips(self, thread: int, loop: PipelineInstruction, outer: Counters) -> Polynomial:
        """Return the trip count of a loop, in some iterations of those around it. Negative means none.

        Raises:
            UnknownError: if it is not known.
        """
        symbolic_loop = self._values.loop(loop.op)
        lower, upper, step = symbolic_loop.bounds
        bound = upper - lower if step.constant == 1 else symbolic_loop.trips
        return self._in_iterations(thread, bound, loop, outer)

    def distance(
        self, thread: int, loop: PipelineInstruction, counters: Counters
    ) -> Polynomial | None:
        """Return `upper - induction variable` of a loop, which has a next iteration exactly if that is
        1 or more; None if not known."""
        lower, upper, step = self._values.loop(loop.op).bounds
        if step.constant is not None or (step.lower_bound or 0) < 1:
            return None
        outer, counter = counters[:-1], counters[-1]
        try:
            ends = [self._in_iterations(thread, p, loop, outer) for p in (lower, upper, step)]
        except UnknownError:
            return None
        return ends[1] - ends[0] - counter * ends[2]

    def _in_iterations(
        self,
        thread: int,
        polynomial: Polynomial,
        instruction: PipelineInstruction,
        counters: Counters,
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
                f"what decides about the {label(instruction.op)} is not known in each iteration{by}"
            )
        return result

    def _unknown_value(self, polynomial: Polynomial, loops: set[OpIdentity]) -> str | None:
        """Return which value is not known in each iteration of some loops, in words; None if all are."""
        for symbol in sorted(polynomial.symbols, key=lambda s: s.number):
            if not symbol.varies & loops:
                continue
            inner = (self._unknown_value(operand, loops) for operand in symbol.operands)
            if (unknown := next((x for x in inner if x is not None), None)) is not None:
                return unknown
            kind, value, *_ = (*self._values.symbols.key_of(symbol), None)
            if kind == "value" and isinstance(value, ir.Value):
                owner = value.owner
                if isinstance(owner, ir.Block):
                    return f"a number that the {label(owner.owner)} carries"
                return f"the {label(owner)}"
        return None

    def _substitute(
        self, thread: int, polynomial: Polynomial, loops: tuple[Op, ...], counters: Counters
    ) -> Polynomial | None:
        result: Polynomial | None = polynomial
        partition, warpgroup, _ = self._codes[thread]
        if warpgroup is not None and partition.symbol is not None:
            result = self._values.substitute(polynomial, partition.symbol, number(warpgroup))
        for loop, counter in zip(loops, counters, strict=True):
            if result is not None:
                result = self._values.substitute(result, self._values.loop(loop).count, counter)
        return None if result is None or result.varies & {*map(OpIdentity.of, loops)} else result
