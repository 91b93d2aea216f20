"""Which products some architecture computes, and which tiles some instructions read."""

from __future__ import annotations

from .accumulators import Accumulator
from .arch import Arch
from .elements import Element
from .operand import MmaTiles, Role
from .tile import TileLayout


def accumulators(a: Element, b: Element) -> tuple[Accumulator, ...]:
    """The types in which A * B can be accumulated, the usual one first; none if the two do not go
    together."""
    found = (each for arch in Arch for each in arch.isa.accumulators(a, b))
    return tuple(dict.fromkeys(found))


def partners(a: Element) -> tuple[Element, ...]:
    """The types that B can have beside an A of that type, those of the first architectures first."""
    found = (b for arch in Arch for b in arch.isa.partners(a))
    return tuple(dict.fromkeys(found))


def unreadable(tile: TileLayout, role: Role, sparse: bool, ctas: int) -> str | None:
    """Why the instructions of no architecture read a tile of a multiplicand; None if some do.

    Args:
        tile, role, sparse, ctas: as those of `Arch.mma_tiles`.
    """
    reasons = []
    for arch in Arch:
        lacks = (sparse and not arch.isa.has_sparse) or ctas not in arch.isa.ctas
        if lacks or not arch.multiplies(tile.element):
            continue
        found = arch.mma_tiles(tile, role, sparse, ctas)
        if isinstance(found, MmaTiles):
            return None
        reasons.append(found.reason)
    return "; ".join(dict.fromkeys(reasons))
