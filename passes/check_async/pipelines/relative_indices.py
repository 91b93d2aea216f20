"""Which pipeline index each op takes, relative to how many its threads have taken before.

A thread *takes* an index by its wait, and *passes it on* by its arrival (a commit or a release). In
between, the index is *outstanding*. All of this does not depend on other threads: each is followed
alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from ....bindings.irtypes import Op, Value
from ....dialect.ops import CreatePipelineOp
from ....ir.op_address import op_address
from ..describe import PolynomialPrinter
from ..intervals import Intervals
from ..polynomials import Polynomial, number
from ..values import SymbolicValues
from .bases import Bases, JointState, ThreadState
from .instructions import Opcode, PipelineInstruction, RoundRobins, ThreadProgram
from .joint_run import JointRun, TooManyError, UnknownError
from .ops import PipelineSide, Side, stages_of
from .partition import Partition


class FinalIndices(NamedTuple):
    """The pipeline indices of a thread at its end.

    Attributes:
        following: the index after the last one that it has taken.
        outstanding: how many of the earlier ones it has not committed or released.
    """

    following: Polynomial
    outstanding: int


#: Whether an op is in the first iteration of each loop around it, from the outside in.
Iteration = tuple[bool, ...]


class RunEnd(NamedTuple):
    """The pipeline indices of threads at the end of some runs.

    Attributes:
        final_indices: by thread of execution and pipeline side.
        at_barriers: by the same, the next index at each barrier of the cluster.
        known: what is known of integers on these runs.
        certain: whether there is such a run.
    """

    final_indices: dict[tuple[int, PipelineSide], FinalIndices]
    at_barriers: dict[tuple[int, PipelineSide], tuple[Polynomial, ...]]
    known: Intervals
    certain: bool


def join_ends(ends_of_each: Sequence[Sequence[RunEnd]]) -> Iterator[RunEnd]:
    """Yield the ends of several threads together, for some runs.

    Args:
        ends_of_each: the ends of each thread.
    """
    for ends in product(*ends_of_each):
        known: Intervals | None = Intervals()
        for end in ends:
            known = known and known.and_also(end.known)
        if known is not None:
            final_indices = {key: x for end in ends for key, x in end.final_indices.items()}
            at_barriers = {key: x for end in ends for key, x in end.at_barriers.items()}
            yield RunEnd(final_indices, at_barriers, known, all(end.certain for end in ends))


class UnknownIndex(NamedTuple):
    """Runs on which it is not known which index an op takes, or on which it may not take that index.

    Attributes:
        polynomial: what is not known: how many indices the op skips, or were taken since.
        known: what is known of integers on these runs.
        outstanding: how many indices are outstanding, if the index must be one of those.
    """

    polynomial: Polynomial
    known: Intervals
    outstanding: int | None = None

    def is_resolved(self, known: Intervals) -> bool:
        """Whether the index is known and allowed on runs of which more is known."""
        exact = known.bounds(self.polynomial).exact
        return exact is not None and (self.outstanding is None or 1 <= exact <= self.outstanding)


class RoundRobinState(NamedTuple):
    """The current round of a warpgroup that takes indices round-robin.

    Attributes:
        chunk: how many consecutive indices a warpgroup takes in a round.
        acquired: how many of them it has taken.
        outstanding: how many indices are outstanding.
    """

    chunk: int
    acquired: int
    outstanding: int


class Event(NamedTuple):
    """A wait or an arrival on a pipeline.

    Attributes:
        waits: whether it is a wait.
        pipeline_side: the pipeline, and the partition's side.
        ahead: for each pipeline side of which the partition has taken indices before, the next index of
            that side minus the index of the event; None if that is not one constant.
        round_robins: the current round on each of these that the partition's warpgroups take round-robin.
    """

    partition: Partition
    op: Op
    waits: bool
    pipeline_side: PipelineSide
    ahead: dict[PipelineSide, int | None]
    round_robins: dict[PipelineSide, RoundRobinState]


#: A question, the op that it is about (`op_address`), the iteration, and more for some questions.
_Key: TypeAlias = tuple[Hashable, ...]


class RelativeIndices(JointRun):
    """The pipeline indices of a kernel's ops.

    Args:
        programs: those of the threads of execution.
        values: the integers of the function.
        known: what is known of integers before.
        round_robins: where warpgroups take indices round-robin.

    Attributes:
        failure: why not all runs were followed; empty if they were.
    """

    def __init__(
        self,
        programs: list[ThreadProgram],
        values: SymbolicValues,
        known: Intervals,
        round_robins: RoundRobins,
    ) -> None:
        super().__init__(programs, values, known, Bases(values), forgets=True)
        self._round_robins = round_robins
        self._sides = [list(dict.fromkeys(_sides_of(program.instructions))) for program in programs]
        self._seen: dict[_Key, set[int | None]] = {}
        self._begins_chunk: set[int] = set()
        self._initial: set[tuple[int, Iteration]] = set()
        #: Why not all iterations of a thread are known, by each of its ops.
        self._unknown: dict[int, str] = {}
        self._unknown_indices: dict[Hashable, UnknownIndex] = {}
        self._least: dict[tuple[int, Iteration, Value], int | None] = {}
        #: How many indices are outstanding before a wait or arrival.
        self._outstanding: dict[tuple[int, Iteration], set[int]] = {}
        self._ends: dict[int, list[RunEnd]] = {}
        self._together: dict[tuple[int, ...], list[RunEnd]] = {}
        self._events: dict[int, list[Event]] = {thread: [] for thread in range(len(programs))}
        self.failure = ""
        for self._alone in range(len(programs)):
            self._ends[self._alone] = []
            try:
                self.follow()
            except TooManyError as failure:
                self.failure = str(failure)

    # Answers.

    def ahead(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices a wait skips: its index minus the next one; None if that is not one
        number."""
        return self._unique(("ahead", op_address(op), iteration))

    def is_initial(self, op: Op, iteration: Iteration) -> bool:
        """Whether a producer takes the index of a wait without earlier ones, whose stages are empty."""
        return (op_address(op), iteration) in self._initial

    def begins_chunk(self, op: Op) -> bool:
        """Whether a wait takes the first index of a warpgroup's chunk."""
        return op_address(op) in self._begins_chunk

    def indices_without_wait(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices a producer takes by an arrival, without a wait; None if it has
        waited."""
        return self._unique(("taken", op_address(op), iteration))

    def lag(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices were taken since that of an arrival, including it."""
        return self._unique(("lag", op_address(op), iteration))

    def unknown_runs(self, op: Op) -> str:
        """Return a clause that says on which runs, or why, the index of an op is not known; empty if
        there are no words for that."""
        if op_address(op) in self._unknown:
            return f"({self._unknown[op_address(op)]})"
        doubt = self._unknown_indices.get(op_address(op))
        if doubt is None:
            return ""
        description = PolynomialPrinter(self.values.function, self.values.symbols)
        return description.runs(doubt.known, doubt.is_resolved)

    def lag_of(self, op: Op, index: Value, side: PipelineSide, iteration: Iteration) -> int | None:
        """Return how many indices of a pipeline side were taken since one that an op uses, including
        it."""
        return self._unique(("use", op_address(op), iteration, index, side))

    def least(self, op: Op, index: Value, iteration: Iteration) -> int | None:
        """Return a lower bound of an index that an op uses; None if none is known."""
        return self._least.get((op_address(op), iteration, index))

    def arrivals_by_itself(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices the thread of a wait has passed on itself, on the other side, since the
        one that the wait needs: the least number of all runs."""
        seen = self._seen.get(("arrived", op_address(op), iteration), set())
        numbers = [number for number in seen if number is not None]
        return min(numbers) if len(numbers) == len(seen) > 0 and self._is_known(op) else None

    def are_balanced(self, pipeline: CreatePipelineOp, barrier: int) -> bool:
        """Whether both sides have taken equally many indices of a pipeline at a barrier of the cluster.

        Args:
            pipeline: the pipeline.
            barrier: the number of the barrier.
        """
        sides = [PipelineSide(pipeline, side) for side in Side]
        threads = [x for x, used in enumerate(self._sides) if {*sides} & {*used}]
        for end in self.ends(threads):
            following = [
                indices[barrier]
                for (_, side), indices in end.at_barriers.items()
                if side.pipeline == pipeline and len(indices) > barrier
            ]
            if any(end.known.bounds(x - following[0]).exact != 0 for x in following[1:]):
                return False
        return True

    def is_reached(self, op: Op, iteration: Iteration, outstanding: int) -> bool:
        """Whether a wait or arrival may be executed in some iteration while so many indices are
        outstanding."""
        counts = self._outstanding.get((op_address(op), iteration), ())
        return outstanding in counts or not self._is_known(op)

    def events(self) -> list[Event] | None:
        """Return the waits and arrivals of all partitions; None if not known, or if they differ between
        warpgroups that take indices round-robin."""
        by_partition: dict[Partition, list[Event]] = {}
        for thread, events in self._events.items():
            same_events = by_partition.setdefault(self.programs[thread].partition, events)
            if any(x not in same_events for x in events) or any(
                x not in events for x in same_events
            ):
                return None
        is_known = not self.failure and not self._unknown
        return [x for events in by_partition.values() for x in events] if is_known else None

    def ends(self, threads: Sequence[int]) -> list[RunEnd]:
        """Return the ends of threads together, for some runs."""
        key = tuple(threads)
        if key not in self._together:
            self._together[key] = [*join_ends([self._ends[thread] for thread in threads])]
        return self._together[key]

    def _unique(self, key: _Key) -> int | None:
        """Return the only number that was seen, on all runs; else None."""
        seen = self._seen.get(key, set())
        unknown = self.failure or key[1] in self._unknown or len(seen) != 1
        return None if unknown else next(iter(seen))

    def _is_known(self, op: Op) -> bool:
        """Whether all iterations of the threads that execute an op are known."""
        return not self.failure and op_address(op) not in self._unknown

    def _note(
        self, key: _Key, polynomial: Polynomial, state: JointState, outstanding: int | None = None
    ) -> int | None:
        exact, seen = self.exactly(state, polynomial), self._seen.setdefault(key, set())
        is_held = outstanding is None or exact is None or 1 <= exact <= outstanding
        if exact is None or seen - {exact} or not is_held:
            self._unknown_indices.setdefault(
                key[1], UnknownIndex(polynomial, state.known.copy(), outstanding)
            )
        seen.add(exact)
        return exact

    # Following.

    def first(self, thread: int) -> ThreadState:
        if thread != self._alone:
            return ThreadState(len(self.programs[thread].instructions), (), (), ())
        indices, counts = [], []
        for side in self._sides[thread]:
            program = self.programs[thread]
            round_robin = self._round_robins.get((program.partition, side))
            # As if the previous chunk were complete.
            begin_index = (
                (program.warpgroup or 0) * round_robin.chunk - round_robin.others
                if round_robin
                else 0
            )
            indices.append(number(begin_index))
            counts += [0, round_robin.chunk if round_robin else 0]
        return ThreadState(0, (), tuple(indices), tuple(counts))

    def slot_of(self, thread: int, instruction: PipelineInstruction) -> int | None:
        waits, side = instruction.kind is Opcode.WAIT, instruction.side
        return self._sides[thread].index(side) if waits and side is not None else None

    def execute(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState | None:
        thread_state = state.threads[thread]
        if instruction.kind is Opcode.WAIT:
            return self._wait(state, thread, instruction)
        if instruction.kind is Opcode.ARRIVE:
            self._note_event(state, thread, instruction)
            return self._arrive(state, thread, instruction)
        if instruction.kind is Opcode.USE:
            self._use(state, thread, instruction)
        if instruction.kind is Opcode.CLUSTER_BARRIER:
            sides = len(self._sides[thread])
            return thread_state._replace(
                indices=(*thread_state.indices, *thread_state.indices[:sides])
            )
        return thread_state

    def _stop(self, state: JointState, thread: int) -> ThreadState:
        """Return the state of a thread that is followed no further: it has no counts."""
        return state.threads[thread]._replace(counts=())

    def step(self, state: JointState, thread: int) -> bool:
        if not state.threads[thread].counts and self._sides[thread]:
            return False
        try:
            return super().step(state, thread)
        except UnknownError as error:
            # It may have reached the same ops before, when more was known.
            for instruction in self.programs[thread].instructions:
                self._unknown.setdefault(op_address(instruction.op), str(error))
            state.threads[thread] = self._stop(state, thread)
            return False

    def _iteration(self, state: JointState, thread: int) -> Iteration:
        counters = state.threads[thread].counters
        return tuple(self.exactly(state, counter) == 0 for counter in counters)

    def _request(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> tuple[PipelineSide, int, Iteration, Polynomial]:
        """Return the pipeline side of a wait or arrival, its slot, the iteration, and the pipeline
        index."""
        side = instruction.side
        assert side is not None
        counters = state.threads[thread].counters
        index = self.evaluate(thread, instruction, instruction.op.index, counters)
        return side, self._sides[thread].index(side), self._iteration(state, thread), index

    def _wait(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState:
        before, op = state.threads[thread], instruction.op
        side, slot, iteration, index = self._request(state, thread, instruction)
        outstanding, in_chunk = _counts(before, slot)
        self._note_outstanding(op, iteration, outstanding)
        self._note_arrivals(state, thread, instruction, index)
        round_robin = self._round_robins.get((self.programs[thread].partition, side))
        skipped = number(0)
        if round_robin and in_chunk == round_robin.chunk:
            skipped, in_chunk = number(round_robin.others), 0
            self._begins_chunk.add(op_address(op))
        ahead = self._note(
            ("ahead", op_address(op), iteration), index - before.indices[slot] - skipped, state
        )
        if ahead is None:
            return self._stop(state, thread)
        if ahead > 0:
            constant = self.bases.forms(state, index)[-1].constant
            if not _is_empty(constant, side):
                return self._stop(state, thread)
            self._initial.add((op_address(op), iteration))
        if ahead < 0:
            return before
        outstanding += ahead
        if outstanding >= stages_of(side.pipeline):
            # It waits forever.
            return self._stop(state, thread)
        waiting = _with_next(before, slot, index, (outstanding, in_chunk))
        state.threads[thread] = waiting
        self._note_event(state, thread, instruction)
        return _with_next(
            before, slot, index + number(1), (outstanding + 1, in_chunk + bool(round_robin))
        )

    def _note_event(self, state: JointState, thread: int, instruction: PipelineInstruction) -> None:
        """Note how many indices of each pipeline a thread has taken at a wait or arrival."""
        thread_state, partition = state.threads[thread], self.programs[thread].partition
        side, _, _, index = self._request(state, thread, instruction)
        first, ahead, round_robins = self.first(thread), {}, {}
        for slot, used_side in enumerate(self._sides[thread]):
            outstanding, in_chunk = _counts(thread_state, slot)
            is_used = (thread_state.indices[slot], outstanding) != (first.indices[slot], 0)
            if not is_used:
                continue
            ahead[used_side] = (thread_state.indices[slot] - index).constant
            if (partition, used_side) in self._round_robins:
                round_robins[used_side] = RoundRobinState(
                    self._round_robins[partition, used_side].chunk, in_chunk, outstanding
                )
        waits = instruction.kind is Opcode.WAIT
        event = Event(partition, instruction.op, waits, side, ahead, round_robins)
        if event not in self._events[thread]:
            self._events[thread].append(event)

    def _note_outstanding(self, op: Op, iteration: Iteration, outstanding: int) -> None:
        """Note how many indices are outstanding before a wait or arrival."""
        self._outstanding.setdefault((op_address(op), iteration), set()).add(outstanding)

    def _note_arrivals(
        self, state: JointState, thread: int, instruction: PipelineInstruction, index: Polynomial
    ) -> None:
        """Note how many of the indices that a thread waits for it has passed on itself."""
        assert instruction.side is not None
        pipeline, side = instruction.side
        other_side = PipelineSide(pipeline, side.other)
        if other_side not in self._sides[thread]:
            return
        thread_state, slot = state.threads[thread], self._sides[thread].index(other_side)
        needed = index if side is Side.CONSUMER else index - number(stages_of(pipeline))
        arrived = thread_state.indices[slot] - number(thread_state.counts[2 * slot])
        self._note(
            ("arrived", op_address(instruction.op), self._iteration(state, thread)),
            arrived - needed,
            state,
        )

    def _arrive(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState:
        before, op = state.threads[thread], instruction.op
        side, slot, iteration, index = self._request(state, thread, instruction)
        (outstanding, in_chunk), following = _counts(before, slot), None
        self._note_outstanding(op, iteration, outstanding)
        constant = self.values.polynomial(op.index).constant
        if constant is not None and _is_empty(constant + 1, side):
            # The stages of the first indices are empty: they need not be acquired.
            ahead = self.exactly(state, index - before.indices[slot])
            if ahead is not None and ahead >= 0:
                self._seen.setdefault(("taken", op_address(op), iteration), set()).add(ahead + 1)
                following, outstanding = index + number(1), outstanding + ahead + 1
        following = following or before.indices[slot]
        lag = self._note(("lag", op_address(op), iteration), following - index, state, outstanding)
        if lag is None:
            return self._stop(state, thread)
        if 1 <= lag <= outstanding:
            outstanding -= 1
        return _with_next(before, slot, following, (outstanding, in_chunk))

    def _use(self, state: JointState, thread: int, instruction: PipelineInstruction) -> None:
        thread_state, op = state.threads[thread], instruction.op
        iteration = self._iteration(state, thread)
        for value in instruction.indices:
            try:
                index = self.evaluate(thread, instruction, value, thread_state.counters)
            except UnknownError:
                continue
            for side, following in zip(self._sides[thread], thread_state.indices, strict=False):
                self._note(
                    ("use", op_address(op), iteration, value, side), following - index, state
                )
            lows = [state.known.bounds(form).low for form in self.bases.forms(state, index)]
            least = max((low for low in lows if low is not None), default=None)
            key = op_address(op), iteration, value
            if key in self._least:
                before = self._least[key]
                least = None if least is None or before is None else min(least, before)
            self._least[key] = least

    def end(self, state: JointState) -> None:
        final_indices, at_barriers = {}, {}
        for thread, thread_state in enumerate(state.threads):
            sides = self._sides[thread] if thread_state.counts else []
            indices = tuple(self.bases.forms(state, index)[-1] for index in thread_state.indices)
            for slot, side in enumerate(sides):
                final_indices[thread, side] = FinalIndices(
                    indices[slot], thread_state.counts[2 * slot]
                )
                at_barriers[thread, side] = indices[slot + len(sides) :: len(sides)]
        varies = frozenset().union(*(base.symbol.varies for base in state.bases))
        intervals = state.known.intervals
        known = Intervals({key: x for key, x in intervals.items() if not key.varies & varies})
        end = RunEnd(final_indices, at_barriers, known, state.certain)
        ends = self._ends[self._alone]
        if not any(end[:2] == x[:2] and known.imply(x.known) for x in ends):
            ends.append(end)


def _sides_of(instructions: list[PipelineInstruction]) -> Iterator[PipelineSide]:
    return (x.side for x in instructions if x.side is not None)


def _is_empty(following: int | None, side: PipelineSide) -> bool:
    """Whether a producer need not acquire the indices before `following`: the first stages are empty."""
    stages = stages_of(side.pipeline)
    return side.side is Side.PRODUCER and following is not None and following <= stages


def _counts(thread_state: ThreadState, slot: int) -> tuple[int, int]:
    """Return how many indices of a pipeline side are outstanding, and taken of the current chunk."""
    outstanding, in_chunk = thread_state.counts[2 * slot : 2 * slot + 2]
    return outstanding, in_chunk


def _with_next(
    thread_state: ThreadState, slot: int, following: Polynomial, counts: tuple[int, int]
) -> ThreadState:
    """Return the state of a thread with another next index of a pipeline side, and other counts."""
    indices = (*thread_state.indices[:slot], following, *thread_state.indices[slot + 1 :])
    before, after = thread_state.counts[: 2 * slot], thread_state.counts[2 * slot + 2 :]
    return thread_state._replace(indices=indices, counts=(*before, *counts, *after))
