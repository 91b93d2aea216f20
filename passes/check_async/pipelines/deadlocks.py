"""Deadlocks: a schedule in which all partitions come to their end, or partitions that wait for another.

Which index a thread waits for next, and which branches and loops it takes, does not depend on when others
run. So if one schedule ends, all do (they are confluent: R. M. Karp and R. E. Miller, Properties of a
model for parallel computations, 1966). The one that is followed lets each go on as far as it can.
"""

from __future__ import annotations

from typing import NamedTuple

from ...order.report import label
from ..describe import PolynomialPrinter
from ..intervals import Intervals
from ..polynomials import Polynomial, number
from ..values import SymbolicValues
from .bases import Bases, JointState, ThreadState
from .instructions import Opcode, PipelineInstruction, RoundRobins, ThreadProgram
from .joint_run import JointRun, TooManyError, UnknownError
from .ops import PipelineSide, Side, stages_of

#: What a thread counts: its turns, and where it has met others; then, for each pipeline side, the
#: arrivals of its turn.
_COUNTED = (Opcode.ORDER_ARRIVE, Opcode.BARRIER, Opcode.CLUSTER_BARRIER)
_TURNS, _ARRIVED = _COUNTED.index(Opcode.ORDER_ARRIVE), len(_COUNTED)


class BlockedThread(NamedTuple):
    """A thread that waits.

    Attributes:
        thread: its number.
        instruction: where.
        pipeline_index: for which pipeline index, if for one.
        by: the number of the thread that it waits for.
    """

    thread: int
    instruction: PipelineInstruction
    pipeline_index: Polynomial | None
    by: int


class _DeadlockError(Exception):
    """Some threads wait for each other."""

    def __init__(self, blocked: list[BlockedThread], known: Intervals) -> None:
        self.blocked = blocked
        self.known = known


def find_deadlock(
    codes: list[ThreadProgram], values: SymbolicValues, known: Intervals, turns: RoundRobins
) -> str:
    """Return why threads may wait for each other; empty if they do not.

    Args:
        codes: what the threads of execution do.
        values: the integers of the function.
        known: what is known of integers before.
        turns: where warpgroups take indices in turn.
    """
    try:
        _Schedule(codes, values, known, turns).follow()
    except (UnknownError, TooManyError) as unknown:
        return str(unknown)
    except _DeadlockError as deadlock:
        facts = PolynomialPrinter(values.function, values.symbols).facts(deadlock.known)
        return _cycle_text(codes, deadlock.blocked) + (f"; where {facts}" if facts else "")
    return ""


