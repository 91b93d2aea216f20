"""The two runs of a program: one that proves it, and one that shows that it cannot be proven."""

from itertools import product
from typing import Any

from .hazards import State
from .integers import Integer, exactly
from .machine import Conflict, Machine
from .program import Given, Other, Program

#: What sizes and arguments are tried as: one that every usual tile divides, trip counts, and extents
#: that make a few trips of usual tiles.
_SIZES = (5040 << 8, 0, 1, 2, 3, 4, 5, 8, 64, 128, 192, 256, 320, 384, 512, 1024)

#: Steps of a trial; what a loop does wrong shows in its first iterations.
_PATIENCE = 5_000


class Proof(Machine):
    """Runs a program with nothing known but what it says itself: what never conflicts is proven.

    Attributes:
        conflicts: what may go wrong.
        skipped: ops with accesses that are not followed, with the reason.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.conflicts: list[Conflict] = []
        self.skipped: dict[Any, str] = {}

    def meet(self, conflict: Conflict) -> None:
        self.conflicts.append(conflict)

    def skip(self, op: Any, reason: str) -> None:
        self.skipped[op] = reason


class _Broken(Exception):
    def __init__(self, conflict: Conflict) -> None:
        super().__init__()
        self.conflict = conflict


class _Stopped(Exception):
    """A trial cannot know how the program goes on."""


class _Trial(Machine):
    """Runs a program as the machine would, with one size and one truth for everything that is not
    known: what conflicts is wrong."""

    def __init__(self, program: Program, size: int, truth: int) -> None:
        super().__init__(program)
        self.size = size
        self.truth = truth
        self.furthest = 1 << 62
        self.left = _PATIENCE

    def meet(self, conflict: Conflict) -> None:
        if not conflict.unsure:
            raise _Broken(conflict)

    def given(self, step: Given) -> Integer:
        if step.possible is not None:
            return exactly(step.possible)
        return exactly(self.truth if step.is_truth else self.size)

    def pass_other(self, step: Other, state: State) -> None:
        state.forget()

    def unknown(self) -> None:
        raise _Stopped

    def kept(self, integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
        return integers

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _Stopped


def refute(program: Program) -> Conflict | None:
    """What goes wrong in some run of a program; None if no trial shows anything."""
    sizes = [size for size in _SIZES if size % program.multiple == 0]
    for size, truth in product(sizes, (1, 0)):
        try:
            _Trial(program, size, truth).run()
        except _Broken as broken:
            return broken.conflict
        except _Stopped:
            continue
    return None
