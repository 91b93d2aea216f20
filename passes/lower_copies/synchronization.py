"""Pipelines and semaphores: mbarriers in shared memory, and atomic arrivals in global memory."""

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir, nvvm
from ...dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreatePipelineOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    SemaphoreArriveOp,
)
from ...dialect.ops.pipeline import MBARRIER_BYTES, WARPS, pipeline_of
from ...ir import emit
from ...ir.cluster import cluster_barrier, peers_of, wait_at_end
from ...ir.errors import OpError
from ...ir.i32 import I32
from ...ir.kernel import function_of, required_block_size
from ...ir.mbarriers import wait_for_phase
from ...ir.shared_memory import allocation_pointer, gep, memref_pointer, stride_value
from ...ir.threads import linear_thread
from ...layout.fragments import WARPGROUP
from ...layout.transfer import WARP
from .lowerings import LOWERINGS, TensorMaps


class PipelineState:
    """The stage and the phase of a pipeline index, and the mbarriers of the stage."""

    def __init__(self, pipeline: CreatePipelineOp, index: Value) -> None:
        """`index` is an index value: the number of stages used before."""
        self.pipeline = pipeline
        self._stages = pipeline.stages.value
        self._index = I32(emit.cast_index(index, emit.i32()))
        #: The stage (i32).
        self.stage = self._index % self._stages

    def full(self) -> Value:
        """Return the pointer to the full mbarrier of the stage."""
        return self._mbarrier(0)

    def empty(self) -> Value:
        """Return the pointer to the empty mbarrier of the stage."""
        return self._mbarrier(self._stages)

    def parity(self) -> I32:
        """Return the parity of the phase that completes when the stage is full at this index."""
        return self._index // self._stages & 1

    def stage_index(self) -> Value:
        """Return the stage as an index value."""
        return emit.value("arith.index_castui", (self.stage.value,), ir.IndexType.get())

    def _mbarrier(self, first: int) -> Value:
        base = allocation_pointer(self.pipeline, first * MBARRIER_BYTES)
        return gep(base, (self.stage * MBARRIER_BYTES).value)


