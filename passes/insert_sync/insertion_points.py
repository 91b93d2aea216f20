"""Where ops can be inserted: between two accesses, at the end of a block, after a group of copies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.effects import Completion
from ...dialect.op import SmemOp
from ...dialect.ops import ElectOp, MapOp, StageOp
from ...ir.subtiles import chain_of
from ..order.effects import CP_ASYNC, accessed_memrefs, accessed_tiles, has_effect
from ..order.function_ops import Entry, FunctionOps, following
from ..order.program import LOOPS

#: Ops whose regions whole warpgroups do not execute, or not once.
_CLOSED = (ElectOp.OPERATION_NAME, MapOp.OPERATION_NAME)


class InsertionPoint(NamedTuple):
    """A point between the ops of a block: before an op, or after it."""

    op: Op
    is_after: bool = False

    @property
    def block(self) -> Block:
        """The block."""
        return self.op.block

    @property
    def ir_point(self) -> Any:
        """The insertion point of the bindings."""
        return ir.InsertionPoint.after(self.op) if self.is_after else ir.InsertionPoint(self.op)

    def insert(self, op: Op) -> None:
        """Insert a detached op."""
        self.ir_point.insert(op)

    def move(self, op: Op) -> None:
        """Move an op to the point."""
        op.move_after(self.op) if self.is_after else op.move_before(self.op)


def outwards(op: Op) -> Iterator[Op]:
    """Yield an op and the ops around it, from the inside out."""
    current: Op | None = op.operation
    while current is not None:
        yield current
        current = current.parent.operation if current.parent is not None else None


def entry_at(ops: FunctionOps, point: InsertionPoint) -> Entry:
    """Return the entry after an insertion point."""
    entry = ops.entry(point.op)
    return entry.next if point.is_after else entry


def gap_between(earlier: Op, later: Op) -> InsertionPoint:
    """Return a point that is on every path from one op to another, and in no loop that contains only the
    later one."""
    blocks = [op.block for op in outwards(earlier) if op.parent is not None]
    for op in outwards(later):
        if op.parent is not None and op.block in blocks:
            return InsertionPoint(op)
    raise AssertionError("two ops of a function share its body")


def end_of_threads(op: Op) -> InsertionPoint:
    """Return the last point that the threads of an op execute, in no loop around the op."""
    loops = loops_around(op)
    return end_of((loops[0] if loops else op.operation).block)


def end_of(block: Block) -> InsertionPoint:
    """Return the last point of a block, before its terminator."""
    last = block.operations[len(block.operations) - 1].operation
    is_terminator = last.name.endswith((".return", ".yield", ".condition"))
    return InsertionPoint(last, is_after=not is_terminator)


def outermost_closed_op(op: Op) -> Op:
    """Return the outermost op around an op whose region whole warpgroups do not execute; else the op."""
    return next((x for x in [*outwards(op)][::-1] if x.name in _CLOSED), op.operation)


def elect_around(op: Op) -> ElectOp | None:
    """Return the `smem.elect` around an op; None if there is none."""
    return next((x.opview for x in outwards(op) if isinstance(x.opview, ElectOp)), None)


def share_elect(one: Op, other: Op) -> bool:
    """Whether two ops are in one `smem.elect`."""
    around = elect_around(one)
    return around is not None and around.operation in outwards(other)


def ancestor_in(block: Block, op: Op) -> Op | None:
    """Return the op of a block that is an op or contains it; None if there is none."""
    return next((x for x in outwards(op) if x.parent and x.block == block), None)


def loops_around(op: Op) -> list[Op]:
    """Return the loops around an op, from the outside in."""
    return [outer for outer in outwards(op) if outer.name in LOOPS and outer != op.operation][::-1]


def ops_of(block: Block) -> list[Op]:
    """Return the ops of a block."""
    return [op.operation for op in block.operations]


def user_in(block: Block, value: Value) -> Op | None:
    """Return the op of a block with the single use of a value in flight; None if there is no use."""
    return next((ancestor_in(block, use.owner) for use in value.uses), None)


def is_argument(value: Value) -> bool:
    """Whether a value is an argument of a block."""
    return isinstance(value.owner, ir.Block)


def end_of_copies(copy: Op, later: Op, ops: FunctionOps) -> Op:
    """Return the last op of the group that a copy belongs to.

    A group ends before the next op that accesses memory or orders accesses, in a branch or out of it, and
    before the next copy to another stage of a tile of the group.

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


def _inner_ops(op: Op) -> list[Op]:
    """Return the ops of an op's regions."""
    return [inner for region in op.regions for block in region.blocks for inner in ops_of(block)]


def _has_only_copies(op: Op) -> bool:
    """Whether an op is an asynchronous copy, or a branch in which there are no other accesses."""
    if op.name == "scf.if":
        return all(_has_only_copies(inner) for inner in _inner_ops(op) if _matters(inner))
    return _completion(op) in (Completion.CP_ASYNC_GROUP, Completion.BULK_GROUP)


def _matters(op: Op) -> bool:
    """Whether an op accesses memory of tiles or orders accesses, itself or in its regions."""
    if len(op.regions):
        return op.name not in ("scf.if", *LOOPS) or any(map(_matters, _inner_ops(op)))
    if isinstance(op.opview, SmemOp):
        return has_effect(op.opview)
    return any(accessed_memrefs(op)) or "barrier" in op.name


def _completion(op: Op) -> Completion | None:
    """Return the completion of a copy; None for other ops."""
    if op.name in CP_ASYNC:
        return Completion.CP_ASYNC_GROUP
    return op.opview.effects.completion if isinstance(op.opview, SmemOp) else None


def _stages(op: Op) -> dict[Op, set[Value | int | None]]:
    """Return the allocations that an op copies to or from, with their stages."""
    stages_by_tile: dict[Op, set[Value | int | None]] = {}
    inner = _inner_ops(op)
    for inner_op in inner:
        for tile, stages in _stages(inner_op).items():
            stages_by_tile.setdefault(tile, set()).update(stages)
    if isinstance(op.opview, SmemOp) and not inner:
        for tile, _ in accessed_tiles(op.opview):
            allocation, chain = chain_of(tile, op.opview)
            stage = next((subtile for subtile in chain if isinstance(subtile, StageOp)), None)
            constant = None if stage is None else constant_of(stage.index)
            stage_key = constant if stage is None or constant is not None else stage.index
            stages_by_tile.setdefault(allocation.operation, set()).add(stage_key)
    return stages_by_tile
