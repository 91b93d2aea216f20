"""Pipeline indices at the entry of a loop, between its iterations, and at its exit."""

from __future__ import annotations

from ....dialect.irtypes import Op, Region
from ..polynomials import Polynomial, number, variable
from .findings import Findings
from .kernel import Kernel
from .pipeline_indices import NOT_NEXT, PipelineIndices
from .pipeline_sides import PipelineSide, pipeline_side_of
from .state import State


class LoopIndices:
    """The pipeline indices that an `scf.for` takes.

    Args:
        op: the loop.
        kernel: the function.
        indices: checks them.
        findings: receives errors and remarks.
    """

    def __init__(
        self, op: Op, kernel: Kernel, indices: PipelineIndices, findings: Findings
    ) -> None:
        self._op = op
        self._ops = kernel.ops
        self._values = kernel.values
        self._indices = indices
        self._findings = findings
        self._loop = kernel.values.loop(op)
        #: For each pipeline side, the first wait in the body, and its index.
        self._first: dict[PipelineSide, tuple[Op, Polynomial]] = {}

    def enter(self, state: State) -> State:
        """Check that the indices of the first iteration come next; return the state at the head."""
        for pipeline_side in self._ops.pipeline_sides(self._op):
            found = self._first_index(self._op.regions[0], pipeline_side)
            if found is None:
                continue
            first, index = found
            entry = self._values.replaced(index, self._loop.count, number(0))
            if entry is None:
                self._findings.remark(first, NOT_NEXT, state)
                continue
            self._indices.expect(first, state, entry)
            self._first[pipeline_side] = found
        return self._at_head(state)

    def iterate(self, end: State) -> State:
        """Check that the indices of the next iteration come next; return the state at the head."""
        for op, index in self._first.values():
            following = variable(self._loop.count) + number(1)
            again = self._values.replaced(index, self._loop.count, following)
            if again is None:
                self._findings.remark(op, NOT_NEXT, end)
            else:
                self._indices.expect(op, end, again)
        end.forget_loop(self._op)
        return self._at_head(end)

    def exit(self, end: State) -> None:
        """Set the indices that come next after the loop, in a state at its head."""
        end.forget_loop(self._op)
        for pipeline_side, (_, index) in self._first.items():
            after = self._values.replaced(index, self._loop.count, self._loop.trips)
            if after is None:
                self._findings.remark(self._op, "the pipeline index after it is not known", end)
                after = index
            end.pipelines[pipeline_side] = end.pipeline_state(pipeline_side)._replace(
                next_index=after
            )

    def _at_head(self, state: State) -> State:
        """Return a copy of a state in which the indices that begin the body come next."""
        state = state.copy()
        for pipeline_side, (_, index) in self._first.items():
            before = state.pipeline_state(pipeline_side)
            state.pipelines[pipeline_side] = before._replace(next_index=index)
        return state

    def _first_index(
        self, region: Region, pipeline_side: PipelineSide
    ) -> tuple[Op, Polynomial] | None:
        """Return the first op of a region that waits on a pipeline side, and its pipeline index."""
        for op in (op for block in region.blocks for op in self._ops.of(block)):
            waits = isinstance(op, pipeline_side.side.wait_op)
            if waits and pipeline_side_of(op) == pipeline_side:
                return op, self._values.of(op.index)
            for inner in op.regions:
                found = self._first_index(inner, pipeline_side)
                if found is not None and op.name == "scf.for":
                    count = self._values.loop(op).count
                    index = self._values.replaced(found[1], count, number(0))
                    found = None if index is None else (found[0], index)
                if found is not None:
                    return found
        return None
