"""What some architecture supports: accumulators of two types, partner types, and operand layouts."""

from __future__ import annotations

from .accumulators import Accumulator
from .arch import Arch
from .elements import Element
from .operand import MmaTiles, Role
from .tile import TileLayout


def accumulators(a: Element, b: Element) -> tuple[Accumulator, ...]:
    """Return the accumulator types of A * B on any architecture, the usual one first; empty if none
    multiplies the two."""
    found = (each for arch in Arch for each in arch.isa.accumulators(a, b))
    return tuple(dict.fromkeys(found))


def partners(a: Element) -> tuple[Element, ...]:
    """Return the types that B can have with an A of that type, those of the first architectures first."""
    found = (b for arch in Arch for b in arch.isa.partners(a))
    return tuple(dict.fromkeys(found))


def operand_problem(tile: TileLayout, role: Role, sparse: bool, ctas: int) -> str | None:
    """Return why no architecture's instructions read a tile as an operand, or None.

    Args:
        tile, role, sparse, ctas: as for `Arch.mma_tiles`.
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
