"""Turns of the warpgroups of a partition, by named barriers."""

from ..dialect.bindings import ir, nvvm
from ..dialect.irtypes import Module, Op
from ..dialect.ops import OrderArriveOp, OrderWaitOp, PartitionOp
from ..ir import emit
from ..ir.errors import OpError
from ..ir.i32 import I32
from ..ir.kernel import ancestors_of, functions_of, required_block_size
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
        first_of = order_barriers(function)
        for partition, first in first_of.items():
            _check(partition, first)
            with ir.InsertionPoint.at_block_begin(partition.regions[0].blocks[0]):
                _begin(partition, first)
        for op in walk(function, OrderWaitOp, OrderArriveOp):
            partition = _partition(op)
            if partition.operation in first_of:
                with ir.InsertionPoint(op), op.location:
                    place = _place(partition)
                    first, count = first_of[partition.operation], partition.warpgroups.value
                    if isinstance(op, OrderWaitOp):
                        _wait(place + first)
                    else:
                        _arrive((place + 1) % count + first)
            op.operation.erase()


def _check(partition: Op, first: int) -> None:
    if first < FIRST_BARRIER:
        raise OpError(
            next(walk(partition, OrderWaitOp)),
            f"needs a barrier for each warpgroup of partitions that take turns, {BARRIERS - first} in "
            f"all; a CTA has {BARRIERS - FIRST_BARRIER} beside those of all threads and of each "
            "warpgroup",
        )


def _begin(partition: Op, first: int) -> None:
    """Emit the arrival by which the first warpgroup's turn begins."""
    with partition.location:
        last = partition.opview.warpgroups.value - 1
        is_last = emit.compare("eq", _place(partition.opview).value, last)
        branch = emit.op("scf.if", (is_last,), regions=2)
        with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
            _arrive(I32(emit.constant(first, emit.i32())))
            emit.op("scf.yield")


def _partition(op: Op) -> PartitionOp:
    return next(each.opview for each in ancestors_of(op) if isinstance(each.opview, PartitionOp))


def _place(partition: PartitionOp) -> I32:
    """Emit the index of the warpgroup in its partition."""
    before = 0
    for each in partition.operation.parent.opview.partitions:
        if each.operation == partition.operation:
            break
        before += each.warpgroups.value
    warpgroup = I32(linear_thread(required_block_size(partition))) // WARPGROUP
    return warpgroup - before if before else warpgroup


def _wait(number: I32) -> None:
    nvvm.BarrierOp(barrierId=number.value, numberOfThreads=emit.constant(_THREADS, emit.i32()))


def _arrive(number: I32) -> None:
    nvvm.BarrierArriveOp(emit.constant(_THREADS, emit.i32()), barrierId=number.value)
