"""Follows what a role, or the whole block, does on all paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialect.bindings import ir
from ....dialect.op import SmemOp, operation_names
from ....dialect.ops import TileMma
from ....dialect.types import shape_of
from ....ir.barriers import is_block_barrier
from ....ir.subtiles import chain_of
from ..forms import Form, Spread, number, one
from ..harmless import is_harmless
from ..memory import starts_of
from ..report import at
from . import accesses, steps
from .findings import Findings
from .kernel import RING_OPS, Agent, Kernel, stages_of, within
from .spots import Extent, Side, Spot, Turning
from .state import State

#: Paths, and states at the head of a loop, that are followed.
_PATHS = 32

#: Ops that access tiles, or order accesses; ops with regions that hold none of them are passed.
_FOLLOWED = {
    *RING_OPS,
    *operation_names(TileMma),
    "smem.copy",
    "smem.copy_async",
    "smem.copy_commit",
    "smem.copy_wait",
    "smem.elect",
    "smem.fence",
    "smem.load",
    "smem.roles",
    "smem.store",
    "smem.tma_commit",
    "smem.tma_load",
    "smem.tma_store",
    "smem.tma_wait",
    "smem.wait",
    "smem.warpgroup_barrier",
}


class Walker:
    """Follows the ops of an agent.

    Attributes:
        scope: the scope of the `smem.elect` around; empty if all threads execute the ops.
        ops: all that the agent does.
        turnings: the sides of rings that it takes.
    """

    def __init__(self, kernel: Kernel, agent: Agent, ops: list[Any], findings: Findings) -> None:
        self.kernel = kernel
        self.agent = agent
        self.findings = findings
        self.scope = ""
        self.ops = ops
        self.turnings = self._turnings(ops)
        self._does: dict[str, Callable[[Any, State], None]] = {
            **dict.fromkeys((side.begins for side in Side), self._with(steps.begin)),
            **dict.fromkeys((side.ends for side in Side), self._with(steps.hand_on)),
            **dict.fromkeys(operation_names(TileMma), self._with(accesses.multiply)),
            "smem.copy": self._with(accesses.copy),
            "smem.fence": self._with(accesses.fence),
            "smem.load": self._with(accesses.load),
            "smem.store": self._with(accesses.store),
            "smem.tma_commit": self._with(accesses.commit_stores),
            "smem.tma_load": self._with(accesses.load_tile),
            "smem.tma_store": self._with(accesses.store_tile),
            "smem.tma_wait": self._with(accesses.wait_for_stores),
            "smem.wait": self._with(accesses.wait),
            "smem.warpgroup_barrier": self._with(accesses.warpgroup_barrier),
        }

    def _with(self, does: Callable[..., None]) -> Callable[[Any, State], None]:
        return lambda op, state: does(self, op, state)

    @property
    def threads(self) -> int | None:
        """How many threads execute an op here; None if that is not known."""
        if self.scope == "block":
            return 1
        count = self.agent.warpgroups
        return count if count is None or self.scope else 128 * count

    def run(self, state: State) -> list[State]:
        """The states in which the agent ends."""
        return self.block(self.ops, state)

    def block(self, ops: list[Any], state: State) -> list[State]:
        """The states in which ops end that are executed one after the other."""
        forked, states = state.forked, [state]
        for op in ops:
            states = self._few(op, [end for each in states for end in self._op(op, each)])
            if len(states) == 1:
                states[0].forked = forked
        return states

    def _op(self, op: Any, state: State) -> list[State]:
        does = self._does.get(op.name)
        if does is not None:
            does(op, state)
        elif is_block_barrier(op):
            accesses.block_barrier(self, op, state)
        elif len(op.regions) and is_followed(op):
            return self._region(op, state)
        elif op.name in _FOLLOWED:
            self.findings.unknown(op, f"'{op.name}' is not followed beside rings and roles", state)
        elif not (len(op.regions) or isinstance(op.opview, SmemOp) or is_harmless(op)):
            state.known = False
        return [state]

    def _few(self, op: Any, states: list[State]) -> list[State]:
        states = _distinct(states)
        if len(states) > _PATHS:
            self.findings.unknown(op, "it is reached on too many paths", states[0])
            return states[:1]
        return states

    # Regions.

    def _region(self, op: Any, state: State) -> list[State]:
        if op.name == "smem.map":
            return self.block(ops_of(op.regions[0]), state)
        if op.name == "smem.elect":
            return self._elect(op, state)
        if op.name == "scf.if":
            return self._if(op, state)
        if op.name == "scf.for":
            return self._for(op, state)
        reason = "how it runs them is not known"
        if op.name == "smem.roles":
            reason = "it is not at the top of the kernel, once"
        self.findings.unknown(op, reason, state)
        return [state]

    def _elect(self, op: Any, state: State) -> list[State]:
        scope = ir.StringAttr(op.attributes["scope"]).value
        alone = self.agent.whole or (self.agent.first and self.agent.warpgroups == 1)
        if self.scope or (scope == "block" and not alone):
            self.findings.unknown(op, "which threads execute it is not known", state)
            return [state]
        self.scope = scope
        ends = self.block(ops_of(op.regions[0]), state)
        self.scope = ""
        return ends

    def _is_uniform(self, op: Any, what: str, forms: tuple[Form, ...], state: State) -> bool:
        """Whether all threads, and the blocks that share the loads within, go the same way."""
        turnings = self._turnings([op])
        together = any(self.kernel.shares_loads(ring) for ring, _ in turnings)
        needed = Spread.CLUSTER if together else Spread.BLOCK
        if all(form.spread <= needed for form in forms):
            return True
        whom = "blocks of the cluster" if together else "threads"
        self.findings.unknown(op, f"{what} not known to be the same for all {whom}", state)
        return False

    def _if(self, op: Any, state: State) -> list[State]:
        condition = self.kernel.values.of(op.operands[0])
        branches = [ops_of(region) for region in op.regions if len(region.blocks)]
        branches = (*branches, [])[:2]
        if (known := condition.constant) is not None:
            return self.block(branches[0 if known else 1], state)
        if not self._is_uniform(op, "its condition is", (condition,), state):
            return [state]
        ends = _distinct([end for ops in branches for end in self.block(ops, state.copy())])
        return _forked(ends)

    def _for(self, op: Any, state: State) -> list[State]:
        values, loop = self.kernel.values, self.kernel.values.loop(op)
        if not self._is_uniform(op, "its bounds are", loop.bounds, state):
            return [state]
        if loop.trips.constant == 0:
            return [state]
        turns = self._invariants(op, state)
        heads, backs = [self._entered(state, turns)], []
        for head in heads:
            if len(heads) > _PATHS:
                self.findings.unknown(op, "it goes round in too many ways", head)
                state.known, state.told = False, True
                return [state]
            for end in self.block(ops_of(op.regions[0]), head.copy()):
                self._come_round(loop, turns, end)
                end.leaves(op)
                back = self._entered(end, turns)
                backs += [back] if back not in backs else []
                heads += [back] if back not in heads and loop.trips.constant != 1 else []
        runs = loop.trips.least is not None and loop.trips.least > 0
        ends = [end.copy() for end in (backs if runs else heads)]
        for end in ends:
            end.leaves(op)
            for turning, (_, step) in turns.items():
                after = values.replaced(step, loop.count, loop.trips)
                if after is None:
                    self.findings.unknown(op, "where it leaves a ring is not known", end)
                    after = step
                end.turns[turning] = end.turn(turning)._replace(next=after)
        return _forked(_distinct(ends))

    def _entered(self, state: State, turns: dict[Turning, tuple[Any, Form]]) -> State:
        """A state at the head of a loop: the steps that come next are those that its body begins with."""
        state = state.copy()
        for turning, (_, step) in turns.items():
            state.turns[turning] = state.turn(turning)._replace(next=step)
        return state

    def _invariants(self, op: Any, state: State) -> dict[Turning, tuple[Any, Form]]:
        """The step of each ring with which a loop's body begins, and the op that takes it; checked to
        be the next one where the loop is entered."""
        turns = {}
        values, loop = self.kernel.values, self.kernel.values.loop(op)
        for turning in self._turnings([op]):
            found = self._first_step(op.regions[0], turning)
            if found is None:
                continue
            first, step = found
            entry = values.replaced(step, loop.count, number(0))
            if entry is None:
                self.findings.unknown(first, steps.NOT_NEXT, state)
                continue
            steps.expect(self, first, state, entry)
            turns[turning] = found
        return turns

    def _come_round(self, loop: Any, turns: dict[Turning, tuple[Any, Form]], end: State) -> None:
        """Checks that the next iteration begins with the steps that come next."""
        for op, step in turns.values():
            again = self.kernel.values.replaced(step, loop.count, one(loop.count) + number(1))
            if again is None:
                self.findings.unknown(op, steps.NOT_NEXT, end)
            else:
                steps.expect(self, op, end, again)

    def _turnings(self, ops: list[Any]) -> list[Turning]:
        """The sides of rings that are taken by ops, or within them."""
        inner = (inner for op in ops for inner in (op, *within(op)))
        return list({self.kernel.turning(op): None for op in inner if op.name in RING_OPS})

    def _first_step(self, region: Any, turning: Turning) -> tuple[Any, Form] | None:
        """The first op of a region that begins a step of a ring, and the step."""
        values = self.kernel.values
        for op in (op for block in region.blocks for op in ops_in(block)):
            if op.name == turning[1].begins and self.kernel.turning(op) == turning:
                return op, values.of(op.operands[1])
            for inner in op.regions:
                found = self._first_step(inner, turning)
                if found is not None and op.name == "scf.for":
                    step = values.replaced(found[1], values.loop(op).count, number(0))
                    found = None if step is None else (found[0], step)
                if found is not None:
                    return found
        return None

    # Tiles.

    def spot(self, op: Any, tile: Any, state: State) -> Spot | None:
        """Where a tile lies, noted what is not known of it; None if that is the stage of a ring."""
        root, chain = chain_of(tile, op)
        root = root.operation
        if root.name != "smem.alloc":
            self.findings.unknown(op, f"the {at(root)} shows memory that others may write", state)
            return None
        values = self.kernel.values
        whole = (1, *shape_of(root.results[0].type))[-3:]
        starts: list[Form] = [Form(), Form(), Form()]
        turning, ago, late = None, 0, 0
        for part in chain:
            if part.operation.name == "smem.stage":
                stage = part.operation.operands[1]
                starts[0] = values.of(stage)
                turning, step = self._taken(stage)
                if turning is not None and not self._fits(op, root, turning[0], whole[0], state):
                    return None
                if turning is not None:
                    ago = self._ago(op, turning, step, state)
                else:
                    turning, ago, late = self._taken_by_number(stage, whole[0], state)
            else:
                for dim, start in starts_of(part, values.of, number):
                    starts[dim] = starts[dim] + start
        if len(shape_of(root.results[0].type)) == 2 and root in self.kernel.fills:
            writes = op.name == "smem.tma_load"
            turning = (self.kernel.fills[root], Side.PRODUCER if writes else Side.CONSUMER)
            if not self._fits(op, root, turning[0], 1, state):
                return None
            ago = 1 if state.turn(turning).held else 0
        if ago is None:
            return None
        sizes = (1, *shape_of(tile.type)[-2:])
        extents = [Extent(*each) for each in zip(starts, sizes, whole, strict=True)]
        return Spot(root, turning, ago, late, (extents[0], extents[1], extents[2]))

    def _taken_by_number(
        self, stage: Any, count: int, state: State
    ) -> tuple[Turning | None, int, int]:
        """The side of a ring that holds the step of which a stage is the remainder by the tile's
        stages, how long ago that began, and how much earlier than it a producer hands the stage on."""
        owner = stage.owner
        if isinstance(owner, ir.Block) or owner.operation.name != "arith.remui":
            return None, 0, 0
        step, by = map(self.kernel.values.of, owner.operation.operands)
        for turning in self.turnings if by.constant == count else ():
            ring, side = turning
            turn, late = state.turn(turning), stages_of(ring) - count
            # A producer's stage is that of the consumers' step which made it empty.
            late, since = (late, (late, late + count)) if side is Side.PRODUCER else (0, (0,))
            for further in since:
                ago = (turn.next - step - number(further)).constant
                if ago is not None and 1 <= ago <= turn.held - late and stages_of(ring) >= count:
                    return turning, ago, late
        return None, 0, 0

    def _taken(self, stage: Any) -> tuple[Turning | None, Form]:
        """The side of a ring that gives a stage, and for which step."""
        owner = stage.owner
        if not isinstance(owner, ir.Block):
            op = owner.operation
            if op.name in (side.begins for side in Side):
                return self.kernel.turning(op), self.kernel.values.of(op.operands[1])
        return None, Form()

    def _ago(self, op: Any, turning: Turning, step: Form, state: State) -> int | None:
        ago = (state.turn(turning).next - step).constant
        if ago is None:
            self.findings.unknown(op, "it is not known of which step its stage is", state)
        return ago

    def _fits(self, op: Any, root: Any, ring: Any, stages: int, state: State) -> bool:
        """Whether a tile has as many stages as the ring that gives one."""
        count = stages_of(ring)
        if stages < count:
            self.findings.wrong(
                op,
                f"takes one of {count} stages of the {at(ring)} from the {at(root)}, which has "
                f"{stages}; give both as many",
                state.certain and stages > 1,
                state,
            )
        elif stages > count:
            self.findings.unknown(
                op,
                f"the {at(root)} has {stages} stages, the {at(ring)} {count}; give both as many",
                state,
            )
        return stages == count


def ops_of(region: Any) -> list[Any]:
    """The ops of a region's only block."""
    return ops_in(region.blocks[0])


def ops_in(block: Any) -> list[Any]:
    """The ops of a block."""
    return [op.operation for op in block.operations]


def is_followed(op: Any) -> bool:
    """Whether an op, or one within it, accesses tiles or orders accesses."""
    return any(i.name in _FOLLOWED or is_block_barrier(i) for i in (op, *within(op)))


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
