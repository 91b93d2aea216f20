"""Groups of ops of linalg on tensors that one kernel computes, a row of elements at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...ir.walk import walk
from .element_wise import has_element_maps, is_simple, loops_of
from .generic import GENERIC, is_needed, is_reduction, outputs_of
from .reductions import combiner_of
from .sources import constant_of, inline_sources

#: The longest row that threads of one block keep in registers: 1,024 threads of 32 elements.
LONGEST_ROW = 32 * 1024


class Level(Enum):
    """What an op of a group has a result for."""

    ELEMENT = "each element of a row"
    SUM = "a row, of all of its elements"
    ROW = "a row, of other results for it"


@dataclass(frozen=True)
class RowGroup:
    """Ops with the same rows.

    Attributes:
        root: the last op, in whose place the kernel is launched.
        levels: by result, of the ops.
        stored: the results that other ops use, in the program's order.
    """

    root: Op
    levels: dict[Value, Level] = field(default_factory=dict)
    stored: list[Value] = field(default_factory=list)

    @property
    def rank(self) -> int:
        """The loops of an op with a result for each element: those of rows, and one of columns."""
        return len(is_reduction(self.root))

    @property
    def columns(self) -> int:
        """The elements of a row."""
        columns = _extent(self.root, self.rank - 1)
        assert columns is not None, "a root has columns"
        return columns

    @property
    def ops(self) -> list[Op]:
        """The ops, the last one first."""
        found: list[Op] = []
        for value in self.levels:
            if value.owner.operation not in found:
                found.append(value.owner.operation)
        return found

    @property
    def has_sums(self) -> bool:
        """Whether threads that share a row exchange numbers."""
        return Level.SUM in self.levels.values()


def row_groups(function: Op) -> list[RowGroup]:
    """Return the groups of a function, in the program's order; an op is in one of them at most."""
    groups: list[RowGroup] = []
    taken: set[Value] = set()
    for block in _blocks(function):
        ops = [op.operation for op in block.operations]
        generics = [op for op in ops if op.name == GENERIC and list(op.results)]
        for number in reversed(range(len(generics))):
            root = generics[number]
            level = _level_of_root(root)
            if (
                level is None
                or root.results[0] in taken
                or constant_of(root.results[0]) is not None
            ):
                continue
            if not is_needed(root):
                continue
            group = RowGroup(root, dict.fromkeys(root.results, level), list(root.results))
            for op in reversed(generics[:number]):
                if not any(result in taken for result in op.results):
                    _add(group, op)
            taken |= set(group.levels)
            for op in group.ops:
                taken |= set(inline_sources(op))
            groups.append(group)
    return groups[::-1]


def _blocks(function: Op) -> Iterator[Block]:
    for op in (function, *walk(function)):
        if op.name not in (GENERIC, "gpu.launch", "gpu.func"):
            for region in op.regions:
                yield from region.blocks


def _level_of_root(op: Op) -> Level | None:
    """Return what a group's last op has a result for; None if it is none."""
    if not is_simple(op):
        return None
    rank = len(is_reduction(op))
    columns = _extent(op, rank - 1)
    if has_element_maps(op, rank):
        return Level.ELEMENT if columns is not None else None
    if _is_sum(op, rank) and columns is not None and columns <= LONGEST_ROW:
        return Level.SUM
    return None


def _add(group: RowGroup, op: Op) -> None:
    """Add an op to a group of later ops, if these use its results where they are computed."""
    results = list(op.results)
    uses = [use for result in results for use in result.uses]
    inside = [use for use in uses if use.owner.operation.results[0:1] and _is_in(group, use.owner)]
    is_constant = constant_of(results[0]) is not None
    if not inside or is_constant or not is_simple(op):
        return
    level = _level_in(group, op)
    if level is None or not all(_is_read_in_place(group, use, level) for use in inside):
        return
    if level is Level.SUM and _extent(op, group.rank - 1) != group.columns:
        return
    if (level is Level.SUM or group.has_sums) and group.columns > LONGEST_ROW:
        return
    outside = [use.owner for use in uses if not _is_in(group, use.owner)]
    if not all(_is_behind(user.operation, group.root) for user in outside):
        return
    group.levels.update(dict.fromkeys(results, level))
    if outside:
        group.stored[:0] = results


def _is_in(group: RowGroup, user: Op) -> bool:
    results = list(user.operation.results)
    return bool(results) and results[0] in group.levels


def _is_behind(op: Op, root: Op) -> bool:
    """Whether an op, or one around it, comes after a group's last one in its block."""
    while op.block != root.block:
        if op.parent is None or op.name == "func.func":
            return False
        op = op.parent.operation
    return root.is_before_in_block(op)


def _level_in(group: RowGroup, op: Op) -> Level | None:
    """Return what an op has a result for in a group; None if that has no such rows."""
    rank = group.rank
    loops = len(is_reduction(op))
    if loops == rank and has_element_maps(op, rank):
        return Level.ELEMENT
    if loops == rank and _is_sum(op, rank):
        return Level.SUM
    if loops == rank - 1 and has_element_maps(op, rank - 1):
        return Level.ROW
    return None


def _is_read_in_place(group: RowGroup, use: Any, level: Level) -> bool:
    """Whether a user in a group reads a result at its own element, or row."""
    user = use.owner.operation
    loops = group.rank if level is Level.ELEMENT else group.rank - 1
    if level is Level.ELEMENT and group.levels[user.results[0]] is Level.ROW:
        return False
    return loops_of(user, use.operand_number) == list(range(loops))


def _is_sum(op: Op, loops: int) -> bool:
    """Whether the last of so many loops alone reduces, by an op whose order does not matter."""
    outputs = outputs_of(op)
    if is_reduction(op) != [False] * (loops - 1) + [True] or len(outputs) != 1:
        return False
    is_in_order = loops_of(op, len(op.operands) - 1) == list(range(loops - 1))
    return is_in_order and combiner_of(op) is not None


def _extent(op: Op, loop: int) -> int | None:
    """Return how often a loop is executed, if that is known and not zero."""
    dynamic = ir.ShapedType.get_dynamic_size()
    for number, operand in enumerate(op.operands):
        loops = loops_of(op, number)
        if isinstance(operand.type, ir.ShapedType) and loops is not None and loop in loops:
            extent = operand.type.shape[loops.index(loop)]
            if extent not in (dynamic, 0):
                return extent
    return None
