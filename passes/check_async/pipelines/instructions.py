"""The instructions of each thread of execution: waits, arrivals, branches and loops, one after the
other.

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
    - TURN, TURNED: a turn of a warpgroup (`smem.order_wait`) begins, and is over.
    - MEET, MEET_ALL: it waits for the other warpgroups of the partition, or for all of the cluster.
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
        loops: the loops around it, from the outside in; of a loop's own, with it.
        side: the pipeline side of a wait or arrival.
        target: where it goes.
        indices: the pipeline indices of the stages that it uses.
    """

    kind: Opcode
    op: Op
    loops: tuple[Op, ...]
    side: PipelineSide | None = None
    target: int = 0
    indices: tuple[Value, ...] = ()


class ThreadProgram(NamedTuple):
    """What a thread of execution does.

    Attributes:
        partition: the partition whose threads they are.
        warpgroup: the number of one of its warpgroups; None for all, which do the same.
        instructions: what they do.
    """

    partition: Partition
    warpgroup: int | None
    instructions: list[PipelineInstruction]


class RoundRobin(NamedTuple):
    """How the warpgroups of a partition take the indices of a pipeline in turn.

    Attributes:
        chunk: how many consecutive indices a warpgroup takes in a turn.
        others: how many the other warpgroups take between two of its turns.
    """

    chunk: int
    others: int


#: Where warpgroups take indices in turn.
RoundRobins = dict[tuple[Partition, PipelineSide], RoundRobin]


class InstructionBuilder:
    """Finds the instructions of ops.

    Args:
        ops: facts about the ops.
    """

    def __init__(self, ops: OpTable) -> None:
        self._ops = ops
        self._has: dict[Op, bool] = {}

    def build(self, ops: list[Op]) -> list[PipelineInstruction]:
        """Return the instructions of some ops, those of a partition for example."""
        code: list[PipelineInstruction] = []
        self._append(code, ops, ())
        return code

    def _append(
        self, code: list[PipelineInstruction], ops: list[Op], loops: tuple[Op, ...]
    ) -> None:
        for op in ops:
            if not len(op.regions):
                self._append_single(code, op, loops)
            elif not self._has_any(op):
                continue
            elif op.name == "scf.for":
                inner = (*loops, op.operation)
                code.append(PipelineInstruction(Opcode.ENTER, op, inner))
                head = len(code)
                code.append(PipelineInstruction(Opcode.LOOP, op, inner))
                self._append(code, self._ops.body(op), inner)
                code.append(PipelineInstruction(Opcode.NEXT, op, inner, target=head))
                code[head] = code[head]._replace(target=len(code))
            elif op.name == "scf.if":
                self._append_branch(code, op, loops)
            else:
                for body in self._bodies(op):
                    self._append(code, body, loops)

    def _append_single(
        self, code: list[PipelineInstruction], op: Op, loops: tuple[Op, ...]
    ) -> None:
        kind = _kind_of(op)
        if kind is not None:
            side = pipeline_side_of(op) if kind in (Opcode.WAIT, Opcode.ARRIVE) else None
            code.append(PipelineInstruction(kind, op, loops, side))
        elif indices := self._ops.stage_indices(op):
            code.append(PipelineInstruction(Opcode.USE, op, loops, indices=indices))

    def _append_branch(
        self, code: list[PipelineInstruction], op: Op, loops: tuple[Op, ...]
    ) -> None:
        then, *otherwise = self._bodies(op)
        branch = len(code)
        code.append(PipelineInstruction(Opcode.BRANCH, op, loops))
        self._append(code, then, loops)
        jump = len(code)
        code.append(PipelineInstruction(Opcode.JUMP, op, loops))
        code[branch] = code[branch]._replace(target=len(code))
        for body in otherwise:
            self._append(code, body, loops)
        code[jump] = code[jump]._replace(target=len(code))

    def _bodies(self, op: Op) -> Iterator[list[Op]]:
        return (self._ops.ops_in(region.blocks[0]) for region in op.regions if len(region.blocks))

    def _has_any(self, op: Op) -> bool:
        """Whether an op holds instructions."""
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


def codes_of(
    bodies: Iterable[tuple[Partition, list[Op]]], ops: OpTable, values: SymbolicValues
) -> tuple[list[ThreadProgram], RoundRobins]:
    """Return what the threads of execution do, and where warpgroups take indices in turn.

    Args:
        bodies: the ops of each partition.
        ops: facts about ops.
        values: the integers of the function.
    """
    instructions, codes, turns = InstructionBuilder(ops), [], {}
    for partition, body in bodies:
        code = ThreadProgram(partition, None, instructions.build(body))
        own = {(partition, side): each for side, each in _turns_of(code, values).items()}
        turns |= own
        alone = not own and not any(x.kind is Opcode.ORDER_WAIT for x in code.instructions)
        numbers = [None] if alone else range(partition.warpgroups or 1)
        codes += [code._replace(warpgroup=number) for number in numbers]
    return codes, turns


def _turns_of(code: ThreadProgram, values: SymbolicValues) -> dict[PipelineSide, RoundRobin]:
    """Return the pipeline sides whose indices the warpgroups of a partition take in turn: the first index
    of each is a multiple of its number."""
    symbol, turns = code.partition.symbol, {}
    if symbol is None:
        return {}
    first = {}
    for instruction in code.instructions:
        if instruction.kind is Opcode.WAIT:
            first.setdefault(instruction.side, values.polynomial(instruction.op.index))
    for side, index in first.items():
        split = index.split(symbol)
        if side.side is Side.CONSUMER and split is not None and split[0] > 0:
            chunk = split[0]
            turns[side] = RoundRobin(chunk, ((code.partition.warpgroups or 1) - 1) * chunk)
    return turns
