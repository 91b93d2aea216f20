"""From the tile that an op uses back to the memory it is a part of."""

from dataclasses import dataclass, replace
from typing import Any

from ..dialect.bindings import ir
from ..dialect.diagnostics import format_location
from ..dialect.ops import AllocationOp, SubviewOp
from ..dialect.types import layout_of
from ..layout import Multiple, Slice, Term, TileLayout
from .errors import OpError
from .kernel import function_of


@dataclass(frozen=True)
class Position:
    """Where something begins along a dimension: the sum of some index values and a number."""

    values: tuple[Any, ...] = ()
    constant: int = 0

    def further(self, start: Any) -> "Position":
        """The position `start` further, a number or a value."""
        if isinstance(start, int):
            return replace(self, constant=self.constant + start)
        return replace(self, values=(*self.values, start))


@dataclass(frozen=True)
class Subtile:
    """A tile as a part of the alloc or view that it comes from.

    Attributes:
        root: the `smem.alloc` or `smem.view`.
        slice: where the part begins in the root's tile, and its layout.
        starts: the position that each of the slice's terms is computed from.
        origin: what the layout's origin is, for each dimension where only the running kernel knows it.
    """

    allocation: Any
    slice: Slice
    starts: tuple[Position, ...]
    origin: tuple[Position, ...]

    @property
    def terms(self) -> list[tuple[Term, Position]]:
        """Each run-time term with the position that it is computed from."""
        return list(zip(self.slice.terms, self.starts, strict=True))


#: What to do instead of letting an op hand on tiles: what is known of a tile is known of one alloc.
INSTEAD_OF_TILES = (
    "loops, branches and selections hand on no tiles: give one smem.alloc a leading dimension, hand on "
    "an index, and take smem.stage where the tile is used"
)


def chain_of(tile: Any, user: Any) -> tuple[Any, list[Any]]:
    """The alloc or view that a tile comes from, and the stages and subtiles between, in their order.

    Raises:
        OpError: if it comes from anything else; it is reported at `user`.
    """
    chain: list[Any] = []
    op = tile.owner
    while not isinstance(op, AllocationOp):
        if not isinstance(op, SubviewOp):
            raise OpError(
                user,
                "uses a tile that does not come from an smem.alloc or smem.view by stages and "
                f"subtiles alone, but from {_origin(op)}",
            )
        chain.append(op)
        op = op.tile.owner
    return op, chain[::-1]


def _origin(owner: Any) -> str:
    """What hands on a tile that is no part of another, in words, and what would do instead."""
    block = isinstance(owner, ir.Block)
    op = (owner.owner if block else owner).operation
    where = f"'{op.name}' at {format_location(op.location)}"
    if block and op == function_of(op) and owner == op.regions[0].blocks[0]:
        return f"an argument of {where}; make it in the kernel"
    return f"{'a block argument in ' * block}{where}; {INSTEAD_OF_TILES}"


def subtile_from(tile: Any, user: Any) -> Subtile:
    """The part that a tile is.

    Args:
        tile: a value of tile type with a layout.
        user: the op that uses it, where errors are reported.

    Raises:
        OpError: if the tile does not come from an alloc or view by stages and subtiles alone, or
            has no layout yet.
    """
    op, chain = chain_of(tile, user)
    layout = layout_of(op.tile.type)
    if layout is None:
        raise OpError(user, "uses a tile without a layout; run smem-assign-layouts before")
    subtile, starts = Slice(layout, 0), []
    origin = [Position()] * len(layout.shape)
    for step in chain:
        inner = step.slice_of(subtile.layout)
        begun = _begun(origin, subtile.layout, step)
        starts += [begun[term.dim] for term in inner.terms]
        subtile = subtile.then(inner)
        # A stage is taken of the leading dimension, which it drops.
        begun = begun[len(begun) - len(subtile.layout.shape) :]
        origin = [
            at if isinstance(known, Multiple) else Position()
            for at, known in zip(begun, subtile.layout.origins, strict=True)
        ]
    return Subtile(op, subtile, tuple(starts), tuple(origin))


def _begun(origin: list[Position], layout: TileLayout, step: Any) -> list[Position]:
    """Where a stage or subtile begins within the modes of the tile that it is taken of."""
    values = iter(step.run_time_starts)
    starts = [next(values) if isinstance(s, Multiple) else s for s in step.starts]
    starts += [0] * (len(origin) - len(starts))
    return [
        at.further(known if isinstance(known, int) else 0).further(start)
        for at, known, start in zip(origin, layout.origins, starts, strict=True)
    ]


def check_units(subtile: Subtile, op: Any, does: str, needs: str) -> None:
    """Checks that a part begins at a multiple of 16 bytes, whatever its run-time starts are.

    Args:
        part: the part.
        op: the op that uses it, where the error is reported.
        does: what the op does, for the message: "writes".
        needs: why, with a place for the elements of 16 bytes: "16-byte accesses need multiples of {}".

    Raises:
        OpError: if it may begin between such units.
    """
    unit = subtile.slice.layout.element.unit
    if subtile.slice.multiple % unit:
        raise OpError(
            op,
            f"{does} a part that begins {subtile.slice.multiple} elements or a multiple of that into its "
            f"tile; {needs.format(unit)}",
        )


def allocation_layout(allocation: Any) -> TileLayout:
    """The layout of an alloc or view that has one."""
    layout = layout_of(allocation.tile.type)
    assert layout is not None
    return layout
