"""The steps of pipelines with which a loop begins, comes round and is left."""

from __future__ import annotations

from typing import Any

from ..polynomials import Polynomial, number, one
from .findings import Findings
from .kernel import Kernel
from .spots import Turning, turning_of
from .state import State
from .steps import NOT_NEXT, Steps


class LoopSteps:
    """The steps of the pipelines that an `scf.for` takes.

    Args:
        op: the loop.
        kernel: the function.
        steps: checks them.
        findings: takes what is not known.
    """

    def __init__(self, op: Any, kernel: Kernel, steps: Steps, findings: Findings) -> None:
        self._op = op
        self._ops = kernel.ops
        self._values = kernel.values
        self._steps = steps
        self._findings = findings
        self._loop = kernel.values.loop(op)
        #: The op by which the body begins to take a pipeline, and the step.
        self._first: dict[Turning, tuple[Any, Polynomial]] = {}

    def enter(self, state: State) -> State:
        """The state at the head of the loop; its first steps are checked to be the next ones."""
        for turning in self._ops.turnings(self._op):
            found = self._first_step(self._op.regions[0], turning)
            if found is None:
                continue
            first, step = found
            entry = self._values.replaced(step, self._loop.count, number(0))
            if entry is None:
                self._findings.unknown(first, NOT_NEXT, state)
                continue
            self._steps.expect(first, state, entry)
            self._first[turning] = found
        return self._at_head(state)

    def come_round(self, end: State) -> State:
        """The state at the head of the loop after an iteration; the next one is checked to begin with
        the steps that come next."""
        for op, step in self._first.values():
            following = one(self._loop.count) + number(1)
            again = self._values.replaced(step, self._loop.count, following)
            if again is None:
                self._findings.unknown(op, NOT_NEXT, end)
            else:
                self._steps.expect(op, end, again)
        end.leaves(self._op)
        return self._at_head(end)

    def leave(self, end: State) -> None:
        """Says of a state at the head which steps come next behind the loop."""
        end.leaves(self._op)
        for turning, (_, step) in self._first.items():
            after = self._values.replaced(step, self._loop.count, self._loop.trips)
            if after is None:
                self._findings.unknown(self._op, "where it leaves a pipeline is not known", end)
                after = step
            end.turns[turning] = end.turn(turning)._replace(next=after)

    def _at_head(self, state: State) -> State:
        """A copy of a state in which the steps come next that the body begins with."""
        state = state.copy()
        for turning, (_, step) in self._first.items():
            state.turns[turning] = state.turn(turning)._replace(next=step)
        return state

    def _first_step(self, region: Any, turning: Turning) -> tuple[Any, Polynomial] | None:
        """The first op of a region that begins a step of a pipeline, and the step."""
        for op in (op for block in region.blocks for op in self._ops.of(block)):
            if isinstance(op, turning[1].begin) and turning_of(op) == turning:
                return op, self._values.of(op.step)
            for inner in op.regions:
                found = self._first_step(inner, turning)
                if found is not None and op.name == "scf.for":
                    count = self._values.loop(op).count
                    step = self._values.replaced(found[1], count, number(0))
                    found = None if step is None else (found[0], step)
                if found is not None:
                    return found
        return None
