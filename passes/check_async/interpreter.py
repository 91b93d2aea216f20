"""Abstract interpretation of a program: follows its integers, and finds hazards between accesses."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ...dialect.effects import Proxy
from ...dialect.irtypes import Op
from ...dialect.op import SmemOp
from .global_memory import by_same_threads
from .integers import UNKNOWN, VARIES, Integer, join, less, plus, select
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
from .rectangles import Env, Rectangle
from .state import Read, State, Write

#: The most paths, and states at a loop's head, that are distinguished by their integers; more are joined.
_PATHS = 16
_HEADS = 256


#: Why it is not known whether two accesses are a hazard.
SAME_BYTES = "it is not known whether they share bytes"
SAME_THREADS = "it is not known whether the same threads write the same bytes"


@dataclass(frozen=True)
class Hazard:
    """An access that begins while an earlier one may not be complete (RAW, WAR or WAW).

    Attributes:
        op: the op that begins.
        rectangle: the tile that it accesses, or that the earlier access does.
        writes: whether it writes.
        earlier: the earlier access.
        age: how many groups came after the earlier access's group; None if that is complete.
        unsure: why it is not known whether the two are a hazard; empty if they are, on this path.
        proxy: the proxy by which `op` accesses them.
        trail: the enclosing loops, each with the number of its iteration.
    """

    op: Op
    rectangle: Rectangle
    writes: bool
    earlier: Write | Read
    age: int | None
    unsure: str
    trail: tuple[tuple[For, int], ...]
    proxy: Proxy


class Interpreter:
    """Follows all paths of a program, and reports the hazards on any of them.

    Paths are joined where their integers are the same. So the analysis of a loop terminates: the
    integers that it carries are kept exactly at first, then widened to residues, of which there are
    finitely many; once an iteration adds no new state at the loop's head, no later one does.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.furthest = program.furthest
        self.trail: list[tuple[For, int]] = []
        self._transfers: dict[type, Callable[..., None]] = {
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
        """Run the whole program."""
        self._block(self.program.body, State())

    # Hooks of the two analyses; see `prove`.

    def report(self, hazard: Hazard) -> None:
        """Take a hazard that was found."""
        raise NotImplementedError

    def skip(self, op: Op, reason: str) -> None:
        """Take an op whose accesses are not followed."""

    def given(self, step: Given) -> Integer:
        """Return an integer that the launch decides."""
        return UNKNOWN

    def pass_other(self, step: Other, state: State) -> None:
        """Follow an op that may order accesses."""
        state.maybe_order(step.op)

    def unknown_branch(self) -> None:
        """Continue where a branch may take both ways."""

    def widened(self, integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
        """Return the integers that are kept at the head of a loop."""
        return tuple(x.widened(self.program.modulus, self.program.bound) for x in integers)

    def spend(self, steps: int) -> None:
        """Note that `steps` steps are about to be run."""

    # Straight-line code.

    def _block(self, block: Block, state: State) -> list[State]:
        """Return the states in which a block ends."""
        self.spend(len(block.steps))
        states = [state]
        for step in block.steps:
            transfer = self._transfers.get(type(step))
            if transfer:
                for each in states:
                    transfer(step, each)
            else:
                follow: Callable = self._if if isinstance(step, If) else self._for
                states = self._limited([end for each in states for end in follow(step, each)])
        return states

    def _let(self, step: Let, state: State) -> None:
        env = state.env
        env[step.result] = step.compute(*_values(step.operands, env))

    def _given(self, step: Given, state: State) -> None:
        state.env[step.result] = self.given(step)

    def _copy(self, step: Copy, state: State) -> None:
        rectangle = step.target.evaluate(state.env)
        for other, read in state.hazards_of_write(rectangle):
            age = None if read.group is None else state.mma_groups - 1 - read.group
            self._report(step, rectangle, other, read, age, Proxy.GENERIC)
        for other, write in state.hazards_of_threads(rectangle):
            if other.allocation.of_global:
                # Which of two writes of an element of an array is the last is left to the author.
                continue
            # An op that is executed again gives each thread the same bytes, which it writes in order.
            complete, same = write.group is None, rectangle.equals(other)
            if complete and same and write.op == step.op and not write.several:
                continue
            ordered = complete and not (same and have_different_scopes(write.op, step.op))
            unsure = SAME_THREADS if ordered else ""
            self._report_write(step, rectangle, other, write, Proxy.GENERIC, state, unsure)
        state.write(step.op, rectangle, step.asynchronous)

    def _mma(self, step: Mma, state: State) -> None:
        rectangles = [source.evaluate(state.env) for source in step.sources]
        for rectangle in rectangles:
            for other, write in state.hazards_of_mma(rectangle):
                self._report_write(step, rectangle, other, write, Proxy.ASYNC, state)
        state.read(step.op, rectangles)

    def _load(self, step: Load, state: State) -> None:
        for source in step.sources:
            rectangle = source.evaluate(state.env)
            for other, write in state.hazards_of_threads(rectangle):
                self._report_write(step, rectangle, other, write, Proxy.GENERIC, state)
            state.read_by_threads(step.op, rectangle)

    def _define(self, step: Define, state: State) -> None:
        rectangle = step.target.evaluate(state.env)
        for other, read in state.hazards_of_write(rectangle):
            if read.group is not None:
                age = state.mma_groups - 1 - read.group
                self._report(step, rectangle, other, read, age, Proxy.GENERIC)

    def _report_write(
        self,
        step: _Access,
        rectangle: Rectangle,
        other: Rectangle,
        write: Write,
        proxy: Proxy,
        state: State,
        unsure: str = "",
    ) -> None:
        age = None if write.group is None else state.copy_groups - 1 - write.group
        self._report(step, rectangle, other, write, age, proxy, unsure)

    def _report(
        self,
        step: _Access,
        rectangle: Rectangle,
        other: Rectangle,
        earlier: Write | Read,
        age: int | None,
        proxy: Proxy,
        unsure: str = "",
    ) -> None:
        if rectangle.allocation.of_memref and other.allocation.of_memref:
            # Neither is an access of a tile; hazards between ops of other dialects are not checked.
            return
        if rectangle.allocation.of_global and (
            (by_same_threads(step.op, earlier.op) and not earlier.several)
            or (not isinstance(step.op, SmemOp) and not isinstance(earlier.op, SmemOp))
        ):
            return
        writes = isinstance(step, (Copy, Define))
        unsure = unsure if rectangle.overlaps(other) else SAME_BYTES
        of_tile = other if rectangle.allocation.of_memref else rectangle
        trail = tuple(self.trail)
        self.report(Hazard(step.op, of_tile, writes, earlier, age, unsure, trail, proxy))

    def _skip(self, step: If | For | Opaque, state: State, reason: str) -> None:
        self.skip(step.op, reason)
        state.forget()

    # Branches and loops.

    def _if(self, step: If, state: State) -> list[State]:
        condition = state.env.get(step.condition, VARIES)
        taken = (1, 0) if condition.exact is None else (int(condition.exact != 0),)
        branches = [step.branches[1 - each] for each in taken]
        if not any(branch.synchronizes for branch in branches):
            return [self._select(step, condition, branches, state)]
        if not condition.uniform:
            self._skip(step, state, "its condition is not known to be the same for all threads")
            return [state]
        if len(branches) == 2:
            self.unknown_branch()
        ends: _Paths = {}
        for branch in branches:
            for end in self._block(branch, state.copy(dict(state.env))):
                self._arrive(ends, _values(branch.yields, end.env), end)
        return _leave(state.env, step.results, ends)

    def _select(self, step: If, condition: Integer, branches: list[Block], state: State) -> State:
        """Follow branches without accesses, which only select integers."""
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
        """Return the states in which a loop may end, by the integers that it yields."""
        lower, upper, by = _values(step.bounds, state.env)
        if by.exact is not None and by.exact <= 0:
            self.unknown_branch()
        start = self.widened((lower, *_values(step.initial, state.env)))
        heads: _Paths = {}
        ends: _Paths = {}
        self._arrive(heads, start, state)
        work, iteration = deque([start]), 0
        while work:
            values = work.popleft()
            continues = less(values[0], upper).exact
            if continues is None:
                self.unknown_branch()
            if continues != 1:
                self._arrive(ends, values[1:], heads[values])
            if continues == 0:
                continue
            inner = dict(zip((step.induction, *step.carried), values, strict=True))
            self.trail.append((step, iteration))
            for end in self._block(step.body, heads[values].copy({**state.env, **inner})):
                following = (plus(values[0], by), *_values(step.body.yields, end.env))
                following = self.widened(following) if len(heads) < _HEADS else _unknown(following)
                if self._arrive(heads, following, end) and following not in work:
                    work.append(following)
            self.trail.pop()
            iteration += 1
        return ends

    def _limited(self, states: list[State]) -> list[State]:
        """Return the same states; if there are too many, one that is the join of all."""
        if len(states) <= _PATHS:
            return states
        first, *others = [state.counted_from(self.furthest) for state in states]
        for other in others:
            first.join(other)
            for x, integer in first.env.items():
                first.env[x] = join(integer, other.env.get(x, VARIES))
        return [first]

    def _arrive(self, states: _Paths, values: tuple[Integer, ...], state: State) -> bool:
        """Join a state with those with the same integers; return whether that changed them."""
        counted = state.counted_from(self.furthest)
        if values in states:
            return states[values].join(counted)
        states[values] = counted
        return True


#: A step that accesses tiles.
_Access = Copy | Define | Load | Mma

#: States by the integers with which they arrived somewhere.
_Paths = dict[tuple[Integer, ...], State]


def have_different_scopes(one: Op, other: Op) -> bool:
    """Whether two ops write the same bytes by different threads.

    All threads of the CTA share the bytes of one; each warpgroup writes what it holds in the other.
    """
    scopes = [op.effects.scope for op in (one, other) if isinstance(op, SmemOp)]
    return len(set(scopes)) > 1


def _values(numbers: tuple[int, ...], env: Env) -> tuple[Integer, ...]:
    return tuple(env.get(x, VARIES) for x in numbers)


def _unknown(integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
    return tuple(UNKNOWN if x.uniform else VARIES for x in integers)


def _leave(env: Env, results: tuple[int, ...], ends: _Paths) -> list[State]:
    """Return the states after an op, one for each path through it."""
    return [
        end.copy({**env, **dict(zip(results, values, strict=False))})
        for values, end in ends.items()
    ]
