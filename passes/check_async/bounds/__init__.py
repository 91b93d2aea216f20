"""Run-time positions in tiles: an error if some run leaves the tile, a remark if one may."""

from __future__ import annotations

from collections.abc import Iterator

from ....bindings.diagnostics import remark
from ....bindings.irtypes import Op
from ....dialect.ops import ElectOp, PartitionOp, WarpSpecializeOp
from ....ir.errors import OpError
from ....ir.kernel import ancestors_of
from .numbers import LAUNCH, THREAD, WARPGROUP_ID, Numbers
from .positions import Position, accesses_of
from .ranges import Range, are_independent

__all__ = ["Position", "check_bounds", "ranges_of_positions"]

#: Ops whose regions are executed whenever the op is.
_UNCONDITIONAL = (PartitionOp, WarpSpecializeOp, ElectOp)


def check_bounds(function: Op) -> None:
    """Check that subtiles are within their tiles where they are accessed; remarks state what is not
    proven.

    Raises:
        OpError: if one leaves its tile in some run, whatever the sizes of the arrays are.
    """
    reported = set()
    for access, position, start, numbers in ranges_of_positions(function):
        if start.is_within(0, position.last):
            continue
        if _is_certain(access, start, numbers):
            outside = start.low if start.low < 0 else start.high
            raise OpError(position.op, position.error(access, int(outside)))
        if position not in reported:
            reported.add(position)
            remark(access.location, position.remark(access, start.low, start.high))


def ranges_of_positions(function: Op) -> Iterator[tuple[Op, Position, Range, Numbers]]:
    """Yield the accesses of tiles at run-time positions, with the range of the start there, and the
    function's integers."""
    numbers: Numbers | None = None
    for access, position in accesses_of(function):
        numbers = numbers or Numbers(function)
        yield access, position, numbers.at(access, position.start, position.last), numbers


def _is_certain(access: Op, start: Range, numbers: Numbers) -> bool:
    """Whether some run executes an op with each end of the range of a start.

    That is so if the op is under no condition, and what decides the start decides nothing else.
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
