"""The partitions of a kernel: all threads of its block, those of each partition, and those of several warps that
do several things at a time."""

from __future__ import annotations

from typing import Any

from ....dialect.ops import ElectOp, WarpSpecializeOp
from ....ir.kernel import threads_of
from ....ir.walk import walk
from ....layout.fragments import WARPGROUP
from .findings import Findings
from .kernel import Kernel, Partition
from .state import State
from .walker import Walker


class Partitions:
    """Follows the partitions of a kernel one after the other.

    Args:
        kernel: the function, where what is found is noted.
        findings: takes what is wrong, or not known.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings
        threads = threads_of(kernel.function)
        #: Warpgroups of the block; None if that is not known.
        self._count = None if threads is None or threads % WARPGROUP else threads // WARPGROUP

    def follow(self, ops: list[Any]) -> None:
        """Follows what the block does, and from its `smem.warp_specialize` on what each partition does."""
        kernel = self._kernel
        block = Partition(kernel.function, self._count, True, True, None)
        specialized = [op for op in ops if isinstance(op, WarpSpecializeOp)]
        if len(specialized) != 1:
            self._run(block, ops, [State(kernel.furthest)])
            return
        place = ops.index(specialized[0])
        walker = Walker(kernel, block, ops[:place], self._findings)
        states = walker.run(State(kernel.furthest))
        for op in ops[place + 1 :]:
            if kernel.ops.is_followed(op):
                self._findings.unknown(op, f"it comes after the {WarpSpecializeOp.OPERATION_NAME}")
        for state in states:
            if state.turns:
                self._findings.unknown(specialized[0], "pipelines are used outside of it", state)
            if state.writes or not all(read.met for read in state.reads):
                reason = "no barrier comes after the accesses before it"
                self._findings.unknown(specialized[0], reason, state)
        first = 0
        for op in specialized[0].partitions:
            own = op.warpgroups.value
            number = kernel.values.warpgroup(op)
            partition = Partition(op, own, own == self._count, first == 0, number)
            self._run(partition, kernel.ops.within(op), states)
            first += own

    def _run(self, partition: Partition, ops: list[Any], states: list[State]) -> None:
        """Follows an partition; threads of several warps, if they do all that there is, run by
        themselves."""
        elects = [e for op in ops if len(op.regions) for e in walk(op, ElectOp)]
        warps = sorted({elect.warp for elect in elects})
        parts = [(partition, ops)]
        if len(warps) > 1:
            if all(op in elects for op in ops if self._kernel.ops.is_followed(op)):
                parts = [_threads_of_warp(partition, elects, warp) for warp in warps]
            else:
                reason = "threads of several warps run beside the others"
                self._findings.unknown(elects[-1], reason)
        for each, own in parts:
            walker = Walker(self._kernel, each, own, self._findings)
            ends = [end for state in states for end in walker.run(state.copy())]
            self._kernel.ends[each] = ends


def _threads_of_warp(
    partition: Partition, elects: list[Any], warp: int
) -> tuple[Partition, list[Any]]:
    """The elected threads of a warp, and what they do."""
    own = [elect for elect in elects if elect.warp == warp]
    return Partition(
        own[0], partition.warpgroups, partition.whole, partition.first, partition.symbol
    ), own
