"""Which pipeline index each op takes, relative to how many its threads have taken before.

That does not depend on other threads: each is followed alone.
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
    """How far a thread is at its end.

    Attributes:
        following: the index after the last one that it has taken.
        held: how many of those before it has not committed or released.
    """

    following: Polynomial
    held: int


#: Whether an op is in the first iteration of each loop around it, from the outside in.
Iteration = tuple[bool, ...]


class RunEnd(NamedTuple):
    """What threads have taken at the end of some runs.

    Attributes:
        taken: by each thread of execution, for each pipeline side.
        at_barriers: the index that each comes to next at each barrier of the cluster.
        known: what is known of integers on these runs.
        certain: whether there is such a run.
    """

    taken: dict[tuple[int, PipelineSide], FinalIndices]
    at_barriers: dict[tuple[int, PipelineSide], tuple[Polynomial, ...]]
    known: Intervals
    certain: bool


def join_ends(ends_of_each: Sequence[Sequence[RunEnd]]) -> Iterator[RunEnd]:
    """Yield what several threads have taken together at the end of some runs.

    Args:
        ends_of_each: the ends of each thread.
    """
    for ends in product(*ends_of_each):
        known: Intervals | None = Intervals()
        for end in ends:
            known = known and known.and_also(end.known)
        if known is not None:
            taken = {key: x for end in ends for key, x in end.taken.items()}
            at_barriers = {key: x for end in ends for key, x in end.at_barriers.items()}
            yield RunEnd(taken, at_barriers, known, all(end.certain for end in ends))


class UnknownIndex(NamedTuple):
    """Runs on which it is not known which index an op takes, or on which it takes none that it may.

    Attributes:
        polynomial: what is not known: how many indices the op skips, or have been taken since.
        known: what is known of integers on these runs.
        held: how many indices are held, if it is one of those.
    """

    polynomial: Polynomial
    known: Intervals
    held: int | None = None

    def is_resolved(self, known: Intervals) -> bool:
        """Whether all is well on runs of which more is known."""
        exact = known.bounds(self.polynomial).exact
        return exact is not None and (self.held is None or 1 <= exact <= self.held)


class RoundRobinState(NamedTuple):
    """A warpgroup's turn on a pipeline.

    Attributes:
        chunk: how many consecutive indices a warpgroup takes in a turn.
        taken: how many of them it has taken.
        held: how many indices it holds.
    """

    chunk: int
    taken: int
    held: int


class Event(NamedTuple):
    """A wait or an arrival on a pipeline.

    Attributes:
        waits: whether it is a wait.
        pipeline_side: the pipeline, and the partition's side.
        ahead: for each pipeline side that the partition has taken indices of before, the next index of
            that side minus the index of the event; None if that is not one constant.
        turns: the turn of a warpgroup on each of these that the partition's warpgroups take in turn.
    """

    partition: Partition
    op: Op
    waits: bool
    pipeline_side: PipelineSide
    ahead: dict[PipelineSide, int | None]
    turns: dict[PipelineSide, RoundRobinState]


#: What is asked, of which op (`op_address`), and in which iteration; more for some questions.
_Key: TypeAlias = tuple[Hashable, ...]


class RelativeIndices(JointRun):
    """The pipeline indices of a kernel's ops.

    Args:
        codes: what the threads of execution do.
        values: the integers of the function.
        known: what is known of integers before.
        turns: where warpgroups take indices in turn.

    Attributes:
        failure: why not all runs were followed; empty if they were.
    """

    def __init__(
        self,
        codes: list[ThreadProgram],
        values: SymbolicValues,
        known: Intervals,
        turns: RoundRobins,
    ) -> None:
        super().__init__(codes, values, known, Bases(values), forgets=True)
        self._turns = turns
        self._sides = [list(dict.fromkeys(_sides_of(code.instructions))) for code in codes]
        self._seen: dict[_Key, set[int | None]] = {}
        self._begins_chunk: set[int] = set()
        self._initial: set[tuple[int, Iteration]] = set()
        #: The ops of threads of which not all iterations are known, with the reason.
        self._unknown: dict[int, str] = {}
        self._unknown_indices: dict[Hashable, UnknownIndex] = {}
        self._least: dict[tuple[int, Iteration, Value], int | None] = {}
        self._ends: dict[int, list[RunEnd]] = {}
        self._together: dict[tuple[int, ...], list[RunEnd]] = {}
        self._events: dict[int, list[Event]] = {thread: [] for thread in range(len(codes))}
        self.failure = ""
        for self._alone in range(len(codes)):
            self._ends[self._alone] = []
            try:
                self.follow()
            except TooManyError as failure:
                self.failure = str(failure)

    # What is found.

    def ahead(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices a wait skips: its own minus the next one; None if that is not one
        number."""
        return self._unique(("ahead", op_address(op), iteration))

    def is_initial(self, op: Op, iteration: Iteration) -> bool:
        """Whether a producer takes the index of a wait without those before: their stages are empty."""
        return (op_address(op), iteration) in self._initial

    def begins_chunk(self, op: Op) -> bool:
        """Whether a wait is the first one of a warpgroup's turn."""
        return op_address(op) in self._begins_chunk

    def indices_without_wait(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices a producer takes by an arrival, which it has not acquired; None if it
        has."""
        return self._unique(("taken", op_address(op), iteration))

    def lag(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices were taken since, and including, that of an arrival."""
        return self._unique(("lag", op_address(op), iteration))

    def unknown_runs(self, op: Op) -> str:
        """Return on which runs it is not known which index an op takes, or why, as a clause; empty if
        there are no words for that."""
        if op_address(op) in self._unknown:
            return f"({self._unknown[op_address(op)]})"
        doubt = self._unknown_indices.get(op_address(op))
        if doubt is None:
            return ""
        description = PolynomialPrinter(self.values.function, self.values.symbols)
        return description.runs(doubt.known, doubt.is_resolved)

    def lag_of(self, op: Op, index: Value, side: PipelineSide, iteration: Iteration) -> int | None:
        """Return how many indices of a pipeline side were taken since, and including, one that an op
        uses."""
        return self._unique(("use", op_address(op), iteration, index, side))

    def least(self, op: Op, index: Value, iteration: Iteration) -> int | None:
        """Return a number that an index which an op uses is not below; None if none is known."""
        return self._least.get((op_address(op), iteration, index))

    def arrivals_by_itself(self, op: Op, iteration: Iteration) -> int | None:
        """Return how many indices the thread of a wait has passed on itself, on the other side, since the
        one that the wait needs; the least number of all runs."""
        seen = self._seen.get(("arrived", op_address(op), iteration), set())
        known = [number for number in seen if number is not None]
        return min(known) if len(known) == len(seen) > 0 and self._is_known(op) else None

    def are_balanced(self, pipeline: CreatePipelineOp, barrier: int) -> bool:
        """Whether all on both sides have taken as many indices of a pipeline at a barrier of the cluster.

        Args:
            pipeline: the pipeline.
            barrier: the number of the barrier.
        """
        sides = [PipelineSide(pipeline, side) for side in Side]
        threads = [x for x, taken in enumerate(self._sides) if {*sides} & {*taken}]
        for end in self.ends(threads):
            following = [
                indices[barrier]
                for (_, side), indices in end.at_barriers.items()
                if side.pipeline == pipeline and len(indices) > barrier
            ]
            if any(end.known.bounds(x - following[0]).exact != 0 for x in following[1:]):
                return False
        return True

    def is_reached(self, op: Op, iteration: Iteration) -> bool:
        """Whether a wait or arrival may be executed in some iteration."""
        return (
            not self._is_known(op)
            or ("ahead", op_address(op), iteration) in self._seen
            or ("lag", op_address(op), iteration) in self._seen
        )

    def events(self) -> list[Event] | None:
        """Return the waits and arrivals of all partitions; None if they are not known, or if those of
        warpgroups that take turns are not alike."""
        by_partition: dict[Partition, list[Event]] = {}
        for thread, events in self._events.items():
            known = by_partition.setdefault(self.codes[thread].partition, events)
            if any(x not in known for x in events) or any(x not in events for x in known):
                return None
        is_known = not self.failure and not self._unknown
        return [x for events in by_partition.values() for x in events] if is_known else None

    def ends(self, threads: Sequence[int]) -> list[RunEnd]:
        """Return what threads have taken together at the end of some runs."""
        key = tuple(threads)
        if key not in self._together:
            self._together[key] = [*join_ends([self._ends[thread] for thread in threads])]
        return self._together[key]

    def _unique(self, key: _Key) -> int | None:
        """Return the number that was seen in all runs."""
        seen = self._seen.get(key, set())
        unknown = self.failure or key[1] in self._unknown or len(seen) != 1
        return None if unknown else next(iter(seen))

    def _is_known(self, op: Op) -> bool:
        """Whether all iterations of the threads that execute an op are known."""
        return not self.failure and op_address(op) not in self._unknown

    def _note(
        self, key: _Key, polynomial: Polynomial, state: JointState, held: int | None = None
    ) -> int | None:
        exact, seen = self.exactly(state, polynomial), self._seen.setdefault(key, set())
        is_held = held is None or exact is None or 1 <= exact <= held
        if exact is None or seen - {exact} or not is_held:
            self._unknown_indices.setdefault(
                key[1], UnknownIndex(polynomial, state.known.copy(), held)
            )
        seen.add(exact)
        return exact

    # Following.

    def first(self, thread: int) -> ThreadState:
        if thread != self._alone:
            return ThreadState(len(self.codes[thread].instructions), (), (), ())
        indices, counts = [], []
        for side in self._sides[thread]:
            code = self.codes[thread]
            turns = self._turns.get((code.partition, side))
            # As if the turn before had ended.
            begin = (code.warpgroup or 0) * turns.chunk - turns.others if turns else 0
            indices.append(number(begin))
            counts += [0, turns.chunk if turns else 0]
        return ThreadState(0, (), tuple(indices), tuple(counts))

    def place_of(self, thread: int, instruction: PipelineInstruction) -> int | None:
        waits, side = instruction.kind is Opcode.WAIT, instruction.side
        return self._sides[thread].index(side) if waits and side is not None else None

    def execute(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState | None:
        now = state.threads[thread]
        if instruction.kind is Opcode.WAIT:
            return self._wait(state, thread, instruction)
        if instruction.kind is Opcode.ARRIVE:
            self._note_event(state, thread, instruction)
            return self._arrive(state, thread, instruction)
        if instruction.kind is Opcode.USE:
            self._use(state, thread, instruction)
        if instruction.kind is Opcode.CLUSTER_BARRIER:
            sides = len(self._sides[thread])
            return now._replace(indices=(*now.indices, *now.indices[:sides]))
        return now

    def _stop(self, state: JointState, thread: int) -> ThreadState:
        """Return a thread that is not followed on; it has no counts."""
        return state.threads[thread]._replace(counts=())

    def step(self, state: JointState, thread: int) -> bool:
        if not state.threads[thread].counts and self._sides[thread]:
            return False
        try:
            return super().step(state, thread)
        except UnknownError as error:
            # It may have come to the same ops before, when more was known.
            for each in self.codes[thread].instructions:
                self._unknown.setdefault(op_address(each.op), str(error))
            state.threads[thread] = self._stop(state, thread)
            return False

    def _iteration(self, state: JointState, thread: int) -> Iteration:
        counters = state.threads[thread].counters
        return tuple(self.exactly(state, counter) == 0 for counter in counters)

    def _request(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> tuple[PipelineSide, int, Iteration, Polynomial]:
        """Return the pipeline side of a wait or arrival, its place among those of the thread, the
        iteration in which that is, and the pipeline index."""
        side = instruction.side
        assert side is not None
        counters = state.threads[thread].counters
        index = self.evaluate(thread, instruction, instruction.op.index, counters)
        return side, self._sides[thread].index(side), self._iteration(state, thread), index

    def _wait(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState:
        now, op = state.threads[thread], instruction.op
        side, place, iteration, index = self._request(state, thread, instruction)
        held, in_turn = _counts(now, place)
        self._note_arrivals(state, thread, instruction, index)
        turns = self._turns.get((self.codes[thread].partition, side))
        skipped = number(0)
        if turns and in_turn == turns.chunk:
            skipped, in_turn = number(turns.others), 0
            self._begins_chunk.add(op_address(op))
        ahead = self._note(
            ("ahead", op_address(op), iteration), index - now.indices[place] - skipped, state
        )
        if ahead is None:
            return self._stop(state, thread)
        if ahead > 0:
            constant = self.bases.forms(state, index)[-1].constant
            if not _is_empty(constant, side):
                return self._stop(state, thread)
            self._initial.add((op_address(op), iteration))
        if ahead < 0:
            return now
        held += ahead
        if held >= stages_of(side.pipeline):
            # It waits forever.
            return self._stop(state, thread)
        begun = _with_next(now, place, index, (held, in_turn))
        state.threads[thread] = begun
        self._note_event(state, thread, instruction)
        return _with_next(now, place, index + number(1), (held + 1, in_turn + bool(turns)))

    def _note_event(self, state: JointState, thread: int, instruction: PipelineInstruction) -> None:
        """Note how far the thread is in each pipeline at a wait or arrival, the same once."""
        now, partition = state.threads[thread], self.codes[thread].partition
        side, _, _, index = self._request(state, thread, instruction)
        first, ahead, turns = self.first(thread), {}, {}
        for place, of in enumerate(self._sides[thread]):
            held, in_turn = _counts(now, place)
            taken = (now.indices[place], held) != (first.indices[place], 0)
            if not taken:
                continue
            ahead[of] = (now.indices[place] - index).constant
            if (partition, of) in self._turns:
                turns[of] = RoundRobinState(self._turns[partition, of].chunk, in_turn, held)
        waits = instruction.kind is Opcode.WAIT
        event = Event(partition, instruction.op, waits, side, ahead, turns)
        if event not in self._events[thread]:
            self._events[thread].append(event)

    def _note_arrivals(
        self, state: JointState, thread: int, instruction: PipelineInstruction, index: Polynomial
    ) -> None:
        """Note what the thread has passed on itself of what it waits for."""
        assert instruction.side is not None
        pipeline, side = instruction.side
        other = PipelineSide(pipeline, side.other)
        if other not in self._sides[thread]:
            return
        now, place = state.threads[thread], self._sides[thread].index(other)
        needed = index if side is Side.CONSUMER else index - number(stages_of(pipeline))
        arrived = now.indices[place] - number(now.counts[2 * place])
        self._note(
            ("arrived", op_address(instruction.op), self._iteration(state, thread)),
            arrived - needed,
            state,
        )

    def _arrive(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState:
        now, op = state.threads[thread], instruction.op
        side, place, iteration, index = self._request(state, thread, instruction)
        (held, in_turn), following = _counts(now, place), None
        constant = self.values.polynomial(op.index).constant
        if constant is not None and _is_empty(constant + 1, side):
            # The stages of the first indices are empty: they need not be acquired.
            ahead = self.exactly(state, index - now.indices[place])
            if ahead is not None and ahead >= 0:
                self._seen.setdefault(("taken", op_address(op), iteration), set()).add(ahead + 1)
                following, held = index + number(1), held + ahead + 1
        following = following or now.indices[place]
        lag = self._note(("lag", op_address(op), iteration), following - index, state, held)
        if lag is None:
            return self._stop(state, thread)
        if 1 <= lag <= held:
            held -= 1
        return _with_next(now, place, following, (held, in_turn))

    def _use(self, state: JointState, thread: int, instruction: PipelineInstruction) -> None:
        now, op = state.threads[thread], instruction.op
        iteration = self._iteration(state, thread)
        for value in instruction.indices:
            try:
                index = self.evaluate(thread, instruction, value, now.counters)
            except UnknownError:
                continue
            for side, following in zip(self._sides[thread], now.indices, strict=False):
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
        taken, at_barriers = {}, {}
        for thread, now in enumerate(state.threads):
            sides = self._sides[thread] if now.counts else []
            indices = tuple(self.bases.forms(state, index)[-1] for index in now.indices)
            for place, side in enumerate(sides):
                taken[thread, side] = FinalIndices(indices[place], now.counts[2 * place])
                at_barriers[thread, side] = indices[place + len(sides) :: len(sides)]
        varies = frozenset().union(*(base.symbol.varies for base in state.bases))
        intervals = state.known.intervals
        known = Intervals({key: x for key, x in intervals.items() if not key.varies & varies})
        end, ends = RunEnd(taken, at_barriers, known, state.certain), self._ends[self._alone]
        if not any(end[:2] == x[:2] and known.imply(x.known) for x in ends):
            ends.append(end)


def _sides_of(instructions: list[PipelineInstruction]) -> Iterator[PipelineSide]:
    return (x.side for x in instructions if x.side is not None)


def _is_empty(following: int | None, side: PipelineSide) -> bool:
    """Whether a producer need not acquire the indices before one: the first stages are empty."""
    stages = stages_of(side.pipeline)
    return side.side is Side.PRODUCER and following is not None and following <= stages


def _counts(now: ThreadState, place: int) -> tuple[int, int]:
    """Return how many indices of a pipeline side a thread holds, and has taken in its turn."""
    held, in_turn = now.counts[2 * place : 2 * place + 2]
    return held, in_turn


def _with_next(
    now: ThreadState, place: int, following: Polynomial, counts: tuple[int, int]
) -> ThreadState:
    """Return a thread with another next index of a pipeline side, and other counts."""
    indices = (*now.indices[:place], following, *now.indices[place + 1 :])
    before, after = now.counts[: 2 * place], now.counts[2 * place + 2 :]
    return now._replace(indices=indices, counts=(*before, *counts, *after))
