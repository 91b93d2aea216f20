"""Prove a program by a search for hazards on all runs; refute it by single runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from ...bindings.irtypes import Op
from ...ir.errors import OpError
from . import report
from .function_ops import FunctionOps
from .graph import RunGraph, Segments, StoppedError
from .hazards import Hazard, Hazards, ReachedHazard
from .integers import Integer, exactly
from .program import BulkRead, LaunchInteger, MmaRead, StepProgram, ThreadRead
from .rectangles import Allocation

#: The sizes and arguments of single runs: a multiple of every usual tile, small trip counts, and extents
#: with a few trips for usual tiles.
_SIZES = (5040 << 8, 0, 1, 2, 3, 4, 5, 8, 64, 128, 192, 256, 320, 384, 512, 1024)

#: The most steps of a single run; the hazards of a loop occur in its first iterations.
_STEP_LIMIT = 5_000

#: More groups than a single run has: all are told apart.
_ALL_GROUPS = 1 << 62


@dataclass
class Proof:
    """What is not proven of a program; the program is proven if both are empty.

    Attributes:
        hazards: those that may occur, in the order in which runs reach them.
        skipped: ops with accesses that are not followed, with the reason.
    """

    hazards: list[Hazard] = field(default_factory=list)
    skipped: dict[Op, str] = field(default_factory=dict)


def prove(function: Op, program: StepProgram) -> Proof:
    """Search all runs of a function's program for hazards, for all sizes and arguments."""
    graph = RunGraph(program, Segments(FunctionOps(function)))
    hazards = Hazards(graph, program.furthest)
    in_order = sorted(
        hazards.hazards_after_all(hazards.origins), key=lambda reached: reached.reached
    )
    return Proof([reached.hazard for reached in in_order], graph.skipped)


def refute(function: Op, program: StepProgram) -> Hazard | None:
    """Return a hazard that occurs in some single run of a program; None if none is found."""
    segments = Segments(FunctionOps(function))
    sizes = [size for size in _SIZES if size % program.multiple == 0]
    for size, flag in product(sizes, (1, 0)):
        hazards = Hazards(_Run(program, segments, size, flag), _ALL_GROUPS, forgets_unknown=True)
        if (first := _first_certain(hazards)) is not None:
            return first.hazard
    return None


def _first_certain(hazards: Hazards) -> ReachedHazard | None:
    """Return the hazard that a single run reaches first."""
    first: ReachedHazard | None = None
    for origin in hazards.origins:
        if first is not None and origin.node.number > first.reached[0]:
            break
        certain = (
            reached for reached in hazards.hazards_after(origin) if not reached.hazard.unsure
        )
        candidate = next(certain, None)
        if candidate is not None and (first is None or candidate.reached < first.reached):
            first = candidate
    return first


class _Run(RunGraph):
    """A run with known integers, up to the first unknown branch or the step limit.

    Args:
        program: the program.
        segments: its segments.
        size: the value of all unknown integers.
        flag: the value of all unknown `i1`.
    """

    def __init__(self, program: StepProgram, segments: Segments, size: int, flag: int) -> None:
        self._size = size
        self._flag = flag
        self._left = _STEP_LIMIT
        super().__init__(program, segments)

    def launch_integer(self, step: LaunchInteger) -> Integer:
        if step.possible is not None:
            return exactly(step.possible)
        return exactly(self._flag if step.is_bool else self._size)

    def unknown_branch(self) -> None:
        raise StoppedError

    def widen(self, integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
        return integers

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise StoppedError


def check_written(program: StepProgram) -> None:
    """Check that some op writes each tile that is read.

    Raises:
        OpError: if none does.
    """
    for reader, allocation in unwritten(program):
        if not allocation.outside:
            raise OpError(
                reader.op, f"reads the {report.label(allocation.op)}, which nothing writes"
            )


def unwritten(program: StepProgram) -> list[tuple[MmaRead | ThreadRead | BulkRead, Allocation]]:
    """Return the reads of tiles that no op of the function writes."""
    written = {copy.target.allocation.memory for copy in program.copies}
    return [
        (reader, source.allocation)
        for reader in program.readers
        for source in reader.sources
        if source.allocation.memory not in written and not source.allocation.of_registers
    ]
