"""Deadlocks: find a schedule in which all threads of execution end, or threads that wait for each other.

Which index a thread waits for next, and which branches and loops it takes, does not depend on when others
run. So if one schedule ends, all do (they are confluent: R. M. Karp and R. E. Miller, Properties of a
model for parallel computations, 1966). The schedule that is followed runs each thread as far as possible.
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

#: What a thread counts: its ordered turns and its barriers; then, for each pipeline side, the arrivals of
#: its chunk.
_COUNTED = (Opcode.ORDER_ARRIVE, Opcode.BARRIER, Opcode.CLUSTER_BARRIER)
_TURNS, _ARRIVED = _COUNTED.index(Opcode.ORDER_ARRIVE), len(_COUNTED)


class BlockedThread(NamedTuple):
    """A thread that waits.

    Attributes:
        thread: its number.
        instruction: where it waits.
        pipeline_index: the index that it waits for; None without a pipeline.
        blocker: the number of the thread that it waits for.
    """

    thread: int
    instruction: PipelineInstruction
    pipeline_index: Polynomial | None
    blocker: int


class _DeadlockError(Exception):
    """Some threads wait for each other."""

    def __init__(self, blocked: list[BlockedThread], known: Intervals) -> None:
        self.blocked = blocked
        self.known = known


def find_deadlock(
    programs: list[ThreadProgram],
    values: SymbolicValues,
    known: Intervals,
    round_robins: RoundRobins,
) -> str:
    """Return why threads may wait for each other; empty if they do not.

    Args:
        programs: those of the threads of execution.
        values: the integers of the function.
        known: what is known of integers before.
        round_robins: where warpgroups take indices round-robin.
    """
    try:
        _Schedule(programs, values, known, round_robins).follow()
    except (UnknownError, TooManyError) as unknown:
        return str(unknown)
    except _DeadlockError as deadlock:
        facts = PolynomialPrinter(values.function, values.symbols).facts(deadlock.known)
        return _cycle_text(programs, deadlock.blocked) + (f"; where {facts}" if facts else "")
    return ""


class _Schedule(JointRun):
    """A schedule of all threads of execution."""

    def __init__(
        self,
        programs: list[ThreadProgram],
        values: SymbolicValues,
        known: Intervals,
        round_robins: RoundRobins,
    ) -> None:
        self._round_robins = round_robins
        sides = [[x.side for x in c.instructions if x.kind is Opcode.ARRIVE] for c in programs]
        self._arrives = [
            [x for x in dict.fromkeys(arrival_sides) if x is not None] for arrival_sides in sides
        ]
        self._arrivals: dict[PipelineSide, list[tuple[int, int]]] = {}
        for thread, arrives in enumerate(self._arrives):
            for slot, side in enumerate(arrives):
                self._arrivals.setdefault(side, []).append((thread, slot))
        stages = max((stages_of(pipeline) for pipeline, _ in self._arrivals), default=0)
        super().__init__(programs, values, known, Bases(values, alone=2 + stages))

    def first(self, thread: int) -> ThreadState:
        partition, warpgroup, _ = self.programs[thread]
        round_robins = [self._round_robins.get((partition, side)) for side in self._arrives[thread]]
        indices = (
            number((warpgroup or 0) * round_robin.chunk if round_robin else 0)
            for round_robin in round_robins
        )
        return ThreadState(
            0, (), tuple(indices), (*(0 for _ in _COUNTED), *(0 for _ in round_robins))
        )

    def slot_of(self, thread: int, instruction: PipelineInstruction) -> int | None:
        arrives, side = instruction.kind is Opcode.ARRIVE, instruction.side
        return self._arrives[thread].index(side) if arrives and side is not None else None

    def execute(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState | None:
        state_before, kind = state.threads[thread], instruction.kind
        if self._blocked_thread(state, thread, instruction) is not None:
            return None
        if kind is Opcode.ARRIVE:
            assert instruction.side is not None
            return self._arrive(state, thread, instruction)
        counts = [*state_before.counts]
        if kind in _COUNTED:
            counts[_COUNTED.index(kind)] += 1
        return state_before._replace(counts=tuple(counts))

    def _arrive(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> ThreadState:
        """Return the state of a thread after an arrival, with the next index that it takes."""
        before, side = state.threads[thread], instruction.side
        assert side is not None
        slot = self._arrives[thread].index(side)
        index = self.evaluate(thread, instruction, instruction.op.index, before.counters) + number(
            1
        )
        counts = [*before.counts]
        round_robin = self._round_robins.get((self.programs[thread].partition, side))
        if round_robin is not None:
            counts[_ARRIVED + slot] += 1
            if counts[_ARRIVED + slot] == round_robin.chunk:
                index, counts[_ARRIVED + slot] = index + number(round_robin.others), 0
        indices = (*before.indices[:slot], index, *before.indices[slot + 1 :])
        return before._replace(indices=indices, counts=tuple(counts))

    def normalize(self, state: JointState) -> JointState:
        """Return a state whose counts are relative to the least one of each group that waits together."""
        for slot, kind in enumerate(_COUNTED):
            for group in {tuple(self._barrier_group(x, kind)) for x in range(len(self.programs))}:
                least = min((state.threads[x].counts[slot] for x in group), default=0)
                for thread in group:
                    counts = [*state.threads[thread].counts]
                    counts[slot] -= least
                    state.threads[thread] = state.threads[thread]._replace(counts=tuple(counts))
        return state

    def end(self, state: JointState) -> None:
        blocked = []
        for thread, thread_state in enumerate(state.threads):
            instructions = self.programs[thread].instructions
            if thread_state.position < len(instructions):
                waits = self._blocked_thread(state, thread, instructions[thread_state.position])
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
        blockers: list[int] = []
        if instruction.kind is Opcode.ORDER_WAIT:
            blockers = self._warpgroup_before(state, thread)
        elif instruction.kind in (Opcode.BARRIER, Opcode.CLUSTER_BARRIER):
            blockers = self._absent_threads(state, thread, instruction)
        return BlockedThread(thread, instruction, None, blockers[0]) if blockers else None

    def _wait_for_stage(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> BlockedThread | None:
        assert instruction.side is not None
        pipeline, side = instruction.side
        counters = state.threads[thread].counters
        index = self.evaluate(thread, instruction, instruction.op.index, counters)
        # A producer waits for the release of the index that had the stage before.
        needed = index - number(stages_of(pipeline) if side is Side.PRODUCER else 0)
        for blocker, slot in self._arrivals.get(PipelineSide(pipeline, side.other), ()):
            ahead = state.threads[blocker].indices[slot] - needed
            if not self.is_positive(state, ahead):
                plain = self.bases.forms(state, index)[-1]
                return BlockedThread(thread, instruction, plain, blocker)
        return None

    def _warpgroup_before(self, state: JointState, thread: int) -> list[int]:
        """Return the warpgroup whose ordered turn comes before that of a thread, if it is not over."""
        group = self._warpgroups(thread)
        position = group.index(thread)
        turns, turns_before = (
            state.threads[x].counts[_TURNS] for x in (thread, group[position - 1])
        )
        is_over = turns_before >= turns + (position > 0)
        return [] if is_over or len(group) == 1 else [group[position - 1]]

    def _absent_threads(
        self, state: JointState, thread: int, instruction: PipelineInstruction
    ) -> list[int]:
        """Return the threads that have not arrived at the barrier at which a thread waits."""
        group, waiting = self._barrier_group(thread, instruction.kind), state.threads[thread]
        return [
            x for x in group if not self._has_arrived(state.threads[x], x, waiting, instruction)
        ]

    def _has_arrived(
        self,
        other: ThreadState,
        thread: int,
        waiting: ThreadState,
        instruction: PipelineInstruction,
    ) -> bool:
        slot = _COUNTED.index(instruction.kind)
        if other.counts[slot] != waiting.counts[slot]:
            return other.counts[slot] > waiting.counts[slot]
        instructions = self.programs[thread].instructions
        kind = instructions[other.position].kind if other.position < len(instructions) else None
        return kind is instruction.kind

    def _barrier_group(self, thread: int, kind: Opcode) -> list[int]:
        """Return the threads that a thread waits for at a barrier of a kind, and itself."""
        if kind is Opcode.CLUSTER_BARRIER:
            return [x for x, program in enumerate(self.programs) if _has_cluster_barrier(program)]
        return self._warpgroups(thread)

    def _warpgroups(self, thread: int) -> list[int]:
        """Return the threads of the same partition."""
        partition = self.programs[thread].partition
        return [x for x, program in enumerate(self.programs) if program.partition is partition]


def _has_cluster_barrier(program: ThreadProgram) -> bool:
    return any(x.kind is Opcode.CLUSTER_BARRIER for x in program.instructions)


def _cycle_text(programs: list[ThreadProgram], blocked: list[BlockedThread]) -> str:
    """Return which thread waits for which, from one in the circle on, if there is a circle."""
    by_thread = {blocked_thread.thread: blocked_thread for blocked_thread in blocked}
    first = blocked[0]
    for _ in blocked:
        first = by_thread.get(first.blocker, first)
    waits: list[BlockedThread] = []
    blocked_thread: BlockedThread | None = first
    while blocked_thread is not None and blocked_thread not in waits:
        waits.append(blocked_thread)
        blocked_thread = by_thread.get(blocked_thread.blocker)
    sentences = [_wait_text(programs, blocked_thread) for blocked_thread in waits]
    if blocked_thread is None:
        sentences.append(f"{_thread_name(programs, waits[-1].blocker)} ends before that")
    return "; ".join(sentences)


def _wait_text(programs: list[ThreadProgram], blocked: BlockedThread) -> str:
    """Return what a thread waits for."""
    waits = f"{_thread_name(programs, blocked.thread)} waits at the {label(blocked.instruction.op)}"
    blocker, side = _thread_name(programs, blocked.blocker), blocked.instruction.side
    if side is None or blocked.pipeline_index is None:
        return f"{waits} for {blocker}"
    index = blocked.pipeline_index.constant
    which = "a later index" if index is None else f"index {index}"
    if side.side is Side.PRODUCER:
        which = f"the stage of {which}"
    arrives = side.side.other.arrives
    return f"{waits} for {which} of the {label(side.pipeline)}, which {blocker} {arrives} later"


def _thread_name(programs: list[ThreadProgram], thread: int) -> str:
    partition, warpgroup, _ = programs[thread]
    warpgroup_prefix = "" if warpgroup is None else f"warpgroup {warpgroup} of "
    return f"{warpgroup_prefix}the {label(partition.op)}"
