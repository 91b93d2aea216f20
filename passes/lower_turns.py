"""Turns of the warpgroups of a partition, by named barriers."""

from ..dialect.bindings import ir, nvvm
from ..dialect.irtypes import Module, Op
from ..dialect.ops import OrderArriveOp, OrderWaitOp, PartitionOp
from ..ir import emit
from ..ir.errors import OpError
from ..ir.i32 import I32
from ..ir.kernel import functions_of, required_block_size, warpgroups_of
from ..ir.order_barriers import BARRIERS, FIRST_BARRIER, order_barriers
from ..ir.threads import linear_thread
from ..ir.walk import walk
from ..layout.fragments import WARPGROUP

#: Two warpgroups meet at a barrier: the one that ends its turn, without waiting, and the next one.
_THREADS = 2 * WARPGROUP


def lower_turns(module: Module) -> None:
    """Replace `smem.order_wait` and `smem.order_arrive` by named barriers.

    Each warpgroup has a barrier, at which it waits and the one before it arrives. The last one arrives
    once at the begin, so that the first turn is that of the first one.

    Raises:
        OpError: if there are not enough barriers.
    """
    for function in functions_of(module):
        partitions = list(walk(function, PartitionOp))
        first_of = order_barriers(partitions)
        for partition in partitions:
            turns = list(walk(partition, OrderWaitOp, OrderArriveOp))
            if partition.operation in first_of:
                _lower(partition, turns, first_of[partition.operation])
            for op in turns:
                op.operation.erase()


def _lower(partition: PartitionOp, turns: list[Op], first: int) -> None:
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
                _wait(place() + first)
            else:
                _arrive((place() + 1) % (end - before) + first)


def _wait(number: I32) -> None:
    nvvm.BarrierOp(barrierId=number.value, numberOfThreads=emit.constant(_THREADS, emit.i32()))


def _arrive(number: I32) -> None:
    nvvm.BarrierArriveOp(emit.constant(_THREADS, emit.i32()), barrierId=number.value)
