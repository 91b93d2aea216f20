"""Where parts of tiles lie along each dimension, as far as it is known."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...dialect.types import shape_of
from ...ir.subtiles import chain_of
from .memory import starts_of
from .polynomials import Polynomial, Spread, Symbol, number
from .values import Values


class Extent(NamedTuple):
    """Where something begins along a dimension (None if not known), its size, and the tile's."""

    start: Polynomial | None
    size: int
    whole: int

    @property
    def is_all(self) -> bool:
        """Whether it is all of the tile's."""
        return self.size == self.whole

    def is_same(self, other: Extent) -> bool:
        """Whether two are known to be the same."""
        if self.size != other.size:
            return False
        return self.is_all or (self.start is not None and self.start == other.start)

    def meets(self, other: Extent) -> bool | None:
        """Whether two have elements in common; None if not known."""
        if self.is_all or other.is_all:
            return True
        distance = None if None in (self.start, other.start) else _minus(self, other).constant
        return None if distance is None else -self.size < distance < other.size

    def subtiles_from(self, other: Extent, symbol: Symbol) -> bool:
        """Whether they have nothing in common if the symbol is not the same for both, and all else that
        they are made of is."""
        if self.start is None or other.start is None:
            return False
        split, others = self.start.split(symbol), other.start.split(symbol)
        if split is None or others is None or split[0] != others[0]:
            return False
        if max(split[1].spread, others[1].spread) > Spread.BLOCK:
            return False
        distance = (split[1] - others[1]).constant
        return (
            distance is not None
            and -split[0] <= distance - other.size
            and (distance + self.size <= split[0])
        )


def _minus(one: Extent, other: Extent) -> Polynomial:
    assert one.start is not None and other.start is not None
    return one.start - other.start


class Subtile(NamedTuple):
    """A tile as a part of the alloc or view that it comes from.

    Attributes:
        root: the alloc or view.
        chain: the ops that take the part, from the root.
        extents: stages, rows and columns.
    """

    allocation: Any
    chain: list[Any]
    extents: tuple[Extent, Extent, Extent]


def subtile_of(tile: Any, user: Any, values: Values) -> Subtile:
    """The part of a root that a tile is.

    Raises:
        OpError: if it comes from no alloc or view.
    """
    allocation, chain = chain_of(tile, user)
    starts = [Polynomial(), Polynomial(), Polynomial()]
    for subtile in chain:
        for dim, start in starts_of(subtile, values.of, number):
            starts[dim] = starts[dim] + start
    sizes, whole = (1, *shape_of(tile.type)[-2:]), (1, *shape_of(allocation.tile.type))[-3:]
    stages, rows, columns = (Extent(*each) for each in zip(starts, sizes, whole, strict=True))
    return Subtile(allocation, chain, (stages, rows, columns))
