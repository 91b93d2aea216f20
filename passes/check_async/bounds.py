"""Run-time starts of subtiles: an error if some run leaves the tile, a remark if one may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, prod

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Op, Value
from ...dialect.op import SmemOp
from ...dialect.ops import (
    ElectOp,
    LoadOp,
    OffsetOp,
    PartitionOp,
    SubtileOp,
    SubviewOp,
    WarpSpecializeOp,
)
from ...dialect.smem import Smem
from ...dialect.types import shape_of
from ...ir.cluster import cluster_size
from ...ir.errors import OpError
from ...ir.kernel import ancestors_of, function_of
from ...ir.subtiles import chain_of
from ...ir.walk import walk
from ..order.effects import accessed_tiles
from ..order.report import label
from .integer_ranges import LAUNCH, THREAD, WARPGROUP_ID, IntegerRanges
from .ranges import Bound, IntegerRange, are_independent

__all__ = ["DynamicStart", "check_bounds", "ranges_of_dynamic_starts"]

#: Ops whose regions are executed whenever the op is.
_UNCONDITIONAL = (PartitionOp, WarpSpecializeOp, ElectOp)


def check_bounds(function: Op) -> None:
    """Check that subtiles are within their tiles where they are accessed; remarks state what is not
    proven.

    Raises:
        OpError: if one leaves its tile in some run, whatever the sizes of the arrays are.
    """
    reported = set()
    for access, position, start, numbers in ranges_of_dynamic_starts(function):
        if start.is_within(0, position.last):
            continue
        if _is_certain(access, start, numbers):
            outside = start.low if start.low < 0 else start.high
            raise OpError(position.op, position.error(access, int(outside)))
        if position not in reported:
            reported.add(position)
            remark(access.location, position.remark(access, start.low, start.high))


def ranges_of_dynamic_starts(
    function: Op,
) -> Iterator[tuple[Op, DynamicStart, IntegerRange, IntegerRanges]]:
    """Yield the accesses of tiles at run-time starts, with the range of the start there, and the ranges
    of the function's integers."""
    numbers: IntegerRanges | None = None
    for access, position in accesses_at_dynamic_starts(function):
        numbers = numbers or IntegerRanges(function)
        yield access, position, numbers.range_at(access, position.start, position.last), numbers


def _is_certain(access: Op, start: IntegerRange, numbers: IntegerRanges) -> bool:
    """Whether some run executes an op with each end of the range of a start.

    So it is if the op is under no condition, and the sources of the start decide nothing else.
    """
    if not start.attained or LAUNCH in start.sources:
        return False
    independent = [start]
    for outer in ancestors_of(access):
        if outer.name == "scf.for":
            trips = numbers.trips(outer)
            if trips.low < 1:
                if not trips.attained or trips.high < 1:
                    return False
                independent.append(trips)
        elif not isinstance(outer.opview, _UNCONDITIONAL):
            return False
        elif isinstance(outer.opview, ElectOp):
            # One thread of the CTA, or of each warpgroup, is in it.
            of_each = outer.opview.scope.value == "warpgroup"
            if start.sources & ({THREAD} if of_each else {THREAD, WARPGROUP_ID}):
                return False
    return are_independent(independent)


#: The names of an index along each dimension of (stages, rows, columns).
_NOUNS = ("stage", "row", "column")


