"""Accumulators of two types, partner types and operand layouts that any architecture supports."""

from __future__ import annotations

from .accumulators import Accumulator
from .arch import Arch
from .elements import Element
from .operand import MmaTiles, Role
from .tile import TileLayout


def accumulators(a: Element, b: Element) -> tuple[Accumulator, ...]:
    """Return the accumulator types of A * B on any architecture, the usual one first; empty if none
    multiplies the two.

    Args:
        a, b: the element types of A and B.

    Example:
        >>> [str(accumulator) for accumulator in accumulators(element("f16"), element("f16"))]
        ['f32', 'f16']
        >>> accumulators(element("bf16"), element("tf32"))
        ()
    """
    types = (accumulator for arch in Arch for accumulator in arch.isa.accumulators(a, b))
    return tuple(dict.fromkeys(types))


def partners(a: Element) -> tuple[Element, ...]:
    """Return the types that B can have with an A of that type, those of the first architectures first.

    Args:
        a: the element type of A.

    Example:
        >>> [str(partner) for partner in partners(element("e4m3"))][:2]
        ['e4m3', 'e5m2']
    """
    return tuple(dict.fromkeys(b for arch in Arch for b in arch.isa.partners(a)))


def operand_problem(tile: TileLayout, role: Role, sparse: bool, ctas: int) -> str | None:
    """Return why no architecture's instructions read a tile as an operand, or None.

    Args:
        tile, role, sparse, ctas: as for `Arch.mma_tiles`.

    Example:
        >>> tile = parse_layout("(64,64):(72,1)", element("bf16"))
        >>> problem = operand_problem(tile, Role.A, sparse=False, ctas=1)
        >>> problem.partition(": ")[0]
        'the MMA tile of 64x16 at (0, 0)'
    """
    reasons = []
    for arch in Arch:
        lacks = (sparse and not arch.isa.has_sparse) or ctas not in arch.isa.ctas
        if lacks or not arch.multiplies(tile.element):
            continue
        mma_tiles = arch.mma_tiles(tile, role, sparse, ctas)
        if isinstance(mma_tiles, MmaTiles):
            return None
        reasons.append(mma_tiles.reason)
    return "; ".join(dict.fromkeys(reasons))
