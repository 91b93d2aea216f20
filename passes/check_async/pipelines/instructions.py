"""What a partition does with pipelines: its waits, arrivals, branches and loops, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from ....bindings.irtypes import Op, Value
from ....dialect.ops import OrderArriveOp, OrderWaitOp, ReduceOp, WarpgroupBarrierOp
from ....ir.barriers import is_cluster_barrier
from ....ir.walk import walk
from ..assumptions import ASSUME
from .ops import Ops
from .partition import Partition
from .pipeline_sides import ARRIVES, WAITS, PipelineSide, pipeline_side_of


class Kind(Enum):
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

    WAIT, ARRIVE, USE, TURN, TURNED, MEET, MEET_ALL, ENTER, LOOP, NEXT, BRANCH, JUMP, ASSUME = (
        range(13)
    )

    # Enum hashes names, in Python.
    __hash__ = object.__hash__


class Instruction(NamedTuple):
    """An instruction.

    Attributes:
        op: the op; of ENTER, LOOP and NEXT the loop, of BRANCH and JUMP the branch.
        loops: the loops around it, from the outside in; of a loop's own, with it.
        side: the pipeline side of a wait or arrival.
        target: where it goes.
        indices: the pipeline indices of the stages that it uses.
    """

    kind: Kind
    op: Op
    loops: tuple[Op, ...]
    side: PipelineSide | None = None
    target: int = 0
    indices: tuple[Value, ...] = ()


class Code(NamedTuple):
    """What a thread of execution does.

    Attributes:
        partition: the partition whose threads they are.
        warpgroup: the number of one of its warpgroups; None for all, which do the same.
        instructions: what they do.
    """

    partition: Partition
    warpgroup: int | None
    instructions: list[Instruction]


class Instructions:
    """Finds the instructions of ops.

    Args:
        ops: facts about the ops.
    """

    def __init__(self, ops: Ops) -> None:
        self._ops = ops
        self._has: dict[Op, bool] = {}

    def of(self, ops: list[Op]) -> list[Instruction]:
        """Return the instructions of some ops, those of a partition for example."""
        code: list[Instruction] = []
        self._append(code, ops, ())
        return code

    def _append(self, code: list[Instruction], ops: list[Op], loops: tuple[Op, ...]) -> None:
        for op in ops:
            if not len(op.regions):
                self._append_single(code, op, loops)
            elif not self._has_any(op):
                continue
            elif op.name == "scf.for":
                inner = (*loops, op.operation)
                code.append(Instruction(Kind.ENTER, op, inner))
                head = len(code)
                code.append(Instruction(Kind.LOOP, op, inner))
                self._append(code, self._ops.within(op), inner)
                code.append(Instruction(Kind.NEXT, op, inner, target=head))
                code[head] = code[head]._replace(target=len(code))
            elif op.name == "scf.if":
                self._append_branch(code, op, loops)
            else:
                for body in self._bodies(op):
                    self._append(code, body, loops)

    def _append_single(self, code: list[Instruction], op: Op, loops: tuple[Op, ...]) -> None:
        kind = _kind_of(op)
        if kind is not None:
            side = pipeline_side_of(op) if kind in (Kind.WAIT, Kind.ARRIVE) else None
            code.append(Instruction(kind, op, loops, side))
        elif indices := self._ops.stage_indices(op):
            code.append(Instruction(Kind.USE, op, loops, indices=indices))

    def _append_branch(self, code: list[Instruction], op: Op, loops: tuple[Op, ...]) -> None:
        then, *otherwise = self._bodies(op)
        branch = len(code)
        code.append(Instruction(Kind.BRANCH, op, loops))
        self._append(code, then, loops)
        jump = len(code)
        code.append(Instruction(Kind.JUMP, op, loops))
        code[branch] = code[branch]._replace(target=len(code))
        for body in otherwise:
            self._append(code, body, loops)
        code[jump] = code[jump]._replace(target=len(code))

    def _bodies(self, op: Op) -> Iterator[list[Op]]:
        return (self._ops.of(region.blocks[0]) for region in op.regions if len(region.blocks))

    def _has_any(self, op: Op) -> bool:
        """Whether an op holds instructions."""
        if op not in self._has:
            inner = (x.opview for x in walk(op) if not len(x.operation.regions))
            self._has[op] = any(_kind_of(x) or self._ops.stage_indices(x) for x in inner)
        return self._has[op]


def _kind_of(op: Op) -> Kind | None:
    """Return the kind of an op without regions; None if it neither waits nor arrives."""
    if isinstance(op, WAITS):
        return Kind.WAIT
    if isinstance(op, ARRIVES):
        return Kind.ARRIVE
    if isinstance(op, OrderWaitOp):
        return Kind.TURN
    if isinstance(op, OrderArriveOp):
        return Kind.TURNED
    if isinstance(op, (ReduceOp, WarpgroupBarrierOp)) and op.warpgroups > 1:
        return Kind.MEET
    if op.name == ASSUME:
        return Kind.ASSUME
    return Kind.MEET_ALL if is_cluster_barrier(op.operation) else None
