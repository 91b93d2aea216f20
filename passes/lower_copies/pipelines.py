"""Pipelines: a full and an empty mbarrier for each stage."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreatePipelineOp,
    ProducerAcquireOp,
    ProducerCommitOp,
)
from ...dialect.ops.pipeline import MBARRIER_BYTES, WARPS, pipeline_of
from ...ir import emit
from ...ir.cluster import cluster_barrier, peers_of, wait_at_end
from ...ir.errors import OpError
from ...ir.i32 import I32
from ...ir.kernel import function_of, required_block_size
from ...ir.mbarriers import wait_for_phase
from ...ir.shared_memory import allocation_pointer, gep
from ...ir.threads import linear_thread
from ...layout.transfer import WARP
from .lowerings import LOWERINGS


class PipelineStep:
    """The mbarriers of the stage that a step of the work uses."""

    def __init__(self, pipeline: Any, step: Any) -> None:
        """`step` is an index value."""
        self.pipeline = pipeline
        self._stages = pipeline.stages.value
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
        base = allocation_pointer(self.pipeline, first * MBARRIER_BYTES)
        return gep(base, (self.stage * MBARRIER_BYTES).value)


@LOWERINGS.of(CreatePipelineOp)
def lower_pipeline(pipeline: Any, _: Any) -> None:
    """Emits the initialisation of a pipeline's mbarriers, and that all who use them wait for it.

    Raises:
        OpError: if not all threads of the block execute the op.
    """
    function = function_of(pipeline)
    if pipeline.operation.block != function.regions[0].blocks[0]:
        raise OpError(
            pipeline, "is not at the top of the kernel, where all threads execute it once"
        )
    peers = peers_of(pipeline)
    stages = pipeline.stages.value
    arrivals = [pipeline.producers.value] * stages
    arrivals += [WARPS * pipeline.consumers.value * peers.count] * stages
    base = allocation_pointer(pipeline)
    thread = linear_thread(required_block_size(pipeline))
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
    peers = peers_of(step.pipeline)
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


def _step_of(op: Any) -> PipelineStep:
    return PipelineStep(pipeline_of(op), op.step)
