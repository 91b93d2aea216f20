"""Which bytes an op accesses, and whether two accesses meet."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from .integers import VARIES, Integer

#: What an interpreter knows of the integers of a program, by their numbers.
Env = dict[int, Integer]


@dataclass(frozen=True, eq=False)
class Allocation:
    """The alloc or view that tiles come from.

    Attributes:
        op: the op.
        memory: two roots can have bytes in common only if this is the same.
        span: first byte and end of a root within its memory; None if not known.
        stages, rows, columns: the tile's shape.
        outside: whether others than the function's ops may have written it.
        of_registers: whether it is no tile but the registers that an op writes for an mma.
        of_memref: whether it is what an op of another dialect accesses of a memref that tiles show.
    """

    op: Any
    memory: Any
    span: tuple[int, int] | None
    stages: int
    rows: int
    columns: int
    outside: bool = False
    of_memref: bool = False
    of_registers: bool = False


class Region(NamedTuple):
    """A rectangle of one stage of a root; starts that are not known are None."""

    allocation: Allocation
    stage: int | None
    row: int | None
    column: int | None
    rows: int
    columns: int

    def meets(self, other: "Region") -> bool | None:
        """Whether both have bytes in common; None if that is not known."""
        if self.allocation is not other.allocation:
            return _spans_meet(self.allocation, other.allocation)
        sides = (
            _intervals_meet(self.stage, 1, other.stage, 1, self.allocation.stages),
            _intervals_meet(self.row, self.rows, other.row, other.rows, self.allocation.rows),
            _intervals_meet(
                self.column, self.columns, other.column, other.columns, self.allocation.columns
            ),
        )
        return False if False in sides else None if None in sides else True

    def is_same(self, other: "Region") -> bool:
        """Whether both are known to be the same bytes."""
        known = (
            start is not None or size == whole
            for start, size, whole in (
                (self.stage, 1, self.allocation.stages),
                (self.row, self.rows, self.allocation.rows),
                (self.column, self.columns, self.allocation.columns),
            )
        )
        return self == other and all(known)


def _spans_meet(a: Allocation, b: Allocation) -> bool | None:
    if a.memory != b.memory:
        return False
    if a.span is None or b.span is None:
        return None
    # Spans are exact, but which of their bytes a part has is not.
    return None if a.span[0] < b.span[1] and b.span[0] < a.span[1] else False


def _intervals_meet(
    a: int | None, a_size: int, b: int | None, b_size: int, whole: int
) -> bool | None:
    if a is None or b is None:
        return True if whole in (a_size, b_size) else None
    return a < b + b_size and b < a + a_size


#: A start: the sum of a number and of integers of the program.
Start = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Place:
    """A tile that an op uses: a region, once the program's integers are known."""

    allocation: Allocation
    stage: Start
    row: Start
    column: Start
    rows: int
    columns: int

    def region(self, env: Env) -> Region:
        """The region, as far as it is known."""
        allocation = self.allocation
        stage = _value(self.stage, env, allocation.stages - 1)
        row = _value(self.row, env, allocation.rows - self.rows)
        column = _value(self.column, env, allocation.columns - self.columns)
        return Region(allocation, stage, row, column, self.rows, self.columns)


def _value(start: Start, env: Env, last: int) -> int | None:
    """A start, if it is known and not beyond the last that there is."""
    total, terms = start
    for term in terms:
        known = env.get(term, VARIES).exact
        if known is None:
            return None
        total += known
    return total if 0 <= total <= last else None
