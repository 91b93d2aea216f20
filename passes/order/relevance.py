"""The integers on which accesses of tiles and the ways of a run depend."""

from __future__ import annotations

from collections import defaultdict

from .program import (
    BulkRead,
    ComputedInteger,
    ElectRegion,
    ForRegion,
    IfRegion,
    KernelEnd,
    MemoryWrite,
    MmaRead,
    RegisterWrite,
    Step,
    StepBlock,
    ThreadRead,
    WhileRegion,
)
from .rectangles import SymbolicRectangle


def relevant_integers(body: StepBlock) -> frozenset[int]:
    """Return the integers of a program on which bytes of tiles, branches and loops depend.

    Runs that differ in others are the same for the order of accesses: a position in an array that a loop
    carries, for example.
    """
    integers = _Dependences()
    integers.add_block(body)
    return integers.closure()


class _Dependences:
    """What integers are computed from, and those that matter by themselves."""

    def __init__(self) -> None:
        self._operands: defaultdict[int, set[int]] = defaultdict(set)
        self._needed: set[int] = set()

    def add_block(self, block: StepBlock) -> None:
        """Note the steps of a block."""
        for step in block.steps:
            self._add(step)

    def closure(self) -> frozenset[int]:
        """Return the integers that matter, and those that they are computed from."""
        needed, remaining = set(self._needed), [*self._needed]
        while remaining:
            new = self._operands[remaining.pop()] - needed
            needed |= new
            remaining += new
        return frozenset(needed)

    def _add(self, step: Step) -> None:
        if isinstance(step, ComputedInteger):
            self._operands[step.result].update(step.operands)
        elif isinstance(step, MemoryWrite | RegisterWrite):
            self._need_starts(step.target)
        elif isinstance(step, ThreadRead | MmaRead | BulkRead | KernelEnd):
            for source in step.sources:
                self._need_starts(source)
        elif isinstance(step, ElectRegion):
            self.add_block(step.body)
        elif isinstance(step, IfRegion):
            self._add_if(step)
        elif isinstance(step, ForRegion):
            self._add_for(step)
        elif isinstance(step, WhileRegion):
            self._add_while(step)

    def _need_starts(self, rectangle: SymbolicRectangle) -> None:
        for _, terms in (rectangle.stage, rectangle.row, rectangle.column):
            self._needed.update(terms)

    def _add_if(self, step: IfRegion) -> None:
        if any(branch.synchronizes for branch in step.branches):
            self._needed.add(step.condition)
        for branch in step.branches:
            self.add_block(branch)
            self._join(step.results, branch.yields)
        self._join(step.results, (step.condition,) * len(step.results))

    def _add_for(self, step: ForRegion) -> None:
        if step.body.synchronizes:
            # They decide whether another iteration follows. So does the loop's variable, if its end is
            # known (`RunGraph`).
            self._needed.update(step.bounds)
        self._operands[step.induction].update(step.bounds)
        self.add_block(step.body)
        self._join(step.carried, step.initial)
        self._join(step.carried, step.body.yields)
        self._join(step.results, step.carried)

    def _add_while(self, step: WhileRegion) -> None:
        if step.before.synchronizes or step.after.synchronizes:
            self._needed.add(step.condition)
        for block in (step.before, step.after):
            self.add_block(block)
        self._join(step.carried, step.initial)
        self._join(step.carried, step.after.yields)
        self._join(step.forwarded, step.before.yields)
        self._join(step.results, step.forwarded)

    def _join(self, results: tuple[int, ...], values: tuple[int, ...]) -> None:
        for result, value in zip(results, values, strict=False):
            self._operands[result].add(value)
