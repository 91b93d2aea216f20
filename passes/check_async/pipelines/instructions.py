"""The instructions of each thread of execution: waits, arrivals, branches and loops, in order.

A thread of execution is a partition, or one of its warpgroups if these take indices round-robin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from ....bindings.irtypes import Op, Value
from ....dialect.ops import OrderArriveOp, OrderWaitOp, ReduceOp, WarpgroupBarrierOp
from ....ir.barriers import is_cluster_barrier
from ....ir.walk import walk
from ..assumptions import ASSUME
from ..values import SymbolicValues
from .ops import ARRIVES, WAITS, OpTable, PipelineSide, Side, pipeline_side_of
from .partition import Partition


class Opcode(Enum):
    """What an instruction does.

    - WAIT, ARRIVE: it waits or arrives on a side of a pipeline.
    - USE: it uses a stage of a pipeline.
    - ORDER_WAIT, ORDER_ARRIVE: an ordered turn of a warpgroup begins, and ends.
    - BARRIER, CLUSTER_BARRIER: it waits for the other warpgroups of the partition, or of the cluster.
    - ENTER: a loop begins. LOOP comes before each iteration, and goes to its target after the last one.
      NEXT goes back to it.
    - ASSUME: some condition holds.
    - BRANCH goes to its target if its condition does not hold, JUMP in any case.
    """

    (
        WAIT,
        ARRIVE,
        USE,
        ORDER_WAIT,
        ORDER_ARRIVE,
        BARRIER,
        CLUSTER_BARRIER,
        ENTER,
        LOOP,
        NEXT,
        BRANCH,
        JUMP,
        ASSUME,
    ) = range(13)

    # Enum hashes names, in Python.
    __hash__ = object.__hash__


class PipelineInstruction(NamedTuple):
    """An instruction.

    Attributes:
        op: the op; of ENTER, LOOP and NEXT the loop, of BRANCH and JUMP the branch.
        loops: the loops around it, from the outside in; of ENTER, LOOP and NEXT, with the loop itself.
        side: the pipeline side of a wait or arrival.
        target: the position to which it may go.
        indices: the pipeline indices of the stages that it uses.
    """

    kind: Opcode
    op: Op
    loops: tuple[Op, ...]
    side: PipelineSide | None = None
    target: int = 0
    indices: tuple[Value, ...] = ()


class ThreadProgram(NamedTuple):
    """The instructions of a thread of execution.

    Attributes:
        partition: its partition.
        warpgroup: the number of one warpgroup of it; None for all, which do the same.
    """

    partition: Partition
    warpgroup: int | None
    instructions: list[PipelineInstruction]


class RoundRobin(NamedTuple):
    """Warpgroups of a partition that take the indices of a pipeline round-robin.

    Attributes:
        chunk: how many consecutive indices a warpgroup takes in a round.
        others: how many the other warpgroups take in a round.
    """

    chunk: int
    others: int


#: Where warpgroups take indices round-robin.
RoundRobins = dict[tuple[Partition, PipelineSide], RoundRobin]


class InstructionBuilder:
    """Builds the instructions of ops.

    Args:
        ops: facts about the ops.
    """

    def __init__(self, ops: OpTable) -> None:
        self._ops = ops
        self._has: dict[Op, bool] = {}

    def build(self, ops: list[Op]) -> list[PipelineInstruction]:
        """Return the instructions of some ops, for example of a partition."""
        program: list[PipelineInstruction] = []
        self._append(program, ops, ())
        return program

    def _append(
        self, program: list[PipelineInstruction], ops: list[Op], loops: tuple[Op, ...]
    ) -> None:
        for op in ops:
            if not len(op.regions):
                self._append_single(program, op, loops)
            elif not self._has_any(op):
                continue
            elif op.name == "scf.for":
                inner = (*loops, op.operation)
                program.append(PipelineInstruction(Opcode.ENTER, op, inner))
                head = len(program)
                program.append(PipelineInstruction(Opcode.LOOP, op, inner))
                self._append(program, self._ops.body(op), inner)
                program.append(PipelineInstruction(Opcode.NEXT, op, inner, target=head))
                program[head] = program[head]._replace(target=len(program))
            elif op.name == "scf.if":
                self._append_branch(program, op, loops)
            else:
                for body in self._bodies(op):
                    self._append(program, body, loops)

    def _append_single(
        self, program: list[PipelineInstruction], op: Op, loops: tuple[Op, ...]
    ) -> None:
        kind = _kind_of(op)
        if kind is not None:
            side = pipeline_side_of(op) if kind in (Opcode.WAIT, Opcode.ARRIVE) else None
            program.append(PipelineInstruction(kind, op, loops, side))
        elif indices := self._ops.stage_indices(op):
            program.append(PipelineInstruction(Opcode.USE, op, loops, indices=indices))

    def _append_branch(
        self, program: list[PipelineInstruction], op: Op, loops: tuple[Op, ...]
    ) -> None:
        then, *otherwise = self._bodies(op)
        branch = len(program)
        program.append(PipelineInstruction(Opcode.BRANCH, op, loops))
        self._append(program, then, loops)
        jump = len(program)
        program.append(PipelineInstruction(Opcode.JUMP, op, loops))
        program[branch] = program[branch]._replace(target=len(program))
        for body in otherwise:
            self._append(program, body, loops)
        program[jump] = program[jump]._replace(target=len(program))

    def _bodies(self, op: Op) -> Iterator[list[Op]]:
        return (self._ops.ops_in(region.blocks[0]) for region in op.regions if len(region.blocks))

    def _has_any(self, op: Op) -> bool:
        """Whether an op in the regions of an op has an instruction."""
        if op not in self._has:
            inner = (x.opview for x in walk(op) if not len(x.operation.regions))
            self._has[op] = any(_kind_of(x) or self._ops.stage_indices(x) for x in inner)
        return self._has[op]


def _kind_of(op: Op) -> Opcode | None:
    """Return the kind of an op without regions; None if it neither waits nor arrives."""
    if isinstance(op, WAITS):
        return Opcode.WAIT
    if isinstance(op, ARRIVES):
        return Opcode.ARRIVE
    if isinstance(op, OrderWaitOp):
        return Opcode.ORDER_WAIT
    if isinstance(op, OrderArriveOp):
        return Opcode.ORDER_ARRIVE
    if isinstance(op, (ReduceOp, WarpgroupBarrierOp)) and op.warpgroups > 1:
        return Opcode.BARRIER
    if op.name == ASSUME:
        return Opcode.ASSUME
    return Opcode.CLUSTER_BARRIER if is_cluster_barrier(op.operation) else None


def thread_programs(
    bodies: Iterable[tuple[Partition, list[Op]]], ops: OpTable, values: SymbolicValues
) -> tuple[list[ThreadProgram], RoundRobins]:
    """Return the programs of the threads of execution, and where warpgroups take indices round-robin.

    Args:
        bodies: the ops of each partition.
        ops: facts about ops.
        values: the integers of the function.
    """
    instructions, programs, round_robins = InstructionBuilder(ops), [], {}
    for partition, body in bodies:
        program = ThreadProgram(partition, None, instructions.build(body))
        partition_round_robins = {
            (partition, side): round_robin
            for side, round_robin in _round_robins_of(program, values).items()
        }
        round_robins |= partition_round_robins
        is_single = not partition_round_robins and not any(
            x.kind is Opcode.ORDER_WAIT for x in program.instructions
        )
        numbers = [None] if is_single else range(partition.warpgroups or 1)
        programs += [program._replace(warpgroup=number) for number in numbers]
    return programs, round_robins


def _round_robins_of(
    program: ThreadProgram, values: SymbolicValues
) -> dict[PipelineSide, RoundRobin]:
    """Return the pipeline sides whose indices the warpgroups of a partition take round-robin: the first
    index of each warpgroup is a multiple of its number."""
    symbol, round_robins = program.partition.symbol, {}
    if symbol is None:
        return {}
    first = {}
    for instruction in program.instructions:
        if instruction.kind is Opcode.WAIT:
            first.setdefault(instruction.side, values.polynomial(instruction.op.index))
    for side, index in first.items():
        split = index.split(symbol)
        if side.side is Side.CONSUMER and split is not None and split[0] > 0:
            chunk = split[0]
            round_robins[side] = RoundRobin(
                chunk, ((program.partition.warpgroups or 1) - 1) * chunk
            )
    return round_robins
