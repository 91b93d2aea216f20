"""Copies by all threads of the block: each moves its share, 16 bytes at a time."""

from math import prod
from typing import Any

from ...dialect.ops import CopyAsyncOp, CopyOp
from ...ir.errors import OpError
from ...ir.kernel import required_block_size
from ...ir.subtiles import Subtile, check_units, subtile_from
from ...ir.threads import linear_thread
from ...layout import Transposition
from .blocks import Blocks
from .ends import GlobalSource, TileEnd
from .factors import lower_blocks
from .lowerings import LOWERINGS
from .vectors import Vectors


@LOWERINGS.of(CopyOp, CopyAsyncOp)
def lower_copy(copy: Any, _: Any) -> None:
    """Deals what the copy moves to the threads; see `layout.transfer` and `layout.transposition`."""
    size = required_block_size(copy)
    subtile = _subtile(copy, copy.tile, "writes")
    if copy.reads_blocks:
        lower_blocks(copy, subtile, linear_thread(size), prod(size))
        return
    read = _subtile(copy, copy.source, "reads") if copy.reads_tile else None
    transfer = copy.transfer(prod(size), read.slice.layout if read else None)
    if problem := transfer.problem(subtile.slice.layout):
        raise OpError(copy, problem)
    plan = transfer.plan(subtile.slice.layout)
    thread = linear_thread(size)
    source = TileEnd(read) if read else GlobalSource(copy)
    target = TileEnd(subtile)
    if isinstance(plan, Transposition):
        Blocks(copy, source, target, plan, thread).emit()
    else:
        Vectors(copy, source, target, plan, thread).emit()


def _subtile(copy: Any, tile: Any, does: str) -> Subtile:
    """The part that an operand of a copy is.

    Raises:
        OpError: if it does not begin at a multiple of 16 bytes.
    """
    subtile = subtile_from(tile, copy)
    check_units(subtile, copy, does, "16-byte accesses need multiples of {}")
    return subtile
