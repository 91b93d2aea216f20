"""From the tile that an op uses back to the memory it is a part of."""

from dataclasses import dataclass
from typing import Any

from ..dialect.bindings import ir
from ..dialect.ops import part_of, starts_of
from ..dialect.types import layout_of
from ..layout import Slice, TileLayout
from ..layout.tile import Multiple, Term
from .base import OpError

ROOTS = ("smem.alloc", "smem.view")
PARTS = ("smem.stage", "smem.subtile")


@dataclass(frozen=True)
class Part:
    """A tile as a part of the alloc or view that it comes from.

    Attributes:
        root: the `smem.alloc` or `smem.view`.
        slice: where the part begins in the root's tile, and its layout.
        starts: the run-time index value that each of the slice's terms is computed from.
    """

    root: Any
    slice: Slice
    starts: tuple[Any, ...]

    @property
    def terms(self) -> list[tuple[Term, Any]]:
        """Each run-time term with the value that it is computed from."""
        return list(zip(self.slice.terms, self.starts, strict=True))


def chain_of(tile: Any, user: Any) -> tuple[Any, list[Any]]:
    """The alloc or view that a tile comes from, and the stages and subtiles between, in their order.

    Raises:
        OpError: if it comes from anything else; it is reported at `user`.
    """
    chain: list[Any] = []
    op = tile.owner
    while isinstance(op, ir.Block) or op.operation.name not in ROOTS:
        if isinstance(op, ir.Block) or op.operation.name not in PARTS:
            raise OpError(
                user,
                "uses a tile that does not come from an smem.alloc or smem.view by stages and "
                "subtiles alone; take the part where it is used",
            )
        chain.append(op)
        op = op.operation.operands[0].owner
    return op, chain[::-1]


def part_from(tile: Any, user: Any) -> Part:
    """The part that a tile is.

    Args:
        tile: a value of tile type with a layout.
        user: the op that uses it, where errors are reported.

    Raises:
        OpError: if the tile does not come from an alloc or view by stages and subtiles alone, or
            has no layout yet.
    """
    op, chain = chain_of(tile, user)
    layout = layout_of(op.results[0].type)
    if layout is None:
        raise OpError(user, "uses a tile without a layout; run smem-assign-layouts before")
    part, starts = Slice(layout, 0), []
    for step in chain:
        inner = part_of(step, part.layout)
        starts += [_operand_of(step, term) for term in inner.terms]
        part = part.then(inner)
    return Part(op, part, tuple(starts))


def _operand_of(step: Any, term: Term) -> Any:
    """The operand of a stage or subtile op that a run-time term is computed from."""
    dynamic = [d for d, start in enumerate(starts_of(step)) if isinstance(start, Multiple)]
    return step.operation.operands[1 + dynamic.index(term.dim)]


def root_layout(root: Any) -> TileLayout:
    """The layout of an alloc or view that has one."""
    layout = layout_of(root.results[0].type)
    assert layout is not None
    return layout
