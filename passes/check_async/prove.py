"""The two analyses of a program: a proof on all paths, and concrete runs that refute it."""

from itertools import product

from ...dialect.irtypes import Op
from .integers import Integer, exactly
from .interpreter import Hazard, Interpreter
from .program import Given, Other, Program
from .state import State

#: The sizes and arguments of concrete runs: one that is a multiple of every usual tile, trip counts, and
#: extents that make a few trips with usual tiles.
_SIZES = (5040 << 8, 0, 1, 2, 3, 4, 5, 8, 64, 128, 192, 256, 320, 384, 512, 1024)

#: The most steps of a concrete run; the hazards of a loop occur in its first iterations.
_STEP_LIMIT = 5_000


class Proof(Interpreter):
    """Abstract interpretation with unknown sizes and arguments: a program without hazards is proven.

    Attributes:
        hazards: those that may occur.
        skipped: ops with accesses that are not followed, with the reason.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.hazards: list[Hazard] = []
        self.skipped: dict[Op, str] = {}

    def report(self, hazard: Hazard) -> None:
        self.hazards.append(hazard)

    def skip(self, op: Op, reason: str) -> None:
        self.skipped[op] = reason


class _HazardFound(Exception):
    def __init__(self, hazard: Hazard) -> None:
        super().__init__()
        self.hazard = hazard


class _Stopped(Exception):
    """A concrete run stops: it reached an unknown branch, or the step limit."""


class _ConcreteRun(Interpreter):
    """Runs a program with concrete integers; a hazard is an error.

    Args:
        program: the program.
        size: the value of all unknown integers.
        flag: the value of all unknown `i1`.
    """

    def __init__(self, program: Program, size: int, flag: int) -> None:
        super().__init__(program)
        self.size = size
        self.flag = flag
        self.furthest = 1 << 62
        self.left = _STEP_LIMIT

    def report(self, hazard: Hazard) -> None:
        if not hazard.unsure:
            raise _HazardFound(hazard)

    def given(self, step: Given) -> Integer:
        if step.possible is not None:
            return exactly(step.possible)
        return exactly(self.flag if step.is_bool else self.size)

    def pass_other(self, step: Other, state: State) -> None:
        state.forget()

    def unknown_branch(self) -> None:
        raise _Stopped

    def widened(self, integers: tuple[Integer, ...]) -> tuple[Integer, ...]:
        return integers

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _Stopped


def refute(program: Program) -> Hazard | None:
    """Return a hazard that occurs in some concrete run of a program; None if none is found."""
    sizes = [size for size in _SIZES if size % program.multiple == 0]
    for size, flag in product(sizes, (1, 0)):
        try:
            _ConcreteRun(program, size, flag).run()
        except _HazardFound as found:
            return found.hazard
        except _Stopped:
            continue
    return None
