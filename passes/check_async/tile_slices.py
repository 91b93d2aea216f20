"""Slices of tiles along each dimension, with symbolic starts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...bindings.irtypes import Op, Value
from ...dialect.ops import SubviewOp
from ...dialect.types import shape_of
from ...ir.subtiles import chain_of
from ..order.memory import extents_of, starts_of
from .polynomials import Divergence, Polynomial, Symbol, number
from .values import SymbolicValues


class AxisSlice(NamedTuple):
    """A slice of a tile along one dimension, in elements (in stages along the first).

    Attributes:
        start: the first element; None if not known.
        size: how many elements.
        tile_size: the tile's size along the dimension.
    """

    start: Polynomial | None
    size: int
    tile_size: int

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the tile."""
        return self.size == self.tile_size

    def equals(self, other: AxisSlice) -> bool:
        """Whether both are known to be the same."""
        if self.size != other.size:
            return False
        return self.is_whole or (self.start is not None and self.start == other.start)

    def is_covered(self, others: Iterable[AxisSlice]) -> bool:
        """Whether other slices together are known to contain it."""
        is_known = self.start is not None and self.start.constant is not None
        first = self.start.constant if is_known and self.start is not None else 0
        reached = first or 0
        end = reached + self.size if is_known else self.tile_size
        parts = [
            (other.start.constant, other.size)
            for other in others
            if other.start is not None and other.start.constant is not None
        ]
        for start, size in sorted(parts):
            if start <= reached:
                reached = max(reached, start + size)
        return reached >= end

    def overlaps(self, other: AxisSlice) -> bool | None:
        """Whether both have elements in common; None if not known."""
        if self.is_whole or other.is_whole:
            return True
        if self.start is None or other.start is None:
            return None
        distance = self.start - other.start
        if distance.constant is not None:
            return -self.size < distance.constant < other.size
        apart = _least_distance(distance)
        return False if apart >= max(self.size, other.size) else None

    def is_disjoint_between(self, other: AxisSlice, symbol: Symbol) -> bool:
        """Whether the slices are disjoint for threads with different values of a symbol.

        False if another symbol may differ between these threads.
        """
        if self.start is None or other.start is None:
            return False
        split, other_split = self.start.split(symbol), other.start.split(symbol)
        if split is None or other_split is None or split[0] != other_split[0]:
            return False
        if max(split[1].divergence, other_split[1].divergence) > Divergence.BETWEEN_CTAS:
            return False
        distance = (split[1] - other_split[1]).constant
        return (
            distance is not None
            and -split[0] <= distance - other.size
            and (distance + self.size <= split[0])
        )


def _least_distance(distance: Polynomial) -> int:
    """Return a lower bound of the magnitude of a distance: a for a * (x % n) - a * (y % n), if x - y is
    known not to be a multiple of n."""
    if len(distance.terms) != 2:
        return 0
    (x_symbols, coefficient), (y_symbols, negated) = distance.terms
    if coefficient != -negated or len(x_symbols) != 1 or len(y_symbols) != 1:
        return 0
    if not x_symbols[0].name == y_symbols[0].name == "arith.remui":
        return 0
    (x, n), (y, m) = x_symbols[0].operands, y_symbols[0].operands
    between = (x - y).constant
    differ = n == m and n.constant and between is not None and between % n.constant
    return abs(coefficient) if differ else 0


class SymbolicSubtile(NamedTuple):
    """A tile as a subtile of the alloc or view that it comes from.

    Attributes:
        allocation: the alloc or view.
        chain: the ops that take the subtile, from the allocation on.
        slices: those of stages, rows and columns.
    """

    allocation: Op
    chain: list[SubviewOp]
    slices: tuple[AxisSlice, AxisSlice, AxisSlice]


def subtile_of(tile: Value, user: Op, values: SymbolicValues) -> SymbolicSubtile:
    """Return a tile as a subtile of its allocation.

    Raises:
        OpError: if it does not come from an alloc or view.
    """
    allocation, chain = chain_of(tile, user)
    starts = [Polynomial(), Polynomial(), Polynomial()]
    for dim, start in starts_of(chain, values.polynomial, number):
        starts[dim] = starts[dim] + start
    sizes, whole = (1, *extents_of(tile, chain)), (1, *shape_of(allocation.tile.type))[-3:]
    stages, rows, columns = (
        AxisSlice(*bounds) for bounds in zip(starts, sizes, whole, strict=True)
    )
    return SymbolicSubtile(allocation, chain, (stages, rows, columns))
