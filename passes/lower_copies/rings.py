"""Rings: a full and an empty mbarrier for each stage."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    RingOp,
)
from ...dialect.ops.ring import MBARRIER_BYTES, WARPS, ring_of
from ...ir import emit
from ...ir.cluster import cluster_barrier, peers_of, wait_at_end
from ...ir.errors import OpError
from ...ir.i32 import I32
from ...ir.kernel import function_of, required_block_size
from ...ir.mbarriers import wait_for_phase
from ...ir.shared_memory import gep, root_pointer
from ...ir.threads import linear_thread
from ...layout.transfer import WARP
from .lowerings import LOWERINGS


class RingStep:
    """The mbarriers of the stage that a step of the work uses."""

    def __init__(self, ring: Any, step: Any) -> None:
        """`step` is an index value."""
        self.ring = ring
        self._stages = ring.stages.value
        self._step = I32(emit.cast_index(step, emit.i32()))
        #: The stage (i32).
        self.stage = self._step % self._stages

    def full(self) -> Any:
        """The pointer to the mbarrier that says that the stage is full."""
        return self._mbarrier(0)

    def empty(self) -> Any:
        """The pointer to the mbarrier that says that the stage is empty."""
        return self._mbarrier(self._stages)

    def parity(self) -> I32:
        """The parity of the phase that ends when the stage is full for this step."""
        return self._step // self._stages & 1

    def stage_index(self) -> Any:
        """The stage as an index value."""
        return emit.value("arith.index_castui", (self.stage.value,), ir.IndexType.get())

    def _mbarrier(self, first: int) -> Any:
        base = root_pointer(self.ring, first * MBARRIER_BYTES)
        return gep(base, (self.stage * MBARRIER_BYTES).value)


@LOWERINGS.of(RingOp)
def lower_ring(ring: Any, _: Any) -> None:
    """Emits the initialisation of a ring's mbarriers, and that all who use them wait for it.

    Raises:
        OpError: if not all threads of the block execute the op.
    """
    function = function_of(ring)
    if ring.operation.block != function.regions[0].blocks[0]:
        raise OpError(ring, "is not at the top of the kernel, where all threads execute it once")
    peers = peers_of(ring)
    stages = ring.stages.value
    arrivals = [ring.producers.value] * stages
    arrivals += [WARPS * ring.consumers.value * peers.count] * stages
    base = root_pointer(ring)
    thread = linear_thread(required_block_size(ring))
    with emit.guarded(emit.compare("eq", thread, 0)):
        for position, count in enumerate(arrivals):
            pointer = gep(base, position * MBARRIER_BYTES)
            emit.op("nvvm.mbarrier.init", (pointer, emit.constant(count, emit.i32())))
        emit.op("nvvm.fence.mbarrier.init")
    if peers.count > 1:
        cluster_barrier()
        wait_at_end(function)
    else:
        emit.op("gpu.barrier")


@LOWERINGS.of(ProducerAcquireOp)
def lower_acquire(op: Any, _: Any) -> None:
    """Emits the wait of a producer for an empty stage."""
    step = _step_of(op)
    # Before its first use an mbarrier is in phase 0: the phase before it, odd, is over.
    wait_for_phase(step.empty(), (step.parity() ^ 1).value)
    op.stage.replace_all_uses_with(step.stage_index())


@LOWERINGS.of(ConsumerWaitOp)
def lower_wait(op: Any, _: Any) -> None:
    """Emits the wait of a consumer for a full stage."""
    step = _step_of(op)
    wait_for_phase(step.full(), step.parity().value)
    op.stage.replace_all_uses_with(step.stage_index())


@LOWERINGS.of(ProducerCommitOp)
def lower_commit(op: Any, _: Any) -> None:
    """Emits the arrival of a producer that has filled a stage."""
    emit.op("nvvm.mbarrier.arrive", (_step_of(op).full(),))


@LOWERINGS.of(ConsumerReleaseOp)
def lower_release(op: Any, _: Any) -> None:
    """Emits the arrivals of a warpgroup that has read a stage.

    A thread of each warp arrives, for its whole warp, at the block's own mbarrier; of blocks that share
    loads, one thread for each of them at theirs.
    """
    step = _step_of(op)
    lane = I32(linear_thread(required_block_size(op))) % WARP
    peers = peers_of(step.ring)
    emit.op("nvvm.bar.warp.sync", (emit.constant(-1, emit.i32()),))
    empty = step.empty()
    with emit.guarded(emit.compare("ult", lane.value, peers.count)):
        if peers.count == 1:
            emit.op("nvvm.mbarrier.arrive", (empty,))
        else:
            remote = emit.value("nvvm.mapa", (empty, peers.rank(lane).value), emit.pointer(7))
            # Of scope cta: a wider one would have every warp wait for a fence of all memory. What was
            # read is complete in registers, or by a wait for the mma, before the warp arrives.
            emit.op("nvvm.mbarrier.arrive", (remote,))


def _step_of(op: Any) -> RingStep:
    return RingStep(ring_of(op), op.step)
