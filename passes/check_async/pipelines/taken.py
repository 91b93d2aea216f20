"""What threads of execution take of pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ..intervals import Intervals
from ..polynomials import Polynomial
from .partition import Partition
from .pipeline_sides import PipelineSide


class Turns(NamedTuple):
    """How the warpgroups of a partition take the indices of a pipeline in turn.

    Attributes:
        chunk: how many consecutive indices a warpgroup takes in a turn.
        others: how many the other warpgroups take between two of its turns.
    """

    chunk: int
    others: int


class Taken(NamedTuple):
    """How far a thread is at its end.

    Attributes:
        following: the index after the last one that it has taken.
        held: how many of those before it has not committed or released.
    """

    following: Polynomial
    held: int


#: Whether an op is in the first iteration of each loop around it, from the outside in.
Iteration = tuple[bool, ...]

#: Where warpgroups take indices in turn.
AllTurns = dict[tuple[Partition, PipelineSide], Turns]


class End(NamedTuple):
    """What threads have taken at the end of some runs.

    Attributes:
        taken: by each thread of execution, for each pipeline side.
        at_barriers: the index that each comes to next at each barrier of the cluster.
        known: what is known of integers on these runs.
        certain: whether there is such a run.
    """

    taken: dict[tuple[int, PipelineSide], Taken]
    at_barriers: dict[tuple[int, PipelineSide], tuple[Polynomial, ...]]
    known: Intervals
    certain: bool


def ends_together(ends_of_each: Sequence[Sequence[End]]) -> Iterator[End]:
    """Yield what several threads have taken together at the end of some runs.

    Args:
        ends_of_each: the ends of each thread.
    """
    for ends in product(*ends_of_each):
        known: Intervals | None = Intervals()
        for end in ends:
            known = known and known.and_also(end.known)
        if known is not None:
            taken = {key: x for end in ends for key, x in end.taken.items()}
            at_barriers = {key: x for end in ends for key, x in end.at_barriers.items()}
            yield End(taken, at_barriers, known, all(end.certain for end in ends))


class Doubt(NamedTuple):
    """Runs on which it is not known which index an op takes, or on which it takes none that it may.

    Attributes:
        polynomial: what is not known: how many indices the op skips, or have been taken since.
        known: what is known of integers on these runs.
        held: how many indices are held, if it is one of those.
    """

    polynomial: Polynomial
    known: Intervals
    held: int | None = None

    def is_resolved(self, known: Intervals) -> bool:
        """Whether all is well on runs of which more is known."""
        exact = known.bounds(self.polynomial).exact
        return exact is not None and (self.held is None or 1 <= exact <= self.held)
