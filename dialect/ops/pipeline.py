"""`smem.create_pipeline`: full and empty barriers of a tile's stages, and what producers and consumers do."""

from typing import Any

from ..arguments import Index, Pipeline
from ..bindings import ext, ir
from ..build import create, index
from ..builder import builder
from ..diagnostics import Invalid, verifier
from ..effects import Completion, Effects, Scope
from ..op import SmemOp
from ..types import PipelineType
from .memory import check_offset, offset_of

#: Warps of a warpgroup, each of which arrives once when the warpgroup releases a stage.
WARPS = 4

#: Bytes of an mbarrier (PTX ISA 9.7.13.15.1).
MBARRIER_BYTES = 8

#: Arrivals that an mbarrier can count (PTX ISA 9.7.13.15.2).
_MAX_COUNT = (1 << 20) - 1


class CreatePipelineOp(SmemOp, name="create_pipeline"):
    """Makes two mbarriers for each of `stages` stages: one that says that the stage is full, one that
    says that it is empty. All threads of the block execute it, at the top of the kernel.

    Step 0, 1, 2, ... of the work uses stage step % stages; which phase of the mbarriers that is follows
    from the step. A producer waits with `smem.producer_acquire` until the stage of its step is empty,
    fills it, and says so by `smem.producer_commit`; the stage is full when `producers` threads have and
    all bytes of their `smem.tma_load` have come. A consumer waits for that by `smem.consumer_wait` and
    gives the stage back by `smem.consumer_release`; it is empty again when `consumers` warpgroups have.
    In a cluster whose blocks share loads of this pipeline, it is empty when those of all of these blocks
    have.

    `smem-allocate` adds `offset`, the bytes from the start of dynamic shared memory to the mbarriers.
    """

    stages: ir.IntegerAttr
    producers: ir.IntegerAttr
    consumers: ir.IntegerAttr
    pipeline: ext.Result[PipelineType]

    i32 = ("stages", "producers", "consumers")
    i64 = ("offset",)
    effects = Effects(Scope.BLOCK, barrier=Scope.BLOCK, allocates=True)

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
        """Bytes of shared memory that the mbarriers take."""
        return 2 * MBARRIER_BYTES * self.stages.value


class ProducerAcquireOp(SmemOp, name="producer_acquire"):
    """Waits until the stage of a step is empty, and gives its index. Each thread that executes it waits.

    The first `stages` steps find their stages empty.
    """

    pipeline: ext.Operand[PipelineType]
    step: ext.Operand[ir.IndexType]
    stage: ext.Result[ir.IndexType]

    effects = Effects(awaits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


class ProducerCommitOp(SmemOp, name="producer_commit"):
    """Says that this thread has filled its part of a step's stage, or started the loads that do.

    What a thread has written itself needs an `smem.fence` before, if an mma is to read it.
    """

    pipeline: ext.Operand[PipelineType]
    step: ext.Operand[ir.IndexType]

    effects = Effects(commits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


class ConsumerWaitOp(SmemOp, name="consumer_wait"):
    """Waits until the stage of a step is full, and gives its index. Each thread that executes it
    waits."""

    pipeline: ext.Operand[PipelineType]
    step: ext.Operand[ir.IndexType]
    stage: ext.Result[ir.IndexType]

    effects = Effects(awaits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


class ConsumerReleaseOp(SmemOp, name="consumer_release"):
    """Says that this warpgroup has read a step's stage. All of its threads execute it.

    The mma that read the stage must be finished: an `smem.wait` comes before. So does an `smem.fence`, if
    threads have read the stage by loads of their own.
    """

    pipeline: ext.Operand[PipelineType]
    step: ext.Operand[ir.IndexType]

    effects = Effects(Scope.WARPGROUP, commits=Completion.MBARRIER)

    @verifier
    def verify_region_invariants(self) -> None:
        pipeline_of(self)


def pipeline_of(op: Any) -> Any:
    """The `smem.create_pipeline` whose pipeline an op takes.

    Raises:
        Invalid: if the operand is no `smem.create_pipeline`'s result.
    """
    owner = op.pipeline.owner
    if isinstance(owner, ir.Block) or owner.name != CreatePipelineOp.OPERATION_NAME:
        raise Invalid(
            "takes a pipeline that does not come from an smem.create_pipeline; use the pipeline where it is made"
        )
    return owner.opview


@builder
def create_pipeline(stages: int, producers: int = 1, consumers: int = 1) -> Any:
    """A new pipeline.

    Args:
        stages: how many stages it has.
        producers: threads that commit a stage.
        consumers: warpgroups that release it.
    """
    result = PipelineType.get()
    return create(
        CreatePipelineOp, results=[result], stages=stages, producers=producers, consumers=consumers
    ).result


@builder
def producer_acquire(pipeline: Pipeline, step: Index) -> Any:
    """Waits until the stage of a step is empty; gives its index."""
    return create(ProducerAcquireOp, [pipeline, index(step)], [ir.IndexType.get()]).result


@builder
def producer_commit(pipeline: Pipeline, step: Index) -> None:
    """Says that this thread has filled its part of a step's stage."""
    create(ProducerCommitOp, [pipeline, index(step)])


@builder
def consumer_wait(pipeline: Pipeline, step: Index) -> Any:
    """Waits until the stage of a step is full; gives its index."""
    return create(ConsumerWaitOp, [pipeline, index(step)], [ir.IndexType.get()]).result


@builder
def consumer_release(pipeline: Pipeline, step: Index) -> None:
    """Says that this warpgroup has read a step's stage."""
    create(ConsumerReleaseOp, [pipeline, index(step)])
