"""Follows what a partition, or the whole block, does on all paths."""

from __future__ import annotations

from typing import Any

from ....dialect.op import SmemOp
from ....dialect.ops import ElectOp, MapOp, WarpSpecializeOp
from ....ir.barriers import is_block_barrier
from ..declared import has_effect
from ..harmless import is_harmless
from ..polynomials import Polynomial, Spread
from .accesses import Accesses
from .findings import Findings
from .kernel import Kernel, Partition
from .loops import LoopSteps
from .orders import Orders
from .places import Places
from .spots import BEGINS, ENDS
from .state import State
from .steps import Steps
from .threads import Threads

#: Paths, and states at the head of a loop, that are followed.
_PATHS = 32


class Walker:
    """Follows the ops of an partition.

    Args:
        kernel: the function, where what is found is noted.
        partition: whom it follows.
        ops: all that the partition does.
        findings: takes what is wrong, or not known.
    """

    def __init__(
        self, kernel: Kernel, partition: Partition, ops: list[Any], findings: Findings
    ) -> None:
        turnings = list({each: None for op in ops for each in kernel.ops.turnings(op)})
        self._kernel = kernel
        self._partition = partition
        self._ops = ops
        self._findings = findings
        self._threads = Threads(partition)
        self._steps = Steps(kernel, self._threads, turnings, findings)
        places = Places(kernel, turnings, findings)
        self._accesses = Accesses(kernel, self._threads, places, findings)
        self._orders = Orders(self._threads, findings)

    def run(self, state: State) -> list[State]:
        """The states in which the partition ends."""
        return self._block(self._ops, state)

    def _block(self, ops: list[Any], state: State) -> list[State]:
        """The states in which ops end that are executed one after the other."""
        forked, states = state.forked, [state]
        for op in ops:
            states = self._few(op, [end for each in states for end in self._op(op, each)])
            if len(states) == 1:
                states[0].forked = forked
        return states

    def _few(self, op: Any, states: list[State]) -> list[State]:
        states = _distinct(states)
        if len(states) > _PATHS:
            self._findings.unknown(op, "it is reached on too many paths", states[0])
            return states[:1]
        return states

    def _op(self, op: Any, state: State) -> list[State]:
        if op.name != "scf.for" and self._kernel.registers.are_written_by(op):
            self._accesses.define(op.operation, state)
        if len(op.regions):
            return self._region(op, state) if self._kernel.ops.is_followed(op) else [state]
        if isinstance(op, SmemOp):
            self._own(op, state)
        elif is_block_barrier(op):
            self._orders.meet_in_block(op, state)
        elif not is_harmless(op):
            state.known = False
        return [state]

    def _own(self, op: Any, state: State) -> None:
        """Follows an op of the dialect by its effects."""
        if isinstance(op, BEGINS):
            self._steps.begin(op, state)
        elif isinstance(op, ENDS):
            self._steps.hand_on(op, state)
        elif has_effect(op):
            if not (self._accesses.follows(op) and self._orders.follows(op)):
                reason = f"'{op.OPERATION_NAME}' is not followed beside pipelines and partitions"
                self._findings.unknown(op, reason, state)
                return
            self._orders.await_groups(op, state)
            self._accesses.access(op, state)
            self._orders.order(op, state)

    # Regions.

    def _region(self, op: Any, state: State) -> list[State]:
        if isinstance(op, MapOp):
            return self._block(self._kernel.ops.within(op), state)
        if isinstance(op, ElectOp):
            return self._elect(op, state)
        if op.name == "scf.if":
            return self._if(op, state)
        if op.name == "scf.for":
            return self._for(op, state)
        reason = "how it runs them is not known"
        if isinstance(op, WarpSpecializeOp):
            reason = "it is not at the top of the kernel, once"
        self._findings.unknown(op, reason, state)
        return [state]

    def _elect(self, op: Any, state: State) -> list[State]:
        partition, scope = self._partition, op.scope.value
        alone = partition.whole or (partition.first and partition.warpgroups == 1)
        if self._threads.scope or (scope == "block" and not alone):
            self._findings.unknown(op, "which threads execute it is not known", state)
            return [state]
        with self._threads.elected(scope):
            return self._block(self._kernel.ops.within(op), state)

    def _is_uniform(self, op: Any, what: str, forms: tuple[Polynomial, ...], state: State) -> bool:
        """Whether all threads, and the blocks that share the loads within, go the same way."""
        turnings = self._kernel.ops.turnings(op)
        together = any(self._kernel.shares_loads(pipeline) for pipeline, _ in turnings)
        needed = Spread.CLUSTER if together else Spread.BLOCK
        if all(form.spread <= needed for form in forms):
            return True
        whom = "blocks of the cluster" if together else "threads"
        self._findings.unknown(op, f"{what} not known to be the same for all {whom}", state)
        return False

    def _if(self, op: Any, state: State) -> list[State]:
        condition = self._kernel.values.of(op.operands[0])
        blocks = [region.blocks[0] for region in op.regions if len(region.blocks)]
        branches = (*map(self._kernel.ops.of, blocks), [])[:2]
        if (known := condition.constant) is not None:
            return self._block(branches[0 if known else 1], state)
        if not self._is_uniform(op, "its condition is", (condition,), state):
            return [state]
        ends = _distinct([end for ops in branches for end in self._block(ops, state.copy())])
        return _forked(ends)

    def _for(self, op: Any, state: State) -> list[State]:
        loop = self._kernel.values.loop(op)
        if not self._is_uniform(op, "its bounds are", loop.bounds, state):
            return [state]
        if loop.trips.constant == 0:
            return [state]
        steps = LoopSteps(op, self._kernel, self._steps, self._findings)
        heads, backs = [steps.enter(state)], []
        for head in heads:
            if len(heads) > _PATHS:
                self._findings.unknown(op, "it goes round in too many ways", head)
                state.known, state.told = False, True
                return [state]
            for end in self._block(self._kernel.ops.within(op), head.copy()):
                if self._kernel.registers.are_written_by(op):
                    # What it carries is written when it comes round.
                    self._accesses.define(op.operation, end)
                back = steps.come_round(end)
                backs += [back] if back not in backs else []
                heads += [back] if back not in heads and loop.trips.constant != 1 else []
        runs = loop.trips.least is not None and loop.trips.least > 0
        ends = [end.copy() for end in (backs if runs else heads)]
        for end in ends:
            steps.leave(end)
        return _forked(_distinct(ends))


def _distinct(states: list[State]) -> list[State]:
    found: list[State] = []
    for state in states:
        if state not in found:
            found.append(state)
    return found


def _forked(states: list[State]) -> list[State]:
    """States of which no run may reach one, because what decides may depend on what decided before."""
    for state in states:
        state.forked |= len(states) > 1
    return states