@dataclass(frozen=True)
class DynamicStart:
    """The run-time start of a part of a tile along one dimension: an operand.

    Attributes:
        op: the op that takes the part.
        start: the first element (index).
        noun: what the elements are: "row".
        count: how many elements it takes.
        extent: how many the tile has.
        multiple: a number that the op asserts to divide the start.
    """

    op: Op
    start: Value
    noun: str
    count: int
    extent: int
    multiple: int = 1

    @property
    def last(self) -> int:
        """The last start that fits."""
        return self.extent - self.count

    @property
    def condition(self) -> str:
        """The condition that the program must meet, for messages."""
        part = f"{self.count} of {self.extent} {self.noun}s of the {label(self.op.tile.owner)}"
        return f"the {label(self.op)} ({part}) begins at {self._valid_starts}"

    def error(self, access: Op, outside: int) -> str:
        """Return the message at `op` about a start that is outside in some run.

        Args:
            access: the op that accesses the part.
            outside: the start.
        """
        user = "" if access == self.op else f", where the {label(access)} uses it"
        return f"begins at {self.noun} {outside}{user}; {self._requirement}"

    def remark(self, access: Op, low: Bound, high: Bound) -> str:
        """Return the message at `access` about a start that may be outside.

        Args:
            access: the op that accesses the part.
            low, high: the start is from `low` to `high`.
        """
        part = "this" if access == self.op else f"the {label(self.op)}"
        return (
            f"cannot prove that {part} is within the {label(self.op.tile.owner)}: it begins at "
            f"{range_text(self.noun, low, high)}; {self._requirement}"
        )

    @property
    def _valid_starts(self) -> str:
        return f"{self.noun} 0" if not self.last else f"{self.noun} 0 to {self.last}"

    @property
    def _requirement(self) -> str:
        return (
            f"it takes {self.count} of the tile's {self.extent} {self.noun}s; "
            f"expected {self._valid_starts}"
        )


@dataclass(frozen=True)
class Rank(DynamicStart):
    """The CTA of the cluster whose tile an `smem.load` reads."""

    @property
    def condition(self) -> str:
        return f"the rank is that of one of the cluster's {self.extent} CTAs"

    def error(self, access: Op, outside: int) -> str:
        size = "x".join(map(str, cluster_size(function_of(access))))
        return f"has rank = {outside}; a cluster of {size} CTAs has ranks 0 to {self.last}"

    def remark(self, access: Op, low: Bound, high: Bound) -> str:
        return (
            "cannot prove that the cluster has the CTA whose tile this reads: it has "
            f"{range_text(self.noun, low, high)}; expected {self._valid_starts}"
        )


def range_text(noun: str, low: Bound, high: Bound) -> str:
    """Return the range of a start in words."""
    if low == -inf:
        return f"a {noun} that is not known" if high == inf else f"{noun} {high} or below"
    return f"{noun} {low} or above" if high == inf else f"{noun} {low} to {high}"


def accesses_at_dynamic_starts(function: Op) -> Iterator[tuple[Op, DynamicStart]]:
    """Yield the ops that access parts of tiles at run-time starts, with each start.

    A subtile that leaves its tile does no harm before it is accessed, so its starts count at its
    accesses.

    Raises:
        OpError: if a tile does not come from an alloc or view.
    """
    for op in walk(function, OffsetOp, *filter(_accesses, Smem.operations)):
        for position in dict.fromkeys(_starts_of_op(op)):
            yield op, position


def _accesses(op: type[SmemOp]) -> bool:
    return bool(op.effects.accesses)


def _starts_of_op(op: Op) -> Iterator[DynamicStart]:
    tiles = [op.tile] if isinstance(op, OffsetOp) else [tile for tile, _ in accessed_tiles(op)]
    for tile in tiles:
        for subview in chain_of(tile, op)[1]:
            yield from _starts_of_subview(subview)
    if isinstance(op, OffsetOp):
        extents = zip(
            (op.row, op.column), _NOUNS[1:], op.vector, shape_of(op.tile.type), strict=True
        )
        for start, noun, count, extent in extents:
            yield DynamicStart(op, start, noun, count, extent)
    if isinstance(op, LoadOp) and op.rank is not None:
        ctas = prod(cluster_size(function_of(op)))
        # The lowering refuses a kernel without clusters.
        if ctas > 1:
            yield Rank(op, op.rank, "rank", 1, ctas)


def _starts_of_subview(op: SubviewOp) -> Iterator[DynamicStart]:
    # A stage is one element of the first of three dimensions, which it drops.
    is_stage = len(op.positions) == 1
    sizes = (1,) if is_stage else shape_of(op.result.type)
    multiples = iter(op.multiple_of if isinstance(op, SubtileOp) else [1])
    dims = zip(op.positions, _NOUNS[not is_stage :], sizes, shape_of(op.tile.type), strict=False)
    for start, noun, count, extent in dims:
        if not isinstance(start, int):
            yield DynamicStart(op, start, noun, count, extent, next(multiples))
