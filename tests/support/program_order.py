"""Programs in program order: synchronized ones without what synchronizes them."""

from mlir_smem.dialect.bindings import ir
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

#: What `smem-insert-sync` inserts, except for barriers of the CTA.
SYNC = (CopyCommitOp, CopyWaitOp, FenceOp, TmaCommitOp, TmaWaitOp, WaitOp, WarpgroupBarrierOp)


def is_sync(op):
    """Whether an op is one that `smem-insert-sync` can insert."""
    return isinstance(op.opview, SYNC) or is_cta_barrier(op)


def sync_of(root):
    """Return the ops in `root` that `smem-insert-sync` can insert."""
    return [op for op in walk(root) if is_sync(op.operation)]


def strip(root):
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


def inner_sync_counts(root):
    """Return how many ops of each kind that synchronize are in each loop, and outside of all."""
    counts = {}
    for op in sync_of(root):
        loop, name = _loop_of(op), op.operation.name
        at = "" if loop is None else str(loop.location)
        counts[at, name] = counts.get((at, name), 0) + 1
    return counts


def _loop_of(op):
    each = op.operation.parent
    while each is not None and each.operation.name != "scf.for":
        each = each.operation.parent
    return None if each is None else each.operation


__all__ = ["SYNC", "inner_sync_counts", "ir", "is_sync", "strip", "sync_of"]
