"""Follow the ops of each partition, and of the whole CTA, on all paths, and what orders them."""

from __future__ import annotations

from itertools import product

from ....bindings.irtypes import Op
from ....dialect.effects import Completion, Scope
from ....dialect.op import SmemOp
from ....dialect.ops import ElectOp, FenceOp, MapOp, SemaphoreArriveOp, WarpSpecializeOp
from ....ir.barriers import begins_cluster_barrier, is_cluster_barrier, is_cta_barrier
from ....ir.kernel import threads_of
from ....ir.op_address import OpIdentity
from ....ir.walk import holds, walk
from ....layout.fragments import WARPGROUP
from ...order.effects import has_effect, is_harmless, pending_of
from ...order.needs import CTA_BARRIER, Need, needs_text
from ...order.report import label
from ..assumptions import assume_all
from ..intervals import Intervals
from ..polynomials import Divergence, Polynomial, number, variable
from .accesses import Accesses, OtherWarpgroups
from .findings import Findings, MissingSync
from .kernel import KernelAnalysis, PartitionRecord, PartitionWalk
from .ops import ARRIVES, WAITS, pipeline_side_of
from .partition import ActiveThreads, Partition
from .pipeline_indices import PipelineIndices
from .state import PartitionState, PendingRead, PendingWrite, Reader
from .tile_resolver import TileResolver


class KernelWalker:
    """Follows the partitions of a kernel one after the other.

    Args:
        kernel: the function; receives the records.
        findings: receives errors and remarks.
    """

    def __init__(self, kernel: KernelAnalysis, findings: Findings) -> None:
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
        # What is known on all runs, not only on those that reach the partitions.
        always = kernel.known.copy()
        ops, conditions = self._unwrap(ops)
        specialized = [op for op in ops if isinstance(op, WarpSpecializeOp)]
        if len(specialized) != 1:
            bodies = self._divide(cta, ops)
            kernel.set_bodies(bodies)
            self._run(bodies, [PartitionState(kernel.furthest)])
            return
        position = ops.index(specialized[0])
        before = (cta, ops[:position])
        bodies, first = [], 0
        for op in specialized[0].partitions:
            warpgroups = op.warpgroups.value
            symbol = kernel.values.warpgroup(op)
            partition = Partition(op, warpgroups, warpgroups == self._count, first == 0, symbol)
            bodies += self._divide(partition, kernel.ops.body(op))
            first += warpgroups
        sides = any(kernel.ops.pipeline_sides(op) for op in ops[:position])
        for op in conditions:
            kernel.known.assume_condition(kernel.values.polynomial(op.operands[0]), True)
        assume_all(ops[:position], kernel.values, kernel.known)
        kernel.set_bodies([*([before] if sides else []), *bodies])
        walker = _PartitionWalker(kernel, *before, self._findings, kernel.recorded, always)
        states = walker.run(PartitionState(kernel.furthest))
        for op, state in product(conditions, states):
            # All CTAs of a cluster must reach its barriers.
            has_cluster_barrier = any(is_cluster_barrier(x.operation) for x in walk(op))
            condition = (kernel.values.polynomial(op.operands[0]),)
            walker.is_uniform(
                op, "its condition is", condition, state, in_cluster=has_cluster_barrier
            )
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
                sync = MissingSync(access.op, _missing(access))
                missing = needs_text(sync.needs)
                reason = (
                    f"no barrier comes after the {label(access.op)}; put {missing} between them"
                )
                self._findings.remark(specialized[0], reason, state, sync)
        self._run(bodies, states)

    def _unwrap(self, ops: list[Op]) -> tuple[list[Op], list[Op]]:
        """Inline the branches around `smem.warp_specialize`; return the ops, and the branches."""
        op_table = self._kernel.ops
        for position, op in enumerate(ops):
            is_branch = op.name == "scf.if" and holds(op, WarpSpecializeOp)
            if is_branch and len(op.regions[1].blocks) == 0:
                inner, branches = self._unwrap(op_table.ops_in(op.regions[0].blocks[0]))
                return [*ops[:position], *inner, *ops[position + 1 :]], [op, *branches]
        return ops, []

    def _divide(self, partition: Partition, ops: list[Op]) -> list[tuple[Partition, list[Op]]]:
        """Return a partition with its ops; or, if elected threads of several warps execute all of its
        ops, those of each warp separately."""
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

    def _run(self, bodies: list[tuple[Partition, list[Op]]], states: list[PartitionState]) -> None:
        """Follow partitions from some states on, unless such a walk is known."""
        for partition, ops in bodies:
            walks = self._kernel.walks_in(partition)
            if partition not in walks or walks[partition].before != states:
                walks[partition] = self._walk(partition, ops, states)
            self._findings.add(walks[partition].findings)
            self._kernel.recorded.add(walks[partition].recorded)

    def _walk(
        self, partition: Partition, ops: list[Op], states: list[PartitionState]
    ) -> PartitionWalk:
        known = self._kernel.known.copy()
        findings, recorded = Findings(self._findings.stops_on), PartitionRecord()
        assume_all(ops, self._kernel.values, known)
        walker = _PartitionWalker(self._kernel, partition, ops, findings, recorded, known)
        ends = [end for state in states for end in walker.run(state.copy())]
        recorded.ends[partition] = ends
        return PartitionWalk([state.copy() for state in states], findings, recorded)


