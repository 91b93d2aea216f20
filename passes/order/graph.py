"""The graph of all runs of a program, as far as its integers tell them apart.

Which runs there are does not depend on synchronization. So the graph is built once: a node is a straight
segment of the program for one set of known integers. Ops that order accesses can then be inserted into a
segment, and are on all runs through it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...bindings.irtypes import Op
from .function_ops import Entry, FunctionOps
from .integers import UNKNOWN, VARIES, Integer, join, less, plus, select
from .program import (
    BulkRead,
    ComputedInteger,
    ElectRegion,
    ForRegion,
    IfRegion,
    KernelEnd,
    LaunchInteger,
    MemoryWrite,
    MmaRead,
    Opaque,
    RegisterWrite,
    Step,
    StepBlock,
    StepProgram,
    ThreadRead,
    WhileRegion,
)
from .rectangles import Env, Rectangle

#: The most paths, and the most states at a loop's head, with different integers; more are joined.
_PATHS = 16
_HEADS = 256

#: The most ops of a segment: a question about a long kernel reads only a part of it.
_LENGTH = 64

#: A step that accesses tiles or registers, or memory that tiles view.
Access = MemoryWrite | RegisterWrite | ThreadRead | MmaRead | BulkRead | KernelEnd


class Segment:
    """Ops of a block that no branch, loop or election separates.

    Args:
        begin: the entry before its first op.
        end: its last op, which is never removed; or the branch, loop or end of the block after it.
        first: the last steps of a branch or loop before it.
    """

    def __init__(self, begin: Entry, end: Entry, first: Sequence[Step] = ()) -> None:
        self._begin = begin
        self._end = end
        self._first = first
        self._steps: list[Step] | None = None
        self._positions: dict[Step, int] = {}
        #: Answers to questions about its current steps.
        self.known: dict[Hashable, Any] = {}

    @property
    def steps(self) -> list[Step]:
        """The steps of its ops, without those on integers."""
        if self._steps is None:
            self._steps, entry = [*self._first], self._begin.next
            while entry is not self._end:
                self._steps += entry.steps
                entry = entry.next
            if self._end.segment is self:
                self._steps += self._end.steps
            self._positions = {}
        return self._steps

    @property
    def positions(self) -> dict[Step, int]:
        """The position of each step."""
        steps = self.steps
        if not self._positions:
            self._positions = {step: position for position, step in enumerate(steps)}
        return self._positions

    def invalidate(self) -> None:
        """Forget the steps, and the answers: its ops have changed."""
        self._steps = None
        self.known.clear()


#: A part of a block.
Part = Segment | IfRegion | ForRegion | WhileRegion | ElectRegion

#: A step with regions.
Region = IfRegion | ForRegion | WhileRegion | ElectRegion


class Segments:
    """The segments of a program.

    Args:
        ops: the ops of its function; their entries receive their steps and segments.
    """

    def __init__(self, ops: FunctionOps) -> None:
        self._ops = ops
        self._parts: dict[StepBlock, list[Part]] = {}
        #: The original steps of each segment, with those on integers.
        self.steps: dict[Segment, list[Step]] = {}

    def parts_of(self, block: StepBlock) -> list[Part]:
        """Return the segments of a block, and the branches, loops and elections between them."""
        if block not in self._parts:
            self._parts[block] = [*self._new_parts(block)]
        return self._parts[block]

    def _new_parts(self, block: StepBlock) -> Iterator[Part]:
        entries = [self._ops.entry(op) for op, _ in block.by_op if op in self._ops]
        begin = end = self._ops.end(entries[0].block) if entries else Entry(None, None)
        first: list[Step] = []
        within: list[Entry] = []
        followed: list[Step] = []

        def segment(last: Entry) -> Segment:
            ended = Segment(begin, last, first)
            self.steps[ended] = [*followed]
            for member in within:
                member.segment = ended
            within.clear()
            followed.clear()
            return ended

        for op, steps in block.by_op:
            if op not in self._ops:  # the function, with its arguments
                followed += steps
                continue
            entry = self._ops.entry(op)
            within.append(entry)
            control = next(
                (step for step in steps if isinstance(step, Region)),
                None,
            )
            if control is not None:
                yield segment(entry)
                yield control
                begin, first = entry, [step for step in steps if step is not control]
                followed += first
                continue
            followed += steps
            entry.steps = [
                step for step in steps if not isinstance(step, ComputedInteger | LaunchInteger)
            ]
            if len(within) >= _LENGTH and any(isinstance(step, Access) for step in steps):
                yield segment(entry)
                begin, first = entry, []
        within.append(end)
        yield segment(end)


class AccessedBytes(NamedTuple):
    """The bytes of an access of a node.

    Attributes:
        step: the access.
        position: its position among the accesses of the node.
        rectangles: the bytes.
    """

    step: Access
    position: int
    rectangles: tuple[Rectangle, ...]


@dataclass(eq=False)
class RunNode:
    """A segment for known integers.

    Attributes:
        segment: the segment; None for the head of a loop, and where accesses are not followed.
        number: the nodes are numbered as runs reach them first.
        trail: the loops around it, each with the number of its iteration.
        forgets: whether accesses before it are followed no further.
        accesses: the bytes of its accesses.
        successors: the nodes that may follow.
    """

    segment: Segment | None
    number: int
    trail: tuple[tuple[Op, int], ...]
    forgets: bool = False
    accesses: dict[Step, AccessedBytes] = field(default_factory=dict)
    successors: list[RunNode] = field(default_factory=list)


class _Path(NamedTuple):
    """A path to a program point: what is known of integers there, and the nodes before it."""

    env: Env
    ends: list[RunNode]


class StoppedError(Exception):
    """A run is followed no further."""


class RunGraph:
    """All runs of a program.

    Paths are joined where their integers are the same. The integers that a loop carries are exact at
    first, then widened to residues, of which there are finitely many.

    Args:
        program: the program.
        segments: its segments.

    Attributes:
        nodes: in the order of their numbers.
        skipped: ops with accesses that are not followed, with the reason.
    """

    def __init__(self, program: StepProgram, segments: Segments) -> None:
        self._program = program
        self._segments = segments
        self._trail: list[tuple[Op, int]] = []
        self.nodes: list[RunNode] = []
        self.skipped: dict[Op, str] = {}
        with suppress(StoppedError):
            self._block(program.body, _Path({}, []))

    # Hooks of the runs that are followed; see `prove`.

    def launch_integer(self, step: LaunchInteger) -> Integer:
        """Return an integer that the launch decides."""
        return UNKNOWN

    def unknown_branch(self) -> None:
        """Note a branch whose condition is not known; both ways are followed."""

    def widen(self, integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
        """Return the abstraction of integers at the head of a loop."""
        return tuple(x.widen(self._program.modulus, self._program.bound) for x in integers)

    def spend(self, steps: int) -> None:
        """Note that a number of steps is about to be followed."""

    def _node(
        self, segment: Segment | None, before: list[RunNode], forgets: bool = False
    ) -> RunNode:
        node = RunNode(segment, len(self.nodes), tuple(self._trail), forgets)
        self.nodes.append(node)
        for predecessor in before:
            predecessor.successors.append(node)
        return node

    # Straight-line code.

    def _block(self, block: StepBlock, path: _Path) -> list[_Path]:
        """Return the paths to the end of a block."""
        paths = [path]
        for part in self._segments.parts_of(block):
            if isinstance(part, Segment):
                paths = [self._enter(part, before) for before in paths]
            else:
                paths = _join_many([end for before in paths for end in self._region(part, before)])
        return paths

    def _enter(self, segment: Segment, path: _Path) -> _Path:
        node, env = self._node(segment, path.ends), path.env
        self.spend(len(self._segments.steps[segment]))
        for step in self._segments.steps[segment]:
            if isinstance(step, ComputedInteger):
                env[step.result] = step.compute(*_values(step.operands, env))
            elif isinstance(step, LaunchInteger):
                env[step.result] = self.launch_integer(step)
            elif isinstance(step, Access):
                touched = (
                    (step.target,)
                    if isinstance(step, MemoryWrite | RegisterWrite)
                    else step.sources
                )
                rectangles = tuple(symbolic.evaluate(env) for symbolic in touched)
                node.accesses[step] = AccessedBytes(step, len(node.accesses), rectangles)
            elif isinstance(step, Opaque):
                self.skipped[step.op] = step.reason
        return _Path(env, [node])

    def _skip(self, op: Op, path: _Path, reason: str) -> list[_Path]:
        self.skipped[op] = reason
        return [_Path(path.env, [self._node(None, path.ends, forgets=True)])]

    # Branches, loops and elections.

    def _region(self, step: Region, path: _Path) -> list[_Path]:
        if isinstance(step, ElectRegion):
            return self._block(step.body, path)
        if isinstance(step, WhileRegion):
            return self._while(step, path)
        return self._if(step, path) if isinstance(step, IfRegion) else self._for(step, path)

    def _if(self, step: IfRegion, path: _Path) -> list[_Path]:
        condition = path.env.get(step.condition, VARIES)
        outcomes = (1, 0) if condition.exact is None else (int(condition.exact != 0),)
        branches = [step.branches[1 - outcome] for outcome in outcomes]
        if not any(branch.synchronizes for branch in branches):
            return [self._select(step, condition, branches, path)]
        if not condition.uniform:
            reason = "its condition is not known to be the same for all threads"
            return self._skip(step.op, path, reason)
        if len(branches) == 2:
            self.unknown_branch()
        ends: dict[tuple[Integer, ...], list[RunNode]] = {}
        for branch in branches:
            for end in self._block(branch, _Path(dict(path.env), path.ends)):
                ends.setdefault(_values(branch.yields, end.env), []).extend(end.ends)
        return _leave(path.env, step.results, ends)

    def _select(
        self, step: IfRegion, condition: Integer, branches: list[StepBlock], path: _Path
    ) -> _Path:
        """Follow branches without accesses of tiles, which only select integers."""
        chosen = []
        for branch in branches:
            (path,) = self._block(branch, path)
            chosen.append(_values(branch.yields, path.env))
        for result, *values in zip(step.results, *chosen, strict=False):
            path.env[result] = select(condition, values[0], values[-1])
        return path

    def _for(self, step: ForRegion, path: _Path) -> list[_Path]:
        if not step.body.synchronizes:
            return self._block(step.body, path)
        if not all(x.uniform for x in _values(step.bounds, path.env)):
            reason = "its bounds are not known to be the same for all threads"
            return self._skip(step.op, path, reason)
        return _leave(path.env, step.results, self._iterate(step, path))

    def _iterate(self, step: ForRegion, path: _Path) -> dict[tuple[Integer, ...], list[RunNode]]:
        """Return the nodes after which a loop may end, by the integers that it yields."""
        lower, upper, by = _values(step.bounds, path.env)
        numbers = (step.induction, *step.carried)
        if by.exact is not None and by.exact <= 0:
            self.unknown_branch()
        # What is compared with an end of which nothing is known need not be told apart.
        may_end = (
            {step.induction} if upper.exact is not None or upper.lower_bound is not None else set()
        )
        relevant = self._program.relevant | may_end
        start = self._head(numbers, (lower, *_values(step.initial, path.env)), relevant)
        heads = {start: self._node(None, path.ends)}
        ends: dict[tuple[Integer, ...], list[RunNode]] = {}
        work, iteration = deque([start]), 0
        while work:
            values = work.popleft()
            continues = less(values[0], upper).exact
            if continues is None:
                self.unknown_branch()
            if continues != 1:
                ends.setdefault(values[1:], []).append(heads[values])
            if continues == 0:
                continue
            inner = dict(zip(numbers, values, strict=True))
            self._trail.append((step.op, iteration))
            for end in self._block(step.body, _Path({**path.env, **inner}, [heads[values]])):
                next_values = (plus(values[0], by), *_values(step.body.yields, end.env))
                self._repeat(numbers, next_values, relevant, end.ends, heads, work)
            self._trail.pop()
            iteration += 1
        return ends

    def _head(
        self, numbers: tuple[int, ...], values: tuple[Integer, ...], relevant: frozenset[int]
    ) -> tuple[Integer, ...]:
        """Return the abstraction of integers at the head of a loop: those that do not matter are not
        told apart."""
        pairs = zip(numbers, self.widen(values), strict=False)
        return tuple(x if i in relevant else _unknown((x,))[0] for i, x in pairs)

    def _repeat(
        self,
        numbers: tuple[int, ...],
        values: tuple[Integer, ...],
        relevant: frozenset[int],
        before: list[RunNode],
        heads: dict[tuple[Integer, ...], RunNode],
        work: deque[tuple[Integer, ...]],
    ) -> None:
        """Begin the next iteration of a loop with some integers, at a new head if there is none."""
        values = self._head(numbers, values, relevant) if len(heads) < _HEADS else _unknown(values)
        if values in heads:
            for node in before:
                node.successors.append(heads[values])
        else:
            heads[values] = self._node(None, before)
            work.append(values)

    def _while(self, step: WhileRegion, path: _Path) -> list[_Path]:
        if not step.before.synchronizes and not step.after.synchronizes:
            return [
                p for end in self._block(step.before, path) for p in self._block(step.after, end)
            ]
        relevant = self._program.relevant
        start = self._head(step.carried, _values(step.initial, path.env), relevant)
        heads = {start: self._node(None, path.ends)}
        ends: dict[tuple[Integer, ...], list[RunNode]] = {}
        work, iteration = deque([start]), 0
        while work:
            values = work.popleft()
            inner = dict(zip(step.carried, values, strict=True))
            self._trail.append((step.op, iteration))
            for end in self._block(step.before, _Path({**path.env, **inner}, [heads[values]])):
                condition = end.env.get(step.condition, VARIES)
                if not condition.uniform:
                    self._trail.pop()
                    reason = "its condition is not known to be the same for all threads"
                    return self._skip(step.op, path, reason)
                if condition.exact is None:
                    self.unknown_branch()
                forwarded = _values(step.before.yields, end.env)
                if not condition.exact:
                    ends.setdefault(forwarded, []).extend(end.ends)
                if condition.exact == 0:
                    continue
                inner = dict(zip(step.forwarded, forwarded, strict=True))
                for last in self._block(step.after, _Path({**end.env, **inner}, end.ends)):
                    yielded = _values(step.after.yields, last.env)
                    self._repeat(step.carried, yielded, relevant, last.ends, heads, work)
            self._trail.pop()
            iteration += 1
        return _leave(path.env, step.results, ends)


def _join_many(paths: list[_Path]) -> list[_Path]:
    """Return the paths, or the join of all if there are too many."""
    if len(paths) <= _PATHS:
        return paths
    first, *others = paths
    for other in others:
        first.ends.extend(other.ends)
        for x, integer in first.env.items():
            first.env[x] = join(integer, other.env.get(x, VARIES))
    return [first]


def _values(numbers: tuple[int, ...], env: Env) -> tuple[Integer, ...]:
    return tuple(env.get(x, VARIES) for x in numbers)


def _unknown(integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
    return tuple(UNKNOWN if x.uniform else VARIES for x in integers)


def _leave(
    env: Env, results: tuple[int, ...], ends: dict[tuple[Integer, ...], list[RunNode]]
) -> list[_Path]:
    """Return the paths after an op, one for each set of its results."""
    return [
        _Path({**env, **dict(zip(results, values, strict=False))}, nodes)
        for values, nodes in ends.items()
    ]
