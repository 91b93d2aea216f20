"""Programs in program order: synchronized ones without what synchronizes them."""

from mlir_smem.bindings.irtypes import Op
from mlir_smem.dialect.ops import (
    CopyCommitOp,
    CopyWaitOp,
    FenceOp,
    TmaCommitOp,
    TmaWaitOp,
    WaitOp,
    WarpgroupBarrierOp,
)
from mlir_smem.dialect.types import FragmentType, is_accumulator, is_in_flight, with_state
from mlir_smem.ir.barriers import is_cta_barrier
from mlir_smem.ir.walk import walk
from mlir_smem.passes.insert_sync.insertion_points import outwards

#: What `smem-insert-sync` inserts, except for barriers of the CTA.
SYNC = (CopyCommitOp, CopyWaitOp, FenceOp, TmaCommitOp, TmaWaitOp, WaitOp, WarpgroupBarrierOp)


def is_sync(op: Op) -> bool:
    """Whether an op is one that `smem-insert-sync` can insert."""
    return isinstance(op.opview, SYNC) or is_cta_barrier(op)


def sync_of(root: Op) -> list[Op]:
    """Return the ops in `root` that `smem-insert-sync` can insert."""
    return [op for op in walk(root) if is_sync(op.operation)]


def strip(root: Op) -> None:
    """Take out of `root` what `smem-insert-sync` can insert; accumulators are readable."""
    for op in sync_of(root):
        for result in op.results:
            result.replace_all_uses_with(op.operands[0])
        op.operation.erase()
    for op in walk(root):
        values = [*op.results]
        for region in op.regions:
            values += [x for block in region.blocks for x in block.arguments]
        for value in values:
            type_ = value.type
            if isinstance(type_, FragmentType) and is_accumulator(type_) and is_in_flight(type_):
                value.set_type(with_state(type_, False))


def sync_counts(root: Op) -> dict[tuple[str, str], int]:
    """Return how many ops of each name that synchronize are in each loop, and outside of all."""
    counts: dict[tuple[str, str], int] = {}
    for op in sync_of(root):
        outer = [parent for parent in outwards(op) if parent.name == "scf.for"]
        location = str(outer[0].location) if outer else ""
        key = location, op.operation.name
        counts[key] = counts.get(key, 0) + 1
    return counts