class _Schedule(JointRun):
    """A schedule of all threads of execution."""

    def __init__(
        self,
        codes: list[ThreadProgram],
        values: SymbolicValues,
        known: Intervals,
        turns: RoundRobins,
    ) -> None:
        self._turns = turns
        sides = [[x.side for x in c.instructions if x.kind is Opcode.ARRIVE] for c in codes]
        self._arrives = [[x for x in dict.fromkeys(each) if x is not None] for each in sides]
        self._arrivals: dict[PipelineSide, list[tuple[int, int]]] = {}
        for thread, arrives in enumerate(self._arrives):
            for place, side in enumerate(arrives):
                self._arrivals.setdefault(side, []).append((thread, place))
        stages = max((stages_of(pipeline) for pipeline, _ in self._arrivals), default=0)
        super().__init__(codes, values, known, Bases(values, alone=2 + stages))

    def first(self, thread: int) -> ThreadState:
        partition, warpgroup, _ = self.codes[thread]
        turns = [self._turns.get((partition, side)) for side in self._arrives[thread]]
        indices = (number((warpgroup or 0) * each.chunk if each else 0) for each in turns)
        return ThreadState(0, (), tuple(indices), (*(0 for _ in _COUNTED), *(0 for _ in turns)))

    def place_of(self, thread: int, instruction: PipelineInstruction) -> int | None:
        arrives, side = instruction.kind is Opcode.ARRIVE, instruction.side
        return self._arrives[thread].index(side) if arrives and side is not None else None

    def execute(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState | None:
        now, kind = state.threads[thread], instruction.kind
        if self._blocked_thread(state, thread, instruction) is not None:
            return None
        if kind is Opcode.ARRIVE:
            assert instruction.side is not None
            return self._arrive(state, thread, instruction)
        counts = [*now.counts]
        if kind in _COUNTED:
            counts[_COUNTED.index(kind)] += 1
        return now._replace(counts=tuple(counts))

    def _arrive(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState:
        """Return where a thread is after an arrival: at the next index that it takes."""
        now, side = state.threads[thread], instruction.side
        assert side is not None
        place = self._arrives[thread].index(side)
        index = self.evaluate(thread, instruction, instruction.op.index, now.counters) + number(1)
        counts = [*now.counts]
        turns = self._turns.get((self.codes[thread].partition, side))
        if turns is not None:
            counts[_ARRIVED + place] += 1
            if counts[_ARRIVED + place] == turns.chunk:
                index, counts[_ARRIVED + place] = index + number(turns.others), 0
        indices = (*now.indices[:place], index, *now.indices[place + 1 :])
        return now._replace(indices=indices, counts=tuple(counts))

    def normalize(self, state: JointState) -> JointState:
        """Return a state whose counts are relative to the least one of those that they wait for."""
        for place, kind in enumerate(_COUNTED):
            for group in {tuple(self._barrier_group(x, kind)) for x in range(len(self.codes))}:
                least = min((state.threads[x].counts[place] for x in group), default=0)
                for thread in group:
                    counts = [*state.threads[thread].counts]
                    counts[place] -= least
                    state.threads[thread] = state.threads[thread]._replace(counts=tuple(counts))
        return state

    def end(self, state: JointState) -> None:
        blocked = []
        for thread, now in enumerate(state.threads):
            instructions = self.codes[thread].instructions
            if now.position < len(instructions):
                waits = self._blocked_thread(state, thread, instructions[now.position])
                assert waits is not None, "a thread that does not go on waits"
                blocked.append(waits)
        if blocked:
            raise _DeadlockError(blocked, state.known)

    def _blocked_thread(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> BlockedThread | None:
        """Return what a thread waits for at an instruction; None if it can go on."""
        if instruction.kind is Opcode.WAIT:
            return self._wait_for_stage(state, thread, instruction)
        others: list[int] = []
        if instruction.kind is Opcode.ORDER_WAIT:
            others = self._warpgroup_before(state, thread)
        elif instruction.kind in (Opcode.BARRIER, Opcode.CLUSTER_BARRIER):
            others = self._absent_threads(state, thread, instruction)
        return BlockedThread(thread, instruction, None, others[0]) if others else None

    def _wait_for_stage(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> BlockedThread | None:
        assert instruction.side is not None
        pipeline, side = instruction.side
        counters = state.threads[thread].counters
        index = self.evaluate(thread, instruction, instruction.op.index, counters)
        # A producer waits for the release of the index that had the stage before.
        needed = index - number(stages_of(pipeline) if side is Side.PRODUCER else 0)
        for by, place in self._arrivals.get(PipelineSide(pipeline, side.other), ()):
            ahead = state.threads[by].indices[place] - needed
            if not self.is_positive(state, ahead):
                plain = self.bases.forms(state, index)[-1]
                return BlockedThread(thread, instruction, plain, by)
        return None

    def _warpgroup_before(self, state: JointState, thread: int) -> list[int]:
        """Return the warpgroup whose turn comes before that of a thread, if it is not over."""
        group = self._warpgroups(thread)
        place = group.index(thread)
        own, before = (state.threads[x].counts[_TURNS] for x in (thread, group[place - 1]))
        is_over = before >= own + (place > 0)
        return [] if is_over or len(group) == 1 else [group[place - 1]]

    def _absent_threads(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> list[int]:
        """Return the threads that have not come to where a thread meets them."""
        group, now = self._barrier_group(thread, instruction.kind), state.threads[thread]
        return [x for x in group if not self._has_arrived(state.threads[x], x, now, instruction)]

    def _has_arrived(
        self, other: ThreadState, thread: int, now: ThreadState, instruction: PipelineInstruction
    ) -> bool:
        place = _COUNTED.index(instruction.kind)
        if other.counts[place] != now.counts[place]:
            return other.counts[place] > now.counts[place]
        instructions = self.codes[thread].instructions
        kind = instructions[other.position].kind if other.position < len(instructions) else None
        return kind is instruction.kind

    def _barrier_group(self, thread: int, kind: Opcode) -> list[int]:
        """Return the threads that wait for each other at an instruction of a kind, as a thread does."""
        if kind is Opcode.CLUSTER_BARRIER:
            return [x for x, code in enumerate(self.codes) if _has_cluster_barrier(code)]
        return self._warpgroups(thread)

    def _warpgroups(self, thread: int) -> list[int]:
        """Return the threads of the same partition."""
        partition = self.codes[thread].partition
        return [x for x, code in enumerate(self.codes) if code.partition is partition]


def _has_cluster_barrier(code: ThreadProgram) -> bool:
    return any(x.kind is Opcode.CLUSTER_BARRIER for x in code.instructions)


def _cycle_text(codes: list[ThreadProgram], blocked: list[BlockedThread]) -> str:
    """Return who waits for whom, beginning with a thread that is in the circle, if there is one."""
    by_thread = {each.thread: each for each in blocked}
    first = blocked[0]
    for _ in blocked:
        first = by_thread.get(first.by, first)
    waits: list[BlockedThread] = []
    each: BlockedThread | None = first
    while each is not None and each not in waits:
        waits.append(each)
        each = by_thread.get(each.by)
    sentences = [_wait_text(codes, each) for each in waits]
    if each is None:
        sentences.append(f"{_thread_name(codes, waits[-1].by)} ends before that")
    return "; ".join(sentences)


def _wait_text(codes: list[ThreadProgram], blocked: BlockedThread) -> str:
    """Return what a thread waits for."""
    waits = f"{_thread_name(codes, blocked.thread)} waits at the {label(blocked.instruction.op)}"
    by, side = _thread_name(codes, blocked.by), blocked.instruction.side
    if side is None or blocked.pipeline_index is None:
        return f"{waits} for {by}"
    index = blocked.pipeline_index.constant
    which = "a later index" if index is None else f"index {index}"
    if side.side is Side.PRODUCER:
        which = f"the stage of {which}"
    arrives = side.side.other.arrives
    return f"{waits} for {which} of the {label(side.pipeline)}, which {by} {arrives} later"


def _thread_name(codes: list[ThreadProgram], thread: int) -> str:
    partition, warpgroup, _ = codes[thread]
    of = "" if warpgroup is None else f"warpgroup {warpgroup} of "
    return f"{of}the {label(partition.op)}"
