"""Runs a program on what is known of its integers, and watches the accesses that are not over."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...dialect.effects import Proxy
from ...dialect.op import SmemOp
from .hazards import Read, State, Write
from .integers import UNKNOWN, VARIES, Integer, joined, less, plus, select
from .program import (
    Barrier,
    Block,
    Commit,
    Copy,
    CopyWait,
    Define,
    Fence,
    For,
    Given,
    If,
    Let,
    Load,
    Mma,
    Opaque,
    Other,
    Program,
    Wait,
)
from .regions import Env, Region

#: Paths that are told apart by their integers, and loop heads; more are taken together.
_PATHS = 16
_HEADS = 256


#: Why two accesses may be in order after all.
_SAME_BYTES = "it is not known whether they share bytes"
_SAME_THREADS = "it is not known whether the same threads write the same bytes"


@dataclass(frozen=True)
class Conflict:
    """An access that begins while another may not be over.

    Attributes:
        op: what begins.
        region: the part of a tile that it accesses, or that the other does.
        writes: whether it writes.
        other: the access that it meets.
        age: how many groups lie between the other's and the latest; None if it is complete.
        unsure: why it is not known that the two are in conflict; empty if they are, on this path.
        proxy: the way by which what begins accesses them.
        trail: the loops around, each with the number of its iteration.
    """

    op: Any
    region: Region
    writes: bool
    other: Write | Read
    age: int | None
    unsure: str
    trail: tuple[tuple[For, int], ...]
    proxy: Proxy


class Machine:
    """Follows all paths of a program at once, and reports what may go wrong on any of them.

    Paths that meet are one from there on if their integers are the same. So a loop is closed: the
    integers that it carries are kept exactly at first, then as rests, of which there are finitely
    many; once nothing new comes back to its head, every further iteration is like one before.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.furthest = program.furthest
        self.trail: list[tuple[For, int]] = []
        self._does: dict[type, Callable[[Any, State], None]] = {
            Let: self._let,
            Given: self._given,
            Copy: self._copy,
            Load: self._load,
            Define: self._define,
            Mma: self._mma,
            Commit: lambda _, state: state.commit(),
            CopyWait: lambda step, state: state.wait_for_copies(step.pending),
            Fence: lambda _, state: state.fence(),
            Barrier: lambda _, state: state.barrier(),
            Wait: lambda step, state: state.wait_for_mma(step.pending),
            Other: self.pass_other,
            Opaque: lambda step, state: self._skip(step, state, step.reason),
        }

    def run(self) -> None:
        """Runs the whole program."""
        self._block(self.program.body, State())

    # What is done with what is found; see `prove`.

    def meet(self, conflict: Conflict) -> None:
        """Takes an access that begins while another may not be over."""
        raise NotImplementedError

    def skip(self, op: Any, reason: str) -> None:
        """Takes an op whose accesses are not followed."""

    def given(self, step: Given) -> Integer:
        """An integer that the launch decides."""
        return UNKNOWN

    def pass_other(self, step: Other, state: State) -> None:
        """Passes an op that may order accesses."""
        state.doubt(step.op)

    def unknown(self) -> None:
        """Goes on where a branch may go both ways."""

    def kept(self, integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
        """What is remembered of integers at the head of a loop."""
        return tuple(x.widened(self.program.modulus, self.program.bound) for x in integers)

    def spend(self, steps: int) -> None:
        """Notes that so many steps are about to be run."""

    # Straight-line code.

    def _block(self, block: Block, state: State) -> list[State]:
        """The states in which a block ends."""
        self.spend(len(block.steps))
        states = [state]
        for step in block.steps:
            does = self._does.get(type(step))
            if does:
                for each in states:
                    does(step, each)
            else:
                follow: Any = self._if if isinstance(step, If) else self._for
                states = self._few([end for each in states for end in follow(step, each)])
        return states

    def _let(self, step: Let, state: State) -> None:
        env = state.env
        env[step.result] = step.compute(*_values(step.operands, env))

    def _given(self, step: Given, state: State) -> None:
        state.env[step.result] = self.given(step)

    def _copy(self, step: Copy, state: State) -> None:
        region = step.place.region(state.env)
        for other, read in state.unfinished(region):
            age = None if read.group is None else state.mma_groups - 1 - read.group
            self._report(step, region, other, read, age, Proxy.GENERIC)
        for other, write in state.unmet(region):
            # An op gives each thread the same bytes again, which the thread writes in order.
            complete, same = write.group is None, region.is_same(other)
            if complete and same and write.op == step.op:
                continue
            apart = complete and not (same and _share_out_differently(write.op, step.op))
            unsure = _SAME_THREADS if apart else ""
            self._report_write(step, region, other, write, Proxy.GENERIC, state, unsure)
        state.write(step.op, region, step.asynchronous)

    def _mma(self, step: Mma, state: State) -> None:
        regions = [place.region(state.env) for place in step.places]
        for region in regions:
            for other, write in state.unsettled(region):
                self._report_write(step, region, other, write, Proxy.ASYNC, state)
        state.read(step.op, regions)

    def _load(self, step: Load, state: State) -> None:
        for place in step.places:
            region = place.region(state.env)
            for other, write in state.unmet(region):
                self._report_write(step, region, other, write, Proxy.GENERIC, state)
            state.read_by_threads(step.op, region)

    def _define(self, step: Define, state: State) -> None:
        region = step.place.region(state.env)
        for other, read in state.unfinished(region):
            if read.group is not None:
                age = state.mma_groups - 1 - read.group
                self._report(step, region, other, read, age, Proxy.GENERIC)

    def _report_write(
        self,
        step: _Access,
        region: Region,
        other: Region,
        write: Write,
        proxy: Proxy,
        state: State,
        unsure: str = "",
    ) -> None:
        age = None if write.group is None else state.copy_groups - 1 - write.group
        self._report(step, region, other, write, age, proxy, unsure)

    def _report(
        self,
        step: _Access,
        region: Region,
        other: Region,
        hazard: Write | Read,
        age: int | None,
        proxy: Proxy,
        unsure: str = "",
    ) -> None:
        if region.allocation.of_memref and other.allocation.of_memref:
            # Nothing of a tile; what other dialects' ops do to each other is not looked at.
            return
        writes, unsure = (
            isinstance(step, (Copy, Define)),
            unsure if region.meets(other) else _SAME_BYTES,
        )
        of_tile = other if region.allocation.of_memref else region
        trail = tuple(self.trail)
        self.meet(Conflict(step.op, of_tile, writes, hazard, age, unsure, trail, proxy))

    def _skip(self, step: Any, state: State, reason: str) -> None:
        self.skip(step.op, reason)
        state.forget()

    # Branches and loops.

    def _if(self, step: If, state: State) -> list[State]:
        condition = state.env.get(step.condition, VARIES)
        ways = (1, 0) if condition.exact is None else (int(condition.exact != 0),)
        branches = [step.branches[1 - way] for way in ways]
        if not any(branch.synchronizes for branch in branches):
            return [self._select(step, condition, branches, state)]
        if not condition.uniform:
            self._skip(step, state, "its condition is not known to be the same for all threads")
            return [state]
        if len(branches) == 2:
            self.unknown()
        ends: _Paths = {}
        for branch in branches:
            for end in self._block(branch, state.copy(dict(state.env))):
                self._arrive(ends, _values(branch.yields, end.env), end)
        return _leave(state.env, step.results, ends)

    def _select(self, step: If, condition: Integer, branches: list[Block], state: State) -> State:
        """Branches that access nothing only choose integers."""
        chosen = []
        for branch in branches:
            (state,) = self._block(branch, state)
            chosen.append(_values(branch.yields, state.env))
        for result, *values in zip(step.results, *chosen, strict=False):
            state.env[result] = select(condition, values[0], values[-1])
        return state

    def _for(self, step: For, state: State) -> list[State]:
        if not step.body.synchronizes:
            return self._block(step.body, state)
        if not all(x.uniform for x in _values(step.bounds, state.env)):
            self._skip(step, state, "its bounds are not known to be the same for all threads")
            return [state]
        return _leave(state.env, step.results, self._iterate(step, state))

    def _iterate(self, step: For, state: State) -> _Paths:
        """The states in which a loop may end, by the integers that it hands on."""
        lower, upper, by = _values(step.bounds, state.env)
        if by.exact is not None and by.exact <= 0:
            self.unknown()
        start = self.kept((lower, *_values(step.initial, state.env)))
        heads: _Paths = {}
        ends: _Paths = {}
        self._arrive(heads, start, state)
        work, iteration = deque([start]), 0
        while work:
            values = work.popleft()
            goes_on = less(values[0], upper).exact
            if goes_on is None:
                self.unknown()
            if goes_on != 1:
                self._arrive(ends, values[1:], heads[values])
            if goes_on == 0:
                continue
            inner = dict(zip((step.induction, *step.carried), values, strict=True))
            self.trail.append((step, iteration))
            for end in self._block(step.body, heads[values].copy({**state.env, **inner})):
                following = (plus(values[0], by), *_values(step.body.yields, end.env))
                following = self.kept(following) if len(heads) < _HEADS else _unknown(following)
                if self._arrive(heads, following, end) and following not in work:
                    work.append(following)
            self.trail.pop()
            iteration += 1
        return ends

    def _few(self, states: list[State]) -> list[State]:
        """The same states, or one that stands for all if there are many."""
        if len(states) <= _PATHS:
            return states
        first, *others = [state.counted_from(self.furthest) for state in states]
        for other in others:
            first.join(other)
            for x, integer in first.env.items():
                first.env[x] = joined(integer, other.env.get(x, VARIES))
        return [first]

    def _arrive(self, states: _Paths, values: tuple[Integer, ...], state: State) -> bool:
        """Joins a state with those that arrived with the same integers; whether that is news."""
        counted = state.counted_from(self.furthest)
        if values in states:
            return states[values].join(counted)
        states[values] = counted
        return True


#: A step that accesses tiles.
_Access = Copy | Define | Load | Mma

#: States by the integers with which they arrived somewhere.
_Paths = dict[tuple[Integer, ...], State]


def _share_out_differently(one: Any, other: Any) -> bool:
    """Whether two ops that write the same bytes do so by other threads: all of the block take turns in
    the one, each warpgroup writes what it holds in the other."""
    scopes = [op.effects.scope for op in (one, other) if isinstance(op, SmemOp)]
    return len(set(scopes)) > 1


def _values(numbers: tuple[int, ...], env: Env) -> tuple[Integer, ...]:
    return tuple(env.get(x, VARIES) for x in numbers)


def _unknown(integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
    return tuple(UNKNOWN if x.uniform else VARIES for x in integers)


def _leave(env: Env, results: tuple[int, ...], ends: _Paths) -> list[State]:
    """The states after an op, one for each path by which it was left."""
    return [
        end.copy({**env, **dict(zip(results, values, strict=False))})
        for values, end in ends.items()
    ]
