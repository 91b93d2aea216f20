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
from ..polynomials import Polynomial, Symbol, number
from ..values import TRIPS, SymbolicValues
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
    free = symbol.name in ("", "arith.divui", "arith.ceildivui", TRIPS)
    return free and all(map(_is_free, (x for each in symbol.operands for x in each.symbols)))


class JointRun(ABC):
    """Follows threads of execution.

    Args:
        codes: what each does.
        values: the integers of the function.
        known: what is known of integers before.
        bases: keeps the counters of loops.
        forgets: whether it does not matter, after a loop, how many iterations that had.
    """

    def __init__(
        self,
        codes: list[ThreadProgram],
        values: SymbolicValues,
        known: Intervals,
        bases: Bases,
        forgets: bool = False,
    ) -> None:
        self._known = known
        self.forgets = forgets
        self.codes = codes
        self.values = values
        self.bases = bases
        self._steps = 0
        self._first_ops: dict[tuple[int, int], list[tuple[int, PipelineInstruction]]] = {}
        self._evaluation = IterationEvaluator(codes, values)

    # What is followed.

    @abstractmethod
    def first(self, thread: int) -> ThreadState:
        """Return where a thread begins."""

    @abstractmethod
    def execute(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState | None:
        """Return where a thread is after an op; None if it waits. Its position is set by the caller."""

    @abstractmethod
    def place_of(self, thread: int, instruction: PipelineInstruction) -> int | None:
        """Return the place of the index that an instruction takes, among those that a thread comes to
        next; None if it takes none."""

    @abstractmethod
    def end(self, state: JointState) -> None:
        """Note a state in which no thread goes on."""

    # Following.

    def follow(self) -> None:
        """Follow all runs.

        Raises:
            UnknownError: if what decides about a thread is not known.
            TooManyError: if there are too many of them.
        """
        threads = [self.first(thread) for thread in range(len(self.codes))]
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
        """Return a state of which there are finitely many."""
        return state

    def _advance(self, state: JointState) -> list[JointState]:
        """Let all threads go on; return the states in which a condition is decided, none at the end."""
        moves = True
        try:
            while moves:
                moves = False
                for thread in range(len(self.codes)):
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
        # What is computed of an exact iteration matters no more in the next one.
        forms_of = self.bases.linear_forms if self.forgets else self.bases.forms
        forms = [form for each in undecided.polynomials for form in forms_of(state, each)]
        for holds in (True, False):
            decided = state.copy()
            if all(self._assume(decided, form, undecided.is_condition, holds) for form in forms):
                states.append(decided)
        is_free = not undecided.is_condition and all(
            map(_is_free, undecided.polynomials[0].symbols)
        )
        for each in states if len(states) > 1 else ():
            each.certain &= is_free
        return states

    def _assume(self, state: JointState, form: Polynomial, is_condition: bool, holds: bool) -> bool:
        if is_condition:
            return state.known.assume_condition(form, holds)
        return state.known.assume(form, Interval(1, None) if holds else Interval(None, 0))

    def step(self, state: JointState, thread: int) -> bool:
        """Execute the next instruction of a thread; return whether that is possible.

        Raises:
            UnknownError: if what it does is not known.
            TooManyError: if too many were executed before.
        """
        now = state.threads[thread]
        instructions = self.codes[thread].instructions
        if now.position >= len(instructions):
            return False
        instruction = instructions[now.position]
        kind, following, counters = instruction.kind, now.position + 1, now.counters
        if kind is Opcode.ENTER:
            bound = self._evaluation.trips(thread, instruction, counters)
            counters = (*counters, self.bases.first_counter(state, bound, counters))
        elif kind is Opcode.LOOP:
            now, _ = self._rebase(state, thread, instruction, counters, counters)
            state.threads[thread] = now
            if self.forgets:
                self.bases.forget_iterations(state, counters[-1])
            left = self._evaluation.trips(thread, instruction, counters[:-1]) - counters[-1]
            if not self._goes_on(state, thread, instruction, left):
                now, following = self._exit(state, thread, instruction, left), instruction.target
                counters = now.counters
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
            now = after
        state.threads[thread] = now._replace(position=following, counters=counters)
        self._steps += 1
        if self._steps > _STEPS * len(self.codes):
            raise TooManyError("they take too many steps")
        return True

    def _assume_at(self, state: JointState, thread: int, assumption: PipelineInstruction) -> None:
        """Note what an `llvm.intr.assume` says.

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
        self, state: JointState, thread: int, loop: PipelineInstruction, left: Polynomial
    ) -> ThreadState:
        """Return a thread after a loop."""
        counters = state.threads[thread].counters
        after = state.threads[thread]._replace(counters=counters[:-1])
        bound = self._evaluation.trips(thread, loop, counters[:-1])
        if self.exactly(state, left) != 0:
            return after
        # However it is known that all iterations were run: other integers follow from it.
        state.known.assume(left, Interval(0, 0))
        now, is_known = self._rebase(state, thread, loop, counters, (*counters[:-1], bound))
        if is_known and self.forgets and self.is_positive(state, bound):
            # The indices say all that matters of how many there were.
            for form in self.bases.forms(state, bound):
                state.known.forget(form, Interval(1))
        return now._replace(counters=counters[:-1])

    def _rebase(
        self,
        state: JointState,
        thread: int,
        loop: PipelineInstruction,
        counters: Counters,
        equal: Counters,
    ) -> tuple[ThreadState, bool]:
        """Return a thread with its next indices as those that an iteration of a loop comes to first.

        They are the same numbers in other words, which are true in all later iterations, too.

        Args:
            state: the state.
            thread: the thread.
            loop: the loop.
            counters: those of the iteration.
            equal: the same numbers in the words that are wanted.

        Returns:
            The thread, and whether these are known of all indices.
        """
        now, is_known = state.threads[thread], True
        indices = [*now.indices]
        for place, first in self._firsts(thread, now.position):
            inner = (number(0),) * (len(first.loops) - len(loop.loops))
            try:
                index = self.evaluate(thread, first, first.op.index, (*counters, *inner))
                wanted = self.evaluate(thread, first, first.op.index, (*equal, *inner))
                ahead = self.exactly(state, index - indices[place])
            except UnknownError:
                is_known = False
                continue
            is_known &= ahead is not None
            if ahead is not None:
                indices[place] = wanted - number(ahead)
        return now._replace(indices=tuple(indices)), is_known

    def _firsts(self, thread: int, head: int) -> list[tuple[int, PipelineInstruction]]:
        """Return the first op of a loop for each pipeline index of a thread, with the place of that."""
        if (thread, head) not in self._first_ops:
            instructions = self.codes[thread].instructions
            end = instructions[head].target
            first_ops: dict[int, PipelineInstruction] = {}
            for instruction in instructions[head:end]:
                place = self.place_of(thread, instruction)
                if place is not None:
                    first_ops.setdefault(place, instruction)
            self._first_ops[thread, head] = list(first_ops.items())
        return self._first_ops[thread, head]

    # Integers.

    def evaluate(
        self, thread: int, instruction: PipelineInstruction, value: Value, counters: Counters
    ) -> Polynomial:
        """Return an integer in the iterations in which a thread is.

        Raises:
            UnknownError: if it is not known.
        """
        return self._evaluation.evaluate(thread, instruction, value, counters)

    def exactly(self, state: JointState, polynomial: Polynomial) -> int | None:
        """Return the number that a polynomial is; None if not known."""
        constant = polynomial.constant
        if constant is not None:
            return constant
        return next((x.exact for x in self._bounds(state, polynomial) if x.exact is not None), None)

    def is_positive(self, state: JointState, polynomial: Polynomial) -> bool | None:
        """Whether a polynomial is 1 or more; None if not known."""
        known = (bounds.is_positive for bounds in self._bounds(state, polynomial))
        return next((x for x in known if x is not None), None)

    def _bounds(self, state: JointState, polynomial: Polynomial) -> Iterator[Interval]:
        """Yield intervals in which a polynomial is known to be, by ever more of its forms."""
        bounds = Interval()
        for form in self.bases.forms(state, polynomial):
            bounds &= state.known.bounds(form)
            yield bounds

    def _goes_on(
        self, state: JointState, thread: int, loop: PipelineInstruction, left: Polynomial
    ) -> bool:
        """Whether a loop has another iteration, `left` of which are left."""
        distance = self._evaluation.distance(thread, loop, state.threads[thread].counters)
        numbers = [left, *([] if distance is None else [distance])]
        known = [self.is_positive(state, each) for each in numbers]
        if distance is not None:
            known += [
                state.known.bounds_by_others(form).is_positive
                for form in self.bases.forms(state, distance)
            ]
        holds = next((x for x in known if x is not None), None)
        if holds is None:
            raise _UndecidedError(numbers, is_condition=False)
        for each in numbers if distance is not None else ():
            self._assume(state, each, False, holds)
        return holds

    def _holds(self, state: JointState, condition: Polynomial) -> bool:
        forms = self.bases.forms(state, condition)
        known = (state.known.decide(form) for form in forms)
        holds = next((x for x in known if x is not None), None)
        if holds is None:
            raise _UndecidedError([condition], is_condition=True)
        return holds


#: How many iterations were run of loops, from the outside in.
Counters: TypeAlias = tuple[Polynomial, ...]


class UnknownError(Exception):
    """What decides about a thread is not known. The message says what that is."""


class IterationEvaluator:
    """Evaluates the integers of threads, each once for the same iterations.

    Args:
        codes: what each thread does.
        values: the integers of the function.
    """

    def __init__(self, codes: list[ThreadProgram], values: SymbolicValues) -> None:
        self._codes = codes
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
        """Return how many iterations a loop has, less than none is none, in some of those around it.

        Raises:
            UnknownError: if that is not known.
        """
        known = self._values.loop(loop.op)
        lower, upper, step = known.bounds
        bound = upper - lower if step.constant == 1 else known.trips
        return self._in_iterations(thread, bound, loop, outer)

    def distance(
        self, thread: int, loop: PipelineInstruction, counters: Counters
    ) -> Polynomial | None:
        """Return how far the induction variable of a loop is from its upper bound, if there is a next
        iteration exactly where that is 1 or more; None if not known."""
        lower, upper, step = self._values.loop(loop.op).bounds
        if step.constant is not None or (step.lower_bound or 0) < 1:
            return None
        outer, counter = counters[:-1], counters[-1]
        try:
            ends = [self._in_iterations(thread, each, loop, outer) for each in (lower, upper, step)]
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
