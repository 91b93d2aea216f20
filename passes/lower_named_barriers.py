"""Barriers and turns of warpgroups, by named barriers."""

from ..bindings.irtypes import Op
from ..bindings.mlir import ir, nvvm
from ..dialect.ops import OrderArriveOp, OrderWaitOp, PartitionOp, WarpgroupBarrierOp
from ..ir import emit
from ..ir.errors import OpError
from ..ir.i32 import I32
from ..ir.kernel import required_block_size, warpgroups_of
from ..ir.named_barriers import (
    BARRIERS,
    FIRST_BARRIER,
    LastBarriers,
    groups_of,
    last_barriers,
)
from ..ir.threads import linear_thread
from ..ir.walk import walk
from ..layout.fragments import WARPGROUP

#: Two warpgroups meet at a barrier: the one that ends its turn, without waiting, and the next one.
_IN_TURN = 2 * WARPGROUP


def lower_named_barriers(function: Op) -> None:
    """Replace barriers of warpgroups, `smem.order_wait` and `smem.order_arrive` by named barriers.

    Each warpgroup that takes turns has a barrier, at which it waits and the one before it arrives. The
    last one arrives once at the begin, so that the first turn is that of the first one.

    Raises:
        OpError: if there are not enough barriers.
    """
    barriers = last_barriers(function)
    for op in list(walk(function, WarpgroupBarrierOp)):
        with ir.InsertionPoint(op), op.location:
            _wait(_number(op, barriers), op.warpgroups * WARPGROUP)
        op.operation.erase()
    for partition in list(walk(function, PartitionOp)):
        turns = list(walk(partition, OrderWaitOp, OrderArriveOp))
        if partition.operation in barriers.turns:
            _lower_turns(partition, turns, barriers.turns[partition.operation])
        for op in turns:
            op.operation.erase()


def _number(op: WarpgroupBarrierOp, barriers: LastBarriers) -> I32:
    """Return the number of the barrier of a thread's group of warpgroups.

    Raises:
        OpError: if there is none left.
    """
    warpgroup = I32(linear_thread(required_block_size(op))) // WARPGROUP
    if op.warpgroups == 1:
        return warpgroup + 1
    groups = groups_of(op)
    number = barriers.groups[groups]
    if number < FIRST_BARRIER:
        raise OpError(
            op,
            f"needs a barrier for each of {groups.groups} groups of {groups.warpgroups} warpgroups, with "
            f"those of others {BARRIERS - number} in all; a CTA has {BARRIERS - FIRST_BARRIER} beside "
            "those of all threads and of each warpgroup",
        )
    return (warpgroup - groups.first) // groups.warpgroups + number


def _lower_turns(partition: PartitionOp, turns: list[Op], first: int) -> None:
    """Emit the barriers of a partition.

    Args:
        partition: the partition.
        turns: the ops in it that begin and end turns.
        first: the barrier of its first warpgroup.
    """
    if first < FIRST_BARRIER:
        raise OpError(
            turns[0],
            f"needs a barrier for each warpgroup of partitions that take turns, {BARRIERS - first} in "
            f"all; a CTA has {BARRIERS - FIRST_BARRIER} beside those of all threads and of each "
            "warpgroup",
        )
    before, end = warpgroups_of(turns[0])
    size = required_block_size(turns[0])

    def place() -> I32:
        """Emit the index of the warpgroup in the partition."""
        warpgroup = I32(linear_thread(size)) // WARPGROUP
        return warpgroup - before if before else warpgroup

    with ir.InsertionPoint.at_block_begin(partition.regions[0].blocks[0]), partition.location:
        is_last = emit.compare("eq", place().value, end - before - 1)
        branch = emit.op("scf.if", (is_last,), regions=2)
        with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
            _arrive(I32(emit.constant(first, emit.i32())))
            emit.op("scf.yield")
    for op in turns:
        with ir.InsertionPoint(op), op.location:
            if isinstance(op, OrderWaitOp):
                _wait(place() + first, _IN_TURN)
            else:
                _arrive((place() + 1) % (end - before) + first)


def _wait(number: I32, count: int) -> None:
    threads = emit.constant(count, emit.i32())
    # The op's optional operands differ between versions of LLVM; the builder of the bindings knows them.
    nvvm.BarrierOp(barrierId=number.value, numberOfThreads=threads)


def _arrive(number: I32) -> None:
    nvvm.BarrierArriveOp(emit.constant(_IN_TURN, emit.i32()), barrierId=number.value)
