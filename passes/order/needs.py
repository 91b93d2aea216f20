"""Ops that are missing between two accesses: they would put them in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...bindings.irtypes import Op
from ...dialect.op import SmemOp
from ...dialect.ops import (
    CopyCommitOp,
    CopyWaitOp,
    ElectOp,
    FenceOp,
    TmaCommitOp,
    TmaWaitOp,
    WaitOp,
    WarpgroupBarrierOp,
)

#: The order of missing ops before an access: commits, waits, the fence, then the barrier (None is one of
#: the CTA).
SYNC_ORDER: dict[type[SmemOp] | None, int] = {
    CopyCommitOp: 0,
    TmaCommitOp: 0,
    CopyWaitOp: 1,
    WaitOp: 2,
    TmaWaitOp: 3,
    FenceOp: 4,
    WarpgroupBarrierOp: 5,
    None: 5,
}


class Need(NamedTuple):
    """An op that is missing between two accesses.

    Attributes:
        op: its class; None for a barrier of the CTA.
        pending: for a wait, the most groups that it may leave pending.
        elected: whether it is in an `smem.elect`.
        read: whether it waits only until tiles have been read.
        warpgroups: for a barrier of warpgroups, how many of them.
    """

    op: type[SmemOp] | None
    pending: int | None = None
    elected: bool = False
    read: bool = False
    warpgroups: int = 1

    def __str__(self) -> str:
        name = self.op.OPERATION_NAME if self.op else "gpu.barrier"
        if self.warpgroups > 1:
            return f"{name} with warpgroups = {self.warpgroups}"
        if self.pending is None:
            return name
        more = " or less" if self.pending else ""
        within = f" in {ElectOp.OPERATION_NAME}" if self.elected else ""
        return f"{name} with pending = {self.pending}{more}{within}"


#: A barrier of the CTA.
CTA_BARRIER = Need(None)

#: A barrier of the cluster, as messages name it; `smem-insert-sync` inserts none.
CLUSTER_BARRIER = "a barrier of the cluster (nvvm.cluster.arrive and nvvm.cluster.wait)"


class Unordered(NamedTuple):
    """Two ops whose accesses are not in order on some path.

    Attributes:
        op: the later op.
        earlier: the op whose access may not be complete.
        needs: the missing ops; none if no op can order them.
        message: the finding, for people.
    """

    op: Op
    earlier: Op
    needs: tuple[Need, ...]
    message: str

    def with_needs_of(self, others: Iterable[Unordered]) -> Unordered:
        """Return the pair with the needs of other pairs of the same two ops added: of waits, the one that
        leaves least pending."""
        by_op: dict[object, Need] = {need.op: need for need in self.needs}
        for need in (need for other in others for need in other.needs):
            first = by_op.setdefault(need.op, need)
            if need.pending is not None and first.pending is not None:
                least = min(first, need, key=lambda x: x.pending or 0)
                by_op[need.op] = least._replace(read=first.read and need.read)
            most = max(first.warpgroups, need.warpgroups)
            by_op[need.op] = by_op[need.op]._replace(warpgroups=most)
        return self._replace(needs=tuple(sorted(by_op.values(), key=lambda x: SYNC_ORDER[x.op])))


def needs_text(needs: tuple[Need, ...] | list[Need]) -> str:
    """Return needs as an enumeration in a sentence."""
    *first, last = map(str, needs)
    return f"{', '.join(first)} and {last}" if first else last
