"""`smem.create_pipeline`: full and empty mbarriers of stages, and the ops of producers and consumers."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ext, ir
from ..arguments import Index, Pipeline
from ..build import as_index, create
from ..builder import builder
from ..effects import Completion, Effects, Scope
from ..op import SmemOp
from ..types import PipelineType
from ..verifier import verifier
from .memory import check_offset, offset_of

#: Warps of a warpgroup; each arrives once when the warpgroup releases a stage.
WARPS = 4

#: Bytes of an mbarrier (PTX ISA 9.7.13.15.1).
MBARRIER_BYTES = 8

#: Maximum arrival count of an mbarrier (PTX ISA 9.7.13.15.2).
_MAX_COUNT = (1 << 20) - 1


class CreatePipelineOp(SmemOp, name="create_pipeline"):
    """Creates a pipeline: a full mbarrier and an empty mbarrier for each of `stages` stages. All threads
    of the CTA execute the op, at the top of the kernel.

    The pipeline index counts iterations: 0, 1, 2, ... Its stage is index % stages, and its phase follows
    from index / stages. A producer waits with `smem.producer_acquire` until the stage is empty, fills
    it, and commits it with `smem.producer_commit`. The stage is full when `producers` threads have
    committed it and all bytes of their `smem.tma_load` have arrived. A consumer waits for that with
    `smem.consumer_wait`, and releases the stage with `smem.consumer_release`. The stage is empty when
    `consumers` warpgroups have released it; in a cluster whose CTAs share loads of this pipeline
    (`multicast`), when the warpgroups of all these CTAs have.

    `smem-allocate` adds the attribute `offset`: bytes from the start of dynamic shared memory to the
    mbarriers.
    """

    stages: ir.IntegerAttr
    producers: ir.IntegerAttr
    consumers: ir.IntegerAttr
    pipeline: ext.Result[PipelineType]

    i32 = ("stages", "producers", "consumers")
    i64 = ("offset",)
    effects = Effects(Scope.CTA, barrier=Scope.CTA, allocates=True)

    offset = property(offset_of)

    @verifier
    def verify_region_invariants(self) -> None:
        for name in ("stages", "producers", "consumers"):
            number = getattr(self, name).value
            if number < 1:
                raise Invalid(f"has {name} = {number}; expected 1 or more")
        count = max(self.producers.value, WARPS * self.consumers.value)
        if count > _MAX_COUNT:
            raise Invalid(f"counts {count} arrivals; an mbarrier counts up to {_MAX_COUNT}")
        check_offset(self, MBARRIER_BYTES, self.shared_bytes)

    @property
    def shared_bytes(self) -> int:
        """The bytes of the mbarriers."""
        return 2 * MBARRIER_BYTES * self.stages.value


class ProducerAcquireOp(SmemOp, name="producer_acquire"):
    """Waits until the stage of the pipeline index `index` is empty, and returns the number of the stage.
    Each thread that executes the op waits.

    The stages are empty at first: the op does not wait for indices below `stages`.
    """

    pipeline: ext.Operand[PipelineType]
    index: ext.Operand[ir.IndexType]
    stage: ext.Result[ir.IndexType]

    effects = Effects(awaits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


class ProducerCommitOp(SmemOp, name="producer_commit"):
    """Commits the stage of the pipeline index `index`: the thread arrives on the full mbarrier. It has
    filled its part of the stage, or started the loads that fill it.

    If the thread has written the stage by ordinary stores and an mma reads it, an `smem.fence` is needed
    before.
    """

    pipeline: ext.Operand[PipelineType]
    index: ext.Operand[ir.IndexType]

    effects = Effects(commits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


class ConsumerWaitOp(SmemOp, name="consumer_wait"):
    """Waits until the stage of the pipeline index `index` is full, and returns the number of the stage.
    Each thread that executes the op waits."""

    pipeline: ext.Operand[PipelineType]
    index: ext.Operand[ir.IndexType]
    stage: ext.Result[ir.IndexType]

    effects = Effects(awaits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


class ConsumerReleaseOp(SmemOp, name="consumer_release"):
    """Releases the stage of the pipeline index `index`: the warpgroup arrives on the empty mbarrier. All
    threads of the warpgroup execute the op.

    The mma that read the stage must be complete, so an `smem.wait` is needed before. If threads have read
    the stage by ordinary loads, an `smem.fence` is needed too.
    """

    pipeline: ext.Operand[PipelineType]
    index: ext.Operand[ir.IndexType]

    effects = Effects(Scope.WARPGROUP, commits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


def pipeline_of(op: Op) -> CreatePipelineOp:
    """Return the `smem.create_pipeline` of an op's pipeline operand.

    Raises:
        Invalid: if the operand is not the result of an `smem.create_pipeline`.
    """
    owner = op.pipeline.owner
    if isinstance(owner, ir.Block) or owner.name != CreatePipelineOp.OPERATION_NAME:
        raise Invalid(
            "takes a pipeline that is not the result of an smem.create_pipeline; use that result directly"
        )
    return owner.opview


@builder
def create_pipeline(stages: int, producers: int = 1, consumers: int = 1) -> Value:
    """Build an `smem.create_pipeline`, and return the pipeline.

    Args:
        stages: the number of stages.
        producers: the number of threads that commit a stage.
        consumers: the number of warpgroups that release a stage.

    Example:
        >>> pipeline = smem.create_pipeline(stages=4, producers=1, consumers=2)
        >>> print(pipeline.type)
        !smem.pipeline
    """
    result = PipelineType.get()
    return create(
        CreatePipelineOp, results=[result], stages=stages, producers=producers, consumers=consumers
    ).result


@builder
def producer_acquire(pipeline: Pipeline, index: Index) -> Value:
    """Build an `smem.producer_acquire` for the pipeline index `index`, and return the number of its
    stage.

    Example:
        >>> pipeline = smem.create_pipeline(stages=4)
        >>> tile = smem.stage(stages, smem.producer_acquire(pipeline, 0))
        >>> print(tile.type)
        !smem.tile<tensor<64x64xbf16>, #smem.auto>
    """
    return create(ProducerAcquireOp, [pipeline, as_index(index)], [ir.IndexType.get()]).result


@builder
def producer_commit(pipeline: Pipeline, index: Index) -> None:
    """Build an `smem.producer_commit` for the pipeline index `index`.

    Example:
        >>> pipeline = smem.create_pipeline(stages=4)
        >>> tile = smem.stage(stages, smem.producer_acquire(pipeline, 0))
        >>> smem.tma_load(A, tile, pipeline, 0, (0, 0))
        >>> smem.producer_commit(pipeline, 0)
    """
    create(ProducerCommitOp, [pipeline, as_index(index)])


@builder
def consumer_wait(pipeline: Pipeline, index: Index) -> Value:
    """Build an `smem.consumer_wait` for a pipeline index, and return the number of its stage.

    Example:
        >>> pipeline = smem.create_pipeline(stages=4)
        >>> tile = smem.stage(stages, smem.consumer_wait(pipeline, 0))
        >>> print(tile.type)
        !smem.tile<tensor<64x64xbf16>, #smem.auto>
    """
    return create(ConsumerWaitOp, [pipeline, as_index(index)], [ir.IndexType.get()]).result


@builder
def consumer_release(pipeline: Pipeline, index: Index) -> None:
    """Build an `smem.consumer_release` for the pipeline index `index`.

    Example:
        >>> pipeline = smem.create_pipeline(stages=4)
        >>> tile = smem.stage(stages, smem.consumer_wait(pipeline, 0))
        >>> d = smem.wait(smem.mma(tile, b))
        >>> smem.consumer_release(pipeline, 0)
    """
    create(ConsumerReleaseOp, [pipeline, as_index(index)])
