"""Which bytes an op accesses, and whether two accesses have bytes in common."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from ...bindings.irtypes import Op
from .integers import VARIES, Integer

#: What is known of the integers of a program, by their numbers.
Env = dict[int, Integer]


@dataclass(frozen=True, eq=False)
class Allocation:
    """The alloc or view that tiles come from.

    Attributes:
        op: the op.
        memory: two allocations can have bytes in common only if this is the same.
        span: first byte and end of the allocation in its memory; None if not known.
        stages, rows, columns: the tile's shape.
        outside: whether code outside of the function may have written it.
        of_registers: whether it stands for registers that an op writes for an mma.
        of_global: whether it stands for an array in global memory.
        of_memref: whether it stands for the memory of a memref that tiles view and other ops access.
    """

    op: Op
    memory: Hashable
    span: tuple[int, int] | None
    stages: int
    rows: int
    columns: int
    outside: bool = False
    of_memref: bool = False
    of_registers: bool = False
    of_global: bool = False


class Rectangle(NamedTuple):
    """A rectangle of one stage of an allocation; unknown starts are None."""

    allocation: Allocation
    stage: int | None
    row: int | None
    column: int | None
    rows: int
    columns: int

    def overlaps(self, other: "Rectangle") -> bool | None:
        """Whether both have bytes in common; None if not known."""
        if self.allocation is not other.allocation:
            return _spans_overlap(self.allocation, other.allocation)
        sides = (
            _intervals_overlap(self.stage, 1, other.stage, 1, self.allocation.stages),
            _intervals_overlap(self.row, self.rows, other.row, other.rows, self.allocation.rows),
            _intervals_overlap(
                self.column, self.columns, other.column, other.columns, self.allocation.columns
            ),
        )
        return False if False in sides else None if None in sides else True

    def equals(self, other: "Rectangle") -> bool:
        """Whether both are known to be the same bytes."""
        are_known = (
            start is not None or size == whole
            for start, size, whole in (
                (self.stage, 1, self.allocation.stages),
                (self.row, self.rows, self.allocation.rows),
                (self.column, self.columns, self.allocation.columns),
            )
        )
        return self == other and all(are_known)


def _spans_overlap(a: Allocation, b: Allocation) -> bool | None:
    if a.memory != b.memory:
        return False
    if a.span is None or b.span is None:
        return None
    # Spans are exact, but the bytes of a subtile in them are not known.
    return None if a.span[0] < b.span[1] and b.span[0] < a.span[1] else False


def _intervals_overlap(
    a: int | None, a_size: int, b: int | None, b_size: int, whole: int
) -> bool | None:
    if a is None or b is None:
        return True if whole in (a_size, b_size) else None
    return a < b + b_size and b < a + a_size


#: A start: the sum of a constant and of integers of the program, by their numbers.
Start = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class SymbolicRectangle:
    """A tile operand of an op: a rectangle whose starts depend on the program's integers."""

    allocation: Allocation
    stage: Start
    row: Start
    column: Start
    rows: int
    columns: int

    def evaluate(self, env: Env) -> Rectangle:
        """Return the rectangle for some values of the integers."""
        allocation = self.allocation
        stage = _value(self.stage, env, allocation.stages - 1)
        row = _value(self.row, env, allocation.rows - self.rows)
        column = _value(self.column, env, allocation.columns - self.columns)
        return Rectangle(allocation, stage, row, column, self.rows, self.columns)


def _value(start: Start, env: Env, last: int) -> int | None:
    """Return the value of a start; None if it is not known, or not 0 to `last`."""
    total, terms = start
    for term in terms:
        constant = env.get(term, VARIES).exact
        if constant is None:
            return None
        total += constant
    return total if 0 <= total <= last else None
