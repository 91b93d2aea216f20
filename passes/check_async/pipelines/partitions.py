"""The partitions of a kernel: the whole CTA, each `smem.partition`, and the warps of one that differ."""

from __future__ import annotations

from itertools import product

from ....bindings.irtypes import Op
from ....dialect.ops import ElectOp, FenceOp, WarpSpecializeOp
from ....ir.barriers import is_cluster_barrier
from ....ir.kernel import threads_of
from ....ir.walk import holds, walk
from ....layout.fragments import WARPGROUP
from ...order.needs import CTA_BARRIER, Need, listed
from ...order.report import at
from ..assumptions import assume_all
from .findings import Findings, Order
from .kernel import Kernel, Recorded, Walk
from .partition import Partition
from .state import Read, State, Write
from .walker import Walker


class Partitions:
    """Follows the partitions of a kernel one after the other.

    Args:
        kernel: the function; receives what is recorded.
        findings: receives errors and remarks.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings
        threads = threads_of(kernel.function)
        #: Warpgroups of the CTA; None if not known.
        self._count = None if threads is None or threads % WARPGROUP else threads // WARPGROUP

    def follow(self, ops: list[Op]) -> None:
        """Follow the ops of the whole CTA, and after `smem.warp_specialize` those of each partition."""
        kernel = self._kernel
        cta = Partition(kernel.function, self._count, True, True, None)
        assume_all(ops, kernel.values, kernel.known)
        # What is known on all runs, and not only on those that come to the partitions.
        always = kernel.known.copy()
        ops, conditions = self._unwrap(ops)
        specialized = [op for op in ops if isinstance(op, WarpSpecializeOp)]
        if len(specialized) != 1:
            bodies = self._divide(cta, ops)
            kernel.set_bodies(bodies)
            self._run(bodies, [State(kernel.furthest)])
            return
        position = ops.index(specialized[0])
        before = (cta, ops[:position])
        bodies, first = [], 0
        for op in specialized[0].partitions:
            own = op.warpgroups.value
            symbol = kernel.values.warpgroup(op)
            partition = Partition(op, own, own == self._count, first == 0, symbol)
            bodies += self._divide(partition, kernel.ops.within(op))
            first += own
        sides = any(kernel.ops.pipeline_sides(op) for op in ops[:position])
        for op in conditions:
            kernel.known.assume_condition(kernel.values.of(op.operands[0]), True)
        assume_all(ops[:position], kernel.values, kernel.known)
        kernel.set_bodies([*([before] if sides else []), *bodies])
        walker = Walker(kernel, *before, self._findings, kernel.recorded, always)
        states = walker.run(State(kernel.furthest))
        for op, state in product(conditions, states):
            # All CTAs of a cluster come to its barriers.
            meets = any(is_cluster_barrier(x.operation) for x in walk(op))
            condition = (kernel.values.of(op.operands[0]),)
            walker.is_uniform(op, "its condition is", condition, state, in_cluster=meets)
        for op in ops[position + 1 :]:
            if kernel.ops.is_followed(op):
                reason = f"it comes after the {WarpSpecializeOp.OPERATION_NAME}"
                self._findings.remark(op, f"{reason}; put it before that, or into a partition")
        for state in states:
            if sides:
                reason = "pipelines are used outside of it; wait and arrive in its partitions"
                self._findings.remark(specialized[0], reason, state)
            reads = (read for read in state.reads if not read.past_barrier)
            for access in (*kernel.in_order(state.writes), *kernel.in_order(reads)):
                order = Order(access.op, _missing(access))
                missing = listed(order.needs)
                reason = f"no barrier comes after the {at(access.op)}; put {missing} between them"
                self._findings.remark(specialized[0], reason, state, order)
        self._run(bodies, states)

    def _unwrap(self, ops: list[Op]) -> tuple[list[Op], list[Op]]:
        """Return ops with those of the branch in which the partitions are, and the branches."""
        known = self._kernel.ops
        for position, op in enumerate(ops):
            is_branch = op.name == "scf.if" and holds(op, WarpSpecializeOp)
            if is_branch and len(op.regions[1].blocks) == 0:
                inner, branches = self._unwrap(known.of(op.regions[0].blocks[0]))
                return [*ops[:position], *inner, *ops[position + 1 :]], [op, *branches]
        return ops, []

    def _divide(self, partition: Partition, ops: list[Op]) -> list[tuple[Partition, list[Op]]]:
        """Return a partition with its ops, or its elected threads of several warps, which are followed
        separately if they execute all of its ops."""
        elects = [e for op in ops if len(op.regions) for e in walk(op, ElectOp)]
        warps = sorted({elect.warp for elect in elects})
        if len(warps) > 1:
            if all(op in elects for op in ops if self._kernel.ops.is_followed(op)):
                return [_threads_of_warp(partition, elects, warp) for warp in warps]
            reason = (
                "elected threads of several warps run concurrently with other threads; elect all ops of "
                "the partition, or give each warp's ops a partition of their own"
            )
            self._findings.remark(elects[-1], reason)
        return [(partition, ops)]

    def _run(self, bodies: list[tuple[Partition, list[Op]]], states: list[State]) -> None:
        """Follow partitions from some states on."""
        for partition, ops in bodies:
            walks = self._kernel.walks_in(partition)
            if partition not in walks or walks[partition].before != states:
                walks[partition] = self._walk(partition, ops, states)
            self._findings.add(walks[partition].findings)
            self._kernel.recorded.add(walks[partition].recorded)

    def _walk(self, partition: Partition, ops: list[Op], states: list[State]) -> Walk:
        known, findings, recorded = (
            self._kernel.known.copy(),
            Findings(self._findings.ends),
            Recorded(),
        )
        assume_all(ops, self._kernel.values, known)
        walker = Walker(self._kernel, partition, ops, findings, recorded, known)
        ends = [end for state in states for end in walker.run(state.copy())]
        recorded.ends[partition] = ends
        return Walk([state.copy() for state in states], findings, recorded)


def _threads_of_warp(
    partition: Partition, elects: list[Op], warp: int
) -> tuple[Partition, list[Op]]:
    """Return the elected threads of a warp, and the ops that they execute."""
    own = [elect for elect in elects if elect.warp == warp]
    return Partition(
        own[0], partition.warpgroups, partition.whole, partition.first, partition.symbol
    ), own


def _missing(access: Read | Write) -> tuple[Need, ...]:
    """Return what is missing between an access of the whole CTA and those of its partitions."""
    barrier = () if access.past_barrier else (CTA_BARRIER,)
    if isinstance(access, Read):
        return (*access.missing, *barrier)
    return (*(() if access.fenced else (Need(FenceOp),)), *barrier)