def _threads_of_warp(
    partition: Partition, elects: list[Op], warp: int
) -> tuple[Partition, list[Op]]:
    """Return the elected threads of a warp, and the ops that they execute."""
    warp_elects = [elect for elect in elects if elect.warp == warp]
    return Partition(
        warp_elects[0], partition.warpgroups, partition.whole, partition.first, partition.symbol
    ), warp_elects


def _missing(access: PendingRead | PendingWrite) -> tuple[Need, ...]:
    """Return what is missing between an access of the whole CTA and those of its partitions."""
    barrier = () if access.past_barrier else (CTA_BARRIER,)
    if isinstance(access, PendingRead):
        return (*access.missing, *barrier)
    return (*(() if access.fenced else (Need(FenceOp),)), *barrier)


#: The most paths, and the most states at the head of a loop, that are followed.
_PATHS = 32


class _PartitionWalker:
    """Follows the ops of a partition.

    Args:
        kernel: the function.
        partition: the threads that are followed.
        ops: all ops of the partition.
        findings: receives errors and remarks.
        recorded: receives accesses, arrivals and barriers of the cluster.
        known: what is known of integers on all runs that reach the ops.
    """

    def __init__(
        self,
        kernel: KernelAnalysis,
        partition: Partition,
        ops: list[Op],
        findings: Findings,
        recorded: PartitionRecord,
        known: Intervals,
    ) -> None:
        pipeline_sides = list({side: None for op in ops for side in kernel.ops.pipeline_sides(op)})
        self._kernel = kernel
        self._partition = partition
        self._ops = ops
        self._known = known
        self._findings = findings
        self._recorded = recorded
        self._threads = ActiveThreads(partition)
        self._indices = PipelineIndices(kernel, self._threads, pipeline_sides, recorded, findings)
        tiles = TileResolver(kernel, self._threads, pipeline_sides, findings)
        self._others = OtherWarpgroups(kernel, self._threads, findings)
        self._accesses = Accesses(kernel, self._threads, tiles, self._others, recorded, findings)
        self._synchronization = _Synchronization(self._threads, findings)

    def run(self, state: PartitionState) -> list[PartitionState]:
        """Return the states in which the partition ends."""
        return self._block(self._ops, state)

    def _block(self, ops: list[Op], state: PartitionState) -> list[PartitionState]:
        """Return the states after the ops of a block."""
        forked, states = state.forked, [state]
        for op in ops:
            states = self._limit_paths(
                op, [end for before in states for end in self._op(op, before)]
            )
            if len(states) == 1:
                states[0].forked = forked
        return states

    def _limit_paths(self, op: Op, states: list[PartitionState]) -> list[PartitionState]:
        states = _unique_states(states)
        if len(states) > _PATHS:
            self._findings.remark(op, "it is reached on too many paths", states[0])
            return states[:1]
        return states

    def _op(self, op: Op, state: PartitionState) -> list[PartitionState]:
        if op.name != "scf.for" and self._kernel.registers.are_written_by(op):
            self._accesses.define(op.operation, state)
        if len(op.regions):
            return self._region(op, state) if self._kernel.ops.is_followed(op) else [state]
        if isinstance(op, SmemOp):
            if isinstance(op, (*WAITS, *ARRIVES)) and not self._is_reached(op, state):
                return []
            self._smem_op(op, state)
        elif is_cta_barrier(op):
            self._synchronization.cta_barrier(op, state)
        elif is_cluster_barrier(op):
            self._cluster_barrier(op, state)
        elif not is_harmless(op) and not begins_cluster_barrier(op):
            state.known = False
        return [state]

    def _is_reached(self, op: Op, state: PartitionState) -> bool:
        """Whether some run reaches a wait or arrival in an iteration like this one, with as many
        outstanding indices."""
        outstanding = state.outstanding(pipeline_side_of(op))
        relative_indices = self._kernel.relative_indices
        return relative_indices.is_reached(op, self._threads.iteration, outstanding)

    def _smem_op(self, op: Op, state: PartitionState) -> None:
        """Follow an op of the dialect by its effects."""
        if isinstance(op, WAITS):
            self._indices.wait(op, state)
        elif isinstance(op, ARRIVES):
            self._indices.arrive(op, state)
        elif has_effect(op):
            if not (self._accesses.follows(op) and self._synchronization.follows(op)):
                reason = (
                    f"'{op.OPERATION_NAME}' is not followed in kernels with pipelines or partitions"
                )
                self._findings.remark(op, reason, state)
                return
            self._synchronization.await_groups(op, state)
            self._accesses.access(op, state)
            self._synchronization.order_accesses(op, state)

    def _cluster_barrier(self, op: Op, state: PartitionState) -> None:
        """Follow a barrier of the cluster, which all partitions reach equally often."""
        if self._threads.depth:
            reason = "it is in a branch, a loop or an election, which other threads may not execute"
            self._findings.remark(op, reason, state)
            return
        self._recorded.cluster_barriers.setdefault(self._partition, []).append(state.copy())
        state.cluster_barrier()

    # Regions.

    def _region(self, op: Op, state: PartitionState) -> list[PartitionState]:
        with self._threads.enter_region():
            return self._inside(op, state)

    def _inside(self, op: Op, state: PartitionState) -> list[PartitionState]:
        if isinstance(op, MapOp):
            return self._block(self._kernel.ops.body(op), state)
        if isinstance(op, ElectOp):
            return self._elect(op, state)
        if op.name == "scf.if":
            return self._if(op, state)
        if op.name == "scf.for":
            return self._for(op, state)
        reason = "how it executes its regions is not known"
        if isinstance(op, WarpSpecializeOp):
            reason = "it is not at the top level of the kernel, once; put loops into the partitions"
        self._findings.remark(op, reason, state)
        return [state]

    def _elect(self, op: ElectOp, state: PartitionState) -> list[PartitionState]:
        partition, scope = self._partition, op.scope.value
        whole = partition.whole and not self._threads.is_divergent
        alone = whole or (partition.first and partition.warpgroups == 1)
        if self._threads.scope or (scope == "cta" and not alone):
            reason = "which threads execute it is not known"
            if scope == "cta":
                reason += '; elect in a partition of one warpgroup, or with scope = "warpgroup"'
            self._findings.remark(op, reason, state)
            return [state]
        with self._threads.elect(scope):
            return self._block(self._kernel.ops.body(op), state)

    def is_uniform(
        self,
        op: Op,
        name: str,
        values: tuple[Polynomial, ...],
        state: PartitionState,
        in_cluster: bool = False,
    ) -> bool:
        """Check that values are the same for all threads, and for the CTAs that share loads.

        Args:
            op: the branch or loop that they control.
            name: the subject and verb of the remark, such as "its bounds are".
            values: the condition, or the bounds.
            state: the path's state.
            in_cluster: whether they must be the same for all CTAs of the cluster in any case.
        """
        pipeline_sides = self._kernel.ops.pipeline_sides(op)
        shares = any(self._kernel.shares_loads(pipeline) for pipeline, _ in pipeline_sides)
        shared = in_cluster or shares
        allowed = Divergence.NONE if shared else Divergence.BETWEEN_CTAS
        if all(value.divergence <= allowed for value in values):
            return True
        executors = "CTAs of the cluster" if shared else "threads"
        self._findings.remark(op, f"{name} not known to be the same for all {executors}", state)
        return False

    def _if(self, op: Op, state: PartitionState) -> list[PartitionState]:
        condition = self._kernel.values.polynomial(op.operands[0])
        blocks = [region.blocks[0] for region in op.regions if len(region.blocks)]
        then, otherwise = (*map(self._kernel.ops.ops_in, blocks), [])[:2]
        branches = then, otherwise
        if (holds := self._decide(condition)) is not None:
            return self._block(branches[0 if holds else 1], state)
        if self._is_by_warpgroup(op, condition):
            with self._threads.select_warpgroups(), self._threads.control([condition]):
                return self._either_by_warpgroup(branches, state)
        if not self.is_uniform(op, "its condition is", (condition,), state):
            return [state]
        with self._threads.control([condition]):
            return self._either(branches, state)

    def _decide(self, condition: Polynomial) -> bool | None:
        """Return whether a condition holds in this iteration of each loop; None if not known."""
        for loop, is_first in self._threads.first.items():
            count = self._kernel.values.loop(loop).count
            iteration = number(0) if is_first else variable(count) + number(1)
            replaced = self._kernel.values.substitute(condition, count, iteration)
            condition = condition if replaced is None else replaced
        return self._known.decide(condition)

    def _either(
        self, branches: tuple[list[Op], list[Op]], state: PartitionState
    ) -> list[PartitionState]:
        """Return the states after one of several branches."""
        ends = _unique_states([end for ops in branches for end in self._block(ops, state.copy())])
        return _mark_forked(ends)

    def _either_by_warpgroup(
        self, branches: tuple[list[Op], list[Op]], state: PartitionState
    ) -> list[PartitionState]:
        """Return the states after two branches of which each warpgroup takes one."""
        ends = [self._block(ops, state.copy()) for ops in branches]
        exposed = [frozenset().union(*(end.exposed for end in accesses)) for accesses in ends]
        self._others.check_branches(*(accesses - state.exposed for accesses in exposed))
        after = _mark_forked(_unique_states([*ends[0], *ends[1]]))
        for end in after:
            end.exposed = exposed[0] | exposed[1]
        return after

    def _is_by_warpgroup(self, op: Op, condition: Polynomial) -> bool:
        """Whether each warpgroup may choose a branch by itself: no pipeline is used in it, and the
        accesses of the partition's warpgroups are compared path by path."""
        partition = self._partition
        return (
            condition.divergence is Divergence.BETWEEN_WARPGROUPS
            and (partition.symbol is not None or partition.warpgroups == 1)
            and not self._kernel.ops.pipeline_sides(op)
        )

    def _for(self, op: Op, state: PartitionState) -> list[PartitionState]:
        loop, identity = self._kernel.values.loop(op), OpIdentity.of(op)
        if not self.is_uniform(op, "its bounds are", loop.bounds, state):
            return [state]
        if loop.trips.constant == 0:
            return [state]
        # Conditions are decided for the first iteration, and for all others.
        heads, backs = [(state.copy(), True)], []
        later: list[PartitionState] = []
        for head, is_first in heads:
            if len(heads) > _PATHS:
                self._findings.remark(op, "its iterations have too many different states", head)
                state.known, state.reported = False, True
                return [state]
            self._threads.first[op.operation] = is_first
            with self._threads.control(loop.bounds):
                reached = self._block(self._kernel.ops.body(op), head.copy())
            del self._threads.first[op.operation]
            for end in reached:
                if self._kernel.registers.are_written_by(op):
                    # The loop writes the registers that it carries at the end of an iteration.
                    self._accesses.define(op.operation, end)
                after = end.copy()
                after.forget_loop(identity)
                _add(after, backs)
                end.next_iteration(identity, loop.count, self._kernel.values)
                if loop.trips.constant != 1 and _add(end, later):
                    heads.append((end, False))
        lowest = self._known.bounds(loop.trips).low
        runs = lowest is not None and lowest > 0
        ends = [end.copy() for end in (backs if runs else (state, *backs))]
        for end in ends:
            end.forget_loop(identity)
        return _mark_forked(_unique_states(ends))


