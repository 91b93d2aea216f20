"""Inserted ops: how they are built and erased, and why they are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import gpu, ir
from ...dialect.build import create
from ...dialect.op import SmemOp
from ...dialect.ops import (
    CopyCommitOp,
    ElectOp,
    TmaCommitOp,
    TmaWaitOp,
    WaitOp,
    WarpgroupBarrierOp,
)
from ...dialect.types import is_in_flight
from ...ir.barriers import is_cta_barrier
from ...ir.op_address import op_address
from ..order.needs import SYNC_ORDER, Need, Unordered
from .insertion_points import InsertionPoint

#: The ops that close a group of asynchronous copies, and the barriers.
COMMITS = (CopyCommitOp, TmaCommitOp)
BARRIERS = (None, WarpgroupBarrierOp)


@dataclass(eq=False)
class InsertedOp:
    """An inserted op.

    Attributes:
        op: the op; for a wait with an inserted `smem.elect` around it, the wait.
        kind: the need that it meets.
        orders: the pairs of accesses that it was inserted for.
        reader: for the wait by which an accumulator becomes readable, the first op that reads it.
    """

    op: Op
    kind: Need
    orders: list[Unordered] = field(default_factory=list)
    reader: Op | None = None

    @property
    def whole(self) -> Op:
        """The op, with the `smem.elect` that was inserted around it."""
        return self.op.parent.operation if self.kind.elected else self.op

    @property
    def makes_readable(self) -> bool:
        """Whether it is the wait by which an accumulator becomes readable."""
        return self.kind.op is WaitOp and not is_in_flight(self.op.results[0].type)

    @property
    def pending(self) -> int | None:
        """How many of the latest groups a wait leaves pending; None for other ops."""
        if self.kind.pending is None:
            return None
        return ir.IntegerAttr(self.op.attributes["pending"]).value

    @pending.setter
    def pending(self, groups: int) -> None:
        self.op.attributes["pending"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), groups)

    def erase(self) -> None:
        """Erase the op."""
        if len(self.op.results):
            self.op.results[0].replace_all_uses_with(self.op.operands[0])
        self.whole.erase()


class InsertedOps:
    """The inserted ops, in the order of their insertion.

    Args:
        readers: the first ones: the waits by which accumulators became readable.

    Attributes:
        questions: how often accesses were followed for them.
    """

    def __init__(self, readers: list[InsertedOp]) -> None:
        self.questions = 0
        self._all: list[InsertedOp] = []
        self._by_op: dict[int, InsertedOp] = {}
        for reader in readers:
            self.append(reader)

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[InsertedOp]:
        return iter(self._all)

    def find(self, op: Op) -> InsertedOp | None:
        """Return the inserted op that an op, or an inserted `smem.elect`, is; None if there is none."""
        return self._by_op.get(op_address(op))

    def append(self, inserted: InsertedOp) -> None:
        """Add an op."""
        self._all.append(inserted)
        self._by_op[op_address(inserted.whole)] = inserted

    def remove(self, inserted: InsertedOp) -> None:
        """Remove an op before it is erased."""
        self._all.remove(inserted)
        del self._by_op[op_address(inserted.whole)]

    def since(self, count: int) -> list[InsertedOp]:
        """Return the ops after the first `count`."""
        return self._all[count:]


def build(
    need: Need, point: InsertionPoint, value: Value | None = None, elected_as: ElectOp | None = None
) -> InsertedOp:
    """Insert an op that meets a need.

    Args:
        need: the need; a wait leaves `need.pending` groups pending.
        point: where.
        value: for `smem.wait`, the accumulator in flight.
        elected_as: for a wait in a new `smem.elect`, one with the same threads.
    """
    need = need._replace(elected=elected_as is not None)
    with point.ir_point, point.op.location:
        if need.op is None:
            return InsertedOp(gpu.barrier().operation, need)
        if need.op is WaitOp:
            assert value is not None
            return InsertedOp(_wait(value, need), need)
        warpgroups = need.warpgroups if need.warpgroups > 1 else None
        attributes = {"pending": need.pending, "read": need.read, "warpgroups": warpgroups}
        if elected_as is None:
            return InsertedOp(create(need.op, **attributes).operation, need)
        scope, warp = elected_as.scope.value, elected_as.warp or None
        elect = create(ElectOp, regions=1, scope=scope, warp=warp)
        with ir.InsertionPoint(ir.Block.create_at_start(elect.regions[0], [])):
            return InsertedOp(create(need.op, **attributes).operation, need)


def _wait(value: Value, need: Need) -> Op:
    """Insert a wait for mma between the definition of an accumulator in flight and its use."""
    uses = [(use.owner, use.operand_number) for use in value.uses]
    wait = create(WaitOp, [value], [value.type], pending=need.pending)
    for owner, number in uses:
        owner.operands[number] = wait.result
    return wait.operation


def kind_of(op: Op) -> type[SmemOp] | str | None:
    """Return the key in `SYNC_ORDER` of an op that orders accesses; "" for other ops."""
    if is_cta_barrier(op):
        return None
    return type(op.opview) if type(op.opview) in SYNC_ORDER else ""


def is_barrier(op: Op) -> bool:
    """Whether an op is a barrier of the CTA or of a warpgroup."""
    return is_cta_barrier(op) or isinstance(op.opview, WarpgroupBarrierOp)


def provides(op: Op, need: Need) -> bool:
    """Whether an op meets a need, whatever it leaves pending."""
    if need.op in BARRIERS and is_cta_barrier(op):
        return True
    view = op.opview
    if isinstance(view, WarpgroupBarrierOp) and view.warpgroups < need.warpgroups:
        return False
    return type(view) is need.op and (not isinstance(view, TmaWaitOp) or need.read or not view.read)
