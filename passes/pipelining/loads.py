"""The loads of a loop that can be early, and what hinders others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import AllocOp, CopyOp, StoreOp
from ...dialect.ops.subview import SubviewOp
from ...ir.errors import OpError
from ...ir.kernel import function_of
from ...ir.walk import holds, walk
from ..insert_sync.insertion_points import ancestor_in
from ..order.effects import accessed_tiles, base_of, is_constant_argument
from ..order.program import LOOPS
from ..order.report import label
from .slices import LoopSlice, slice_of


class TileLoad(NamedTuple):
    """A copy of a window of an array to a tile, which an iteration reads and no other one.

    Attributes:
        copy: the copy.
        users: the ops of the loop that take the tile, or are in a region of it.
        start: computes the window.
    """

    copy: CopyOp
    users: tuple[Op, ...]
    start: LoopSlice

    @property
    def tile(self) -> Value:
        """The tile."""
        return self.copy.tile


def loads_of(owner: Op) -> tuple[list[TileLoad], list[OpError]]:
    """Return the loads of an `scf.for`, or of a function outside of loops, in order, and for each other
    copy there why it cannot be early."""
    loads: list[TileLoad] = []
    hindrances: list[OpError] = []
    for copy in _copies(owner):
        try:
            loads.append(_load(copy, owner))
        except OpError as error:
            hindrances.append(error)
    return loads, hindrances


def _copies(owner: Op) -> Iterator[CopyOp]:
    """Yield the copies from arrays in a loop or function, and not in a loop within it."""
    for copy in walk(owner, CopyOp):
        around = copy.operation.parent.operation
        while around.name not in LOOPS and around != owner:
            around = around.parent.operation
        if around == owner and not copy.reads_tile:
            yield copy


def _load(copy: CopyOp, owner: Op) -> TileLoad:
    """Return the load that a copy is.

    Raises:
        OpError: if it cannot be early.
    """
    body = owner.regions[0].blocks[0]
    if copy.operation.block != body:
        around = ancestor_in(body, copy.operation) or owner
        raise OpError(copy, f"is in the {label(around)}; copy in each iteration")
    if copy.relayout:
        raise OpError(copy, "transposes elements in registers (relayout); cp.async does not")
    tile = copy.tile
    if isinstance(tile.owner, ir.Block) or tile.owner.name != AllocOp.OPERATION_NAME:
        raise OpError(copy, "fills a part of a tile; allocate a tile of its shape")
    users = [op for op in _accesses(tile) if ancestor_in(body, op) is not None]
    if len(users) < 2:
        raise OpError(copy, "fills a tile that nothing reads there")
    for op in users:
        is_other = op != copy.operation
        if is_other and any(_is_write_of(op, tile)):
            raise OpError(
                copy, f"fills a tile that the {label(op)} also writes; copy to another one"
            )
        if is_other and not copy.operation.is_before_in_block(ancestor_in(body, op)):
            message = f"fills a tile that the {label(op)} reads before, from the last iteration"
            raise OpError(copy, f"{message}; read it behind the copy")
    _check_outside(copy, owner, [op for op in _accesses(tile) if op not in users])
    if not is_constant_argument(base_of(copy.source), function_of(copy)):
        raise OpError(copy, "copies from an array that the kernel also writes")
    try:
        start = slice_of([copy.source], body)
    except OpError as error:
        message = f"begins where the {label(error.op)} says, which cannot be computed early"
        raise OpError(copy, message) from None
    return TileLoad(copy, tuple(op for op in users if op != copy.operation), start)


def _check_outside(copy: CopyOp, loop: Op, others: list[Op]) -> None:
    """Check that no op outside of a loop reads what the loop has loaded.

    Raises:
        OpError: if one may.
    """
    block = loop.block
    after = []
    for op in others:
        around = ancestor_in(block, op)
        if around is None:
            raise OpError(copy, _read_outside(op))
        if loop.is_before_in_block(around):
            after.append(op)
    # The next iteration of a loop around it goes on with the ops before it.
    repeated = [op for op in others if op not in after] if _is_repeated(block) else []
    for op in [*after[:1], *repeated[:1]]:
        if op.block != block or not _fills(op, copy.tile):
            raise OpError(copy, _read_outside(op))


def users_behind(tile: Value, loop: Op) -> list[Op]:
    """Return the ops behind a loop that take a tile which the first of them fills anew; none if one is in
    a loop, which may load it."""
    users = []
    for op in _accesses(tile):
        around = ancestor_in(loop.block, op)
        if around is None or not loop.is_before_in_block(around):
            continue
        if any(holds(around, name) for name in LOOPS):
            return []
        users.append(op)
    return users


def has_other_users(load: TileLoad, others: Iterable[Op] = ()) -> bool:
    """Whether ops take the tile of a load besides its loop's, and besides some others."""
    known = {load.copy.operation, *load.users, *others}
    return any(op not in known for op in _accesses(load.tile))


def _is_repeated(block: Block) -> bool:
    parent = block.owner.operation
    return "function_type" not in parent.attributes


def _fills(op: Op, tile: Value) -> bool:
    """Whether an op writes all of a tile, and reads nothing of it."""
    view = op.opview
    return (isinstance(view, CopyOp) and view.tile == tile) or (
        isinstance(view, StoreOp) and view.target == tile
    )


def _accesses(tile: Value) -> list[Op]:
    """Return the ops that take a tile, or a part of it, in their order."""
    views, users = [tile], set()
    while views:
        for use in views.pop().uses:
            op = use.owner.operation
            if isinstance(op.opview, SubviewOp):
                views.append(op.results[0])
            else:
                users.add(op)
    return [op for op in walk(function_of(tile.owner)) if op in users]


def _is_write_of(op: Op, tile: Value) -> Iterator[bool]:
    for value, access in accessed_tiles(op.opview):
        yield access.writes and _allocation(value) == tile


def _allocation(view: Value) -> Value:
    while isinstance(view.owner.opview, SubviewOp):
        view = view.owner.operands[0]
    return view


def _read_outside(op: Op) -> str:
    return f"fills a tile that the {label(op)} takes outside of the loop; use another one there"
