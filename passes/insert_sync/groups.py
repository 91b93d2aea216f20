"""Which asynchronous copies are one group: those that come one after the other."""

from __future__ import annotations

from ...bindings.irtypes import Op, Value
from ...dialect.divisibility import constant_of
from ...dialect.effects import Completion
from ...dialect.op import SmemOp
from ...dialect.ops import StageOp
from ...ir.subtiles import chain_of
from ..order.declared_effects import accessed_tiles, has_effect
from ..order.function_ops import FunctionOps, following
from ..order.memrefs import CP_ASYNC, accessed_memrefs
from .places import ops_of, outwards


def end_of_copies(copy: Op, later: Op, ops: FunctionOps) -> Op:
    """Return the last op of the group that a copy belongs to.

    A group has the copies between which nothing else accesses memory or orders accesses, in a branch or
    out of it, up to the next copy to another stage of a tile that it already copies to.

    Args:
        copy: the copy.
        later: an op before which it must be complete.
        ops: those of the function.
    """
    first = copy.operation
    while first.parent is not None and first.parent.operation.name == "scf.if":
        outer = first.parent.operation
        if outer in outwards(later) or not _has_only_copies(outer):
            break
        first = outer
    last, stages = first, _stages(first)
    for op in following(ops.entry(first)):
        if not _matters(op):
            continue
        if op in outwards(later) or not _has_only_copies(op):
            break
        more = _stages(op)
        if any(more[tile] != stages[tile] for tile in more.keys() & stages.keys()):
            break
        stages |= more
        last = op
    return last


def _has_only_copies(op: Op) -> bool:
    """Whether an op is an asynchronous copy, or a branch in which there are no other accesses."""
    if op.name == "scf.if":
        inner = [each for region in op.regions for block in region.blocks for each in ops_of(block)]
        return all(_has_only_copies(each) for each in inner if _matters(each))
    return _completion(op) in (Completion.CP_ASYNC_GROUP, Completion.BULK_GROUP)


def _matters(op: Op) -> bool:
    """Whether an op accesses memory of tiles or orders accesses, itself or in its regions."""
    if len(op.regions):
        inner = [each for region in op.regions for block in region.blocks for each in ops_of(block)]
        return op.name not in ("scf.if", "scf.for") or any(map(_matters, inner))
    if isinstance(op.opview, SmemOp):
        return has_effect(op.opview)
    return any(accessed_memrefs(op)) or "barrier" in op.name


def _completion(op: Op) -> Completion | None:
    """What completes the copy that an op is; None if it is none."""
    if op.name in CP_ASYNC:
        return Completion.CP_ASYNC_GROUP
    return op.opview.effects.completion if isinstance(op.opview, SmemOp) else None


def _stages(op: Op) -> dict[Op, set[Value | int | None]]:
    """Return the allocations that an op copies to or from, with their stages."""
    found: dict[Op, set[Value | int | None]] = {}
    inner = [each for region in op.regions for block in region.blocks for each in ops_of(block)]
    for each in inner:
        for tile, stages in _stages(each).items():
            found.setdefault(tile, set()).update(stages)
    if isinstance(op.opview, SmemOp) and not inner:
        for tile, _ in accessed_tiles(op.opview):
            allocation, chain = chain_of(tile, op.opview)
            stage = next((each for each in chain if isinstance(each, StageOp)), None)
            constant = None if stage is None else constant_of(stage.index)
            at = constant if stage is None or constant is not None else stage.index
            found.setdefault(allocation.operation, set()).add(at)
    return found