@LOWERINGS.of(CreatePipelineOp)
def lower_pipeline(pipeline: CreatePipelineOp, _: TensorMaps) -> None:
    """Emit the initialisation of a pipeline's mbarriers, and a barrier of all threads that use them.

    Raises:
        OpError: if not all threads of the CTA execute the op.
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
    with emit.scf_if(emit.compare("eq", thread, 0)):
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
def lower_acquire(op: ProducerAcquireOp, _: TensorMaps) -> None:
    """Emit the wait of a producer for an empty stage."""
    state = _state_of(op)
    # Before its first use an mbarrier is in phase 0: the phase before it, which is odd, is complete.
    wait_for_phase(state.empty(), (state.parity() ^ 1).value)
    op.stage.replace_all_uses_with(state.stage_index())


@LOWERINGS.of(ConsumerWaitOp)
def lower_wait(op: ConsumerWaitOp, _: TensorMaps) -> None:
    """Emit the wait of a consumer for a full stage."""
    state = _state_of(op)
    wait_for_phase(state.full(), state.parity().value)
    op.stage.replace_all_uses_with(state.stage_index())


@LOWERINGS.of(ProducerCommitOp)
def lower_commit(op: ProducerCommitOp, _: TensorMaps) -> None:
    """Emit the arrival of a producer that has filled a stage."""
    emit.op("nvvm.mbarrier.arrive", (_state_of(op).full(),))


@LOWERINGS.of(ConsumerReleaseOp)
def lower_release(op: ConsumerReleaseOp, _: TensorMaps) -> None:
    """Emit the arrivals of a warpgroup that has read a stage.

    One thread of each warp arrives for its warp at the mbarrier of its CTA. If CTAs of a cluster share
    loads, one thread of each warp arrives at the mbarrier of each of these CTAs.
    """
    state = _state_of(op)
    lane = I32(linear_thread(required_block_size(op))) % WARP
    peers = peers_of(state.pipeline)
    emit.op("nvvm.bar.warp.sync", (emit.constant(-1, emit.i32()),))
    empty = state.empty()
    with emit.scf_if(emit.compare("ult", lane.value, peers.count)):
        if peers.count == 1:
            emit.op("nvvm.mbarrier.arrive", (empty,))
        else:
            remote = emit.value("nvvm.mapa", (empty, peers.rank(lane).value), emit.pointer(7))
            # The scope is cta: with a wider scope, every warp would wait for a fence of all memory. The
            # reads are complete before the warp arrives: in registers, or by a wait for the mma.
            emit.op("nvvm.mbarrier.arrive", (remote,))


def _state_of(op: Op) -> PipelineState:
    return PipelineState(pipeline_of(op), op.index)


#: The barrier that returns whether a predicate is true for any of its threads (PTX ISA 9.7.13.1). The
#: op of upstream takes no barrier other than 0. It is the form without `.aligned`, so LLVM may copy the
#: code around it.
_ANY_OF_WARPGROUP = f"barrier.cta.red.or.pred $0, $1, {WARPGROUP}, $2;"

#: An operation and two orderings of atomics (LLVM dialect, AtomicBinOp and AtomicOrdering).
_UINC_WRAP, _MONOTONIC, _ACQ_REL = 15, 2, 6


@LOWERINGS.of(SemaphoreArriveOp)
def lower_semaphore_arrive(op: SemaphoreArriveOp, _: TensorMaps) -> None:
    """Emit a barrier of the warpgroup, the atomic of its first thread, and the barrier that gives all
    threads the result.

    The order follows from PTX ISA 8.10 (causality order). The first barrier puts the writes of the
    warpgroup before the atomic, whose release is cumulative. The acquire of a later atomic of the same
    element puts them before the second barrier of that warpgroup, hence before what its threads do next.
    """
    i32, i1 = emit.i32(), ir.IntegerType.get_signless(1)
    thread = I32(linear_thread(required_block_size(op)))
    # The barrier of `smem.warpgroup_barrier`: both are executed by the same threads in their order.
    barrier = (thread // WARPGROUP + 1).value
    nvvm.BarrierOp(barrierId=barrier, numberOfThreads=emit.constant(WARPGROUP, i32))
    limit = emit.binary("subi", emit.cast_index(op.count, i32), 1)
    first = emit.compare("eq", (thread % WARPGROUP).value, 0)
    is_last = emit.scf_if_else(
        first,
        i1,
        lambda: emit.compare("eq", _increment(_pointer(op), limit), limit),
        lambda: emit.constant(0, i1),
    )
    last = emit.value(
        "llvm.inline_asm",
        (barrier, is_last),
        i1,
        asm_string=ir.StringAttr.get(_ANY_OF_WARPGROUP),
        constraints=ir.StringAttr.get("=b,r,b,~{memory}"),
        has_side_effects=ir.UnitAttr.get(),
    )
    op.last.replace_all_uses_with(last)


def _increment(semaphore: Value, limit: Value) -> Value:
    """Increment a semaphore, or set it to zero at the limit; return its value before.

    LLVM drops the ordering of this atomic (it becomes `atom.global.inc.u32`, which is relaxed), so
    fences before and after it make the release and acquire patterns (PTX ISA 8.8, 8.9).
    """
    gpu, i64 = ir.StringAttr.get("device"), emit.i64()
    acq_rel = ir.IntegerAttr.get(i64, _ACQ_REL)
    emit.op("llvm.fence", ordering=acq_rel, syncscope=gpu)
    before = emit.value(
        "llvm.atomicrmw",
        (semaphore, limit),
        limit.type,
        bin_op=ir.IntegerAttr.get(i64, _UINC_WRAP),
        ordering=ir.IntegerAttr.get(i64, _MONOTONIC),
        syncscope=gpu,
    )
    emit.op("llvm.fence", ordering=acq_rel, syncscope=gpu)
    return before


def _pointer(op: SemaphoreArriveOp) -> Value:
    i64 = emit.i64()
    element = emit.cast_index(op.index, i64)
    element = emit.binary("muli", element, stride_value(op.semaphores, 0, i64))
    return gep(memref_pointer(op.semaphores, 1), element, "i32")
