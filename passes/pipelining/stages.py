"""How many stages the tiles of a loop have."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...bindings.irtypes import Op, Value
from ...dialect.ops import AllocOp
from ...dialect.types import shape_of, tile_element
from ...ir.errors import OpError
from ...ir.walk import walk

#: More stages than these hide no more latency.
_MOST = 4


def count_stages(
    loop: Op, function: Op, tiles: Sequence[Value], wanted: int, max_bytes: int, more: int = 0
) -> int:
    """Return how many stages tiles get.

    Args:
        loop: the loop that loads them.
        function: the function; its other tiles stay.
        tiles: those that get stages.
        wanted: the number; 0 for as many as fit, up to four.
        max_bytes: the shared memory of a CTA.
        more: what else takes bytes of it.

    Raises:
        OpError: at the loop, if no two stages fit, or not as many as are wanted.
    """
    stage = sum(map(tile_bytes, tiles))
    others = more + sum(
        tile_bytes(op.tile) for op in walk(function, AllocOp) if op.tile not in tiles
    )
    fitting = (max_bytes - others) // stage
    if fitting < max(2, wanted):
        sizes = " + ".join(str(tile_bytes(tile)) for tile in tiles)
        raise OpError(
            loop,
            f"{max(2, wanted)} stages do not fit: a stage takes {sizes} = {stage} bytes, other tiles "
            f"{others}, and a CTA has {max_bytes}; {fitting} would fit",
        )
    return wanted or min(fitting, _MOST)


def tile_bytes(tile: Value) -> int:
    """Return the bytes of a tile, without the padding that its layout may need."""
    return -(-prod(shape_of(tile.type)) * tile_element(tile.type).bits // 8)