def _unique_states(states: list[PartitionState]) -> list[PartitionState]:
    unique: list[PartitionState] = []
    for state in states:
        _add(state, unique)
    return unique


def _add(state: PartitionState, states: list[PartitionState]) -> bool:
    """Add a state to others, unless one of them equals it and includes its exposed accesses; return
    whether it is new."""
    like = next((s for s in states if s == state), None)
    if like is None:
        states.append(state)
        return True
    includes = state.exposed <= like.exposed
    like.exposed |= state.exposed
    state.exposed = like.exposed
    return not includes


def _mark_forked(states: list[PartitionState]) -> list[PartitionState]:
    """Mark several states as forked: correlated conditions may make one of them unreachable."""
    for state in states:
        state.forked |= len(states) > 1
    return states


#: The scopes of barriers that are followed.
_BARRIERS = (Scope.WARPGROUP, Scope.CTA, Scope.CLUSTER)

#: The reads that a wait for groups completes.
_READERS = {Completion.WGMMA_GROUP: Reader.MMA, Completion.BULK_GROUP: Reader.BULK}


class _Synchronization:
    """The ops by which a partition orders its accesses.

    Args:
        threads: the threads that execute them.
        findings: receives errors and remarks.
    """

    def __init__(self, threads: ActiveThreads, findings: Findings) -> None:
        self._threads = threads
        self._findings = findings

    @staticmethod
    def follows(op: Op) -> bool:
        """Whether all waits, commits and barriers of an op can be followed."""
        effects = op.effects
        return (
            effects.awaits in (None, *_READERS)
            and effects.commits in (None, Completion.BULK_GROUP)
            and effects.barrier in (None, *_BARRIERS)
        )

    def await_groups(self, op: Op, state: PartitionState) -> None:
        """Follow the wait for groups of an op, if it has one."""
        reader = _READERS.get(op.effects.awaits)
        if reader is Reader.MMA or (
            reader is Reader.BULK and self._is_by_storing_threads(op, state)
        ):
            state.wait(reader, pending_of(op))

    def order_accesses(self, op: Op, state: PartitionState) -> None:
        """Follow the commit of a group, the fence, and the barrier of an op, in this order."""
        effects = op.effects
        if effects.commits is not None and self._is_by_storing_threads(op, state):
            state.start_group(Reader.BULK)
        if effects.fences and self._threads.scope:
            # The fence of one elected thread is not followed.
            state.known = False
        elif effects.fences:
            state.fence()
        if effects.barrier is Scope.WARPGROUP and getattr(op, "warpgroups", 1) > 1:
            self._barrier_of_groups(op, state)
        elif effects.barrier is Scope.WARPGROUP:
            self._warpgroup_barrier(op, state)
        elif effects.barrier is not None:
            self.cta_barrier(op, state)

    def _is_by_storing_threads(self, op: Op, state: PartitionState) -> bool:
        """Whether the threads that wait for bulk stores, or commit them, are those that issued them."""
        scope = self._threads.scope
        if self._threads.partition.warpgroups == 1 or not scope:
            return True
        stores = [read for read in state.reads if read.reader is Reader.BULK]
        if all(read.scope == scope for read in stores):
            return True
        reason = "it may be executed by other threads than the bulk stores"
        self._findings.remark(op, reason, state)
        return False

    def _warpgroup_barrier(self, op: Op, state: PartitionState) -> None:
        partition = self._threads.partition
        if self._threads.scope:
            reason = "one thread executes it, but whole warpgroups must"
            self._findings.remark(op, reason, state)
        elif partition.symbol is None and partition.warpgroups != 1:
            if isinstance(op, SemaphoreArriveOp):
                # It orders accesses of global memory. For tiles, no order is assumed.
                return
            reason = "it synchronizes the threads of one warpgroup, but those of all may write"
            self._findings.remark(op, reason, state)
        else:
            state.barrier()

    def _barrier_of_groups(self, op: Op, state: PartitionState) -> None:
        """Follow a barrier of groups of several warpgroups."""
        partition = self._threads.partition
        if self._threads.scope or self._threads.is_divergent:
            reason = f"not all threads of {op.warpgroups} warpgroups execute it"
            self._findings.remark(op, reason, state)
        elif op.warpgroups == partition.warpgroups:
            state.barrier_of_all()
        elif partition.symbol is not None:
            state.barrier()

    def cta_barrier(self, op: Op, state: PartitionState) -> None:
        """Follow a barrier of the CTA, such as `gpu.barrier`."""
        if self._threads.scope or self._threads.is_divergent or not self._threads.partition.whole:
            reason = "not all threads of the CTA execute it"
            self._findings.remark(op, reason, state)
        else:
            state.barrier()
