"""The chain of stages and subtiles between an allocation and the tile that an op uses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..bindings.diagnostics import format_location
from ..bindings.irtypes import Op, Value
from ..bindings.mlir import ir
from ..dialect.ops import AllocationOp, SubviewOp, TransposeOp
from ..dialect.types import layout_of
from ..layout import Multiple, Slice, Term, TileLayout
from .errors import OpError
from .kernel import function_of


@dataclass(frozen=True)
class IndexSum:
    """The sum of index values and a number: a start along a dimension, in elements."""

    values: tuple[Value, ...] = ()
    constant: int = 0

    def plus(self, term: Value | int) -> "IndexSum":
        """Return the sum with a further term, a number or an index value."""
        if isinstance(term, int):
            return replace(self, constant=self.constant + term)
        return replace(self, values=(*self.values, term))


@dataclass(frozen=True)
class Subtile:
    """A tile as a slice of its allocation.

    Attributes:
        allocation: the `smem.alloc` or `smem.view`.
        slice: the offset in the allocation's tile, and the layout.
        starts: the start that each term of the slice is computed from.
        origin: the origin of the layout for each dimension, where it is known at run time only.
    """

    allocation: Op
    slice: Slice
    starts: tuple[IndexSum, ...]
    origin: tuple[IndexSum, ...]

    @property
    def terms(self) -> list[tuple[Term, IndexSum]]:
        """Each run-time term with the start that it is computed from."""
        return list(zip(self.slice.terms, self.starts, strict=True))


#: Advice for ops that forward tiles. A layout is assigned to one alloc, so a tile must be known
#: statically.
INSTEAD_OF_TILES = (
    "loops, branches and selects cannot pass a tile: give one smem.alloc a leading dimension, pass an "
    "index, and use smem.stage where the tile is needed"
)


def chain_of(tile: Value, user: Op) -> tuple[AllocationOp, list[SubviewOp]]:
    """Return the alloc or view of a tile, and the stages and subtiles from it to the tile, in order.

    Raises:
        OpError: at `user`, if another op defines the tile.
    """
    chain: list[SubviewOp] = []
    op = tile.owner
    while not isinstance(op, AllocationOp):
        if not isinstance(op, SubviewOp):
            raise OpError(
                user,
                "uses a tile that is not a stage or subtile of an smem.alloc or smem.view, but comes "
                f"from {_origin(op)}",
            )
        chain.append(op)
        op = op.tile.owner
    return op, chain[::-1]


def is_transposed(chain: Sequence[SubviewOp]) -> bool:
    """Return whether rows of the tile at the end of a chain are columns of the allocation's."""
    return sum(isinstance(op, TransposeOp) for op in chain) % 2 == 1


def _origin(owner: Any) -> str:
    """Describe the owner of a tile that is not from an allocation, and what to do instead."""
    is_block = isinstance(owner, ir.Block)
    op = (owner.owner if is_block else owner).operation
    where = f"'{op.name}' at {format_location(op.location)}"
    if is_block and op == function_of(op) and owner == op.regions[0].blocks[0]:
        return f"an argument of {where}; make it in the kernel"
    return f"{'a block argument in ' * is_block}{where}; {INSTEAD_OF_TILES}"


def subtile_from(tile: Value, user: Op) -> Subtile:
    """Return a tile as a slice of its allocation.

    Args:
        tile: a value of tile type with a layout.
        user: the op that uses it, at which errors are reported.

    Raises:
        OpError: if the tile is not a stage or subtile of an alloc or view, or has no layout yet.
    """
    op, chain = chain_of(tile, user)
    layout = layout_of(op.tile.type)
    if layout is None:
        raise OpError(user, "uses a tile without a layout; run smem-assign-layouts before")
    subtile, starts = Slice(layout, 0), []
    origin = [IndexSum()] * len(layout.shape)
    for element in chain:
        inner = element.slice_of(subtile.layout)
        begins = _begins(origin, subtile.layout, element)
        starts += [begins[term.dim] for term in inner.terms]
        subtile = subtile.then(inner)
        # A stage drops the leading dimension.
        begins = begins[len(begins) - len(subtile.layout.shape) :]
        origin = [
            begin if isinstance(layout_origin, Multiple) else IndexSum()
            for begin, layout_origin in zip(begins, subtile.layout.origins, strict=True)
        ]
    return Subtile(op, subtile, tuple(starts), tuple(origin))


def _begins(origin: list[IndexSum], layout: TileLayout, op: Op) -> list[IndexSum]:
    """Return the start of a stage or subtile within the modes of its tile, for each dimension."""
    values = iter(op.run_time_starts)
    starts = [next(values) if isinstance(s, Multiple) else s for s in op.starts]
    starts += [0] * (len(origin) - len(starts))
    begins = [
        begin.plus(layout_origin if isinstance(layout_origin, int) else 0).plus(start)
        for begin, layout_origin, start in zip(origin, layout.origins, starts, strict=True)
    ]
    return begins[::-1] if isinstance(op, TransposeOp) else begins


def check_units(subtile: Subtile, op: Op, verb: str, needs: str) -> None:
    """Check that a subtile begins at a multiple of 16 bytes for all run-time starts.

    Args:
        subtile: the subtile.
        op: the op that uses it, at which the error is reported.
        verb: the verb of the message: "writes".
        needs: the reason; `{}` is replaced by the elements of 16 bytes: "16-byte accesses need multiples
            of {}".

    Raises:
        OpError: if it can begin between 16-byte units.
    """
    unit = subtile.slice.layout.element.unit
    if subtile.slice.multiple % unit:
        raise OpError(
            op,
            f"{verb} a subtile that begins {subtile.slice.multiple} elements or a multiple of that into "
            f"its tile; {needs.format(unit)}",
        )


def allocation_layout(allocation: Op) -> TileLayout:
    """Return the layout of an alloc or view, which must be assigned."""
    layout = layout_of(allocation.tile.type)
    assert layout is not None
    return layout
