"""Copies by all threads of the CTA: each thread moves its share, 16 bytes at a time."""

from math import prod

from ...bindings.irtypes import Op, Value
from ...dialect.ops import CopyAsyncOp, CopyOp
from ...ir.errors import OpError
from ...ir.kernel import required_block_size
from ...ir.subtiles import Subtile, check_units, subtile_from
from ...ir.threads import linear_thread
from ...layout import Transposition
from .endpoints import GlobalSource, TileEndpoint
from .lowerings import LOWERINGS
from .scale_factors import copy_scale_blocks
from .tensor_maps import TensorMaps
from .transposing_copy import TransposingCopy
from .vector_copy import VectorCopy


@LOWERINGS.of(CopyOp, CopyAsyncOp)
def lower_copy(copy: CopyOp | CopyAsyncOp, _: TensorMaps) -> None:
    """Distribute the elements of a copy to the threads; see `layout.transfer`, `layout.transposition`."""
    size = required_block_size(copy)
    subtile = _subtile(copy, copy.tile, "writes")
    if copy.reads_scale_blocks:
        copy_scale_blocks(copy, subtile, linear_thread(size), prod(size))
        return
    source_tile = _subtile(copy, copy.source, "reads") if copy.reads_tile else None
    transfer = copy.transfer(prod(size), source_tile.slice.layout if source_tile else None)
    if problem := transfer.problem(subtile.slice.layout):
        raise OpError(copy, problem)
    plan = transfer.plan(subtile.slice.layout)
    thread = linear_thread(size)
    source = TileEndpoint(source_tile) if source_tile else GlobalSource(copy)
    target = TileEndpoint(subtile)
    if isinstance(plan, Transposition):
        TransposingCopy(copy, source, target, plan, thread).emit()
    else:
        VectorCopy(copy, source, target, plan, thread).emit()


def _subtile(copy: Op, tile: Value, verb: str) -> Subtile:
    """Return the subtile that an operand of a copy is.

    Raises:
        OpError: if it does not begin at a multiple of 16 bytes.
    """
    subtile = subtile_from(tile, copy)
    check_units(subtile, copy, verb, "16-byte accesses need multiples of {}")
    return subtile
