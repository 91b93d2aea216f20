"""Few queries of heads that share keys: how many of these heads have their queries in one tile."""

from __future__ import annotations

from ....layout.wgmma import INSTRUCTION_M
from ..generator.config import QUERY_MULTIPLE


def heads_of_tile(queries: int, sharing: int) -> int:
    """Return the number of heads, a power of two; 1 where the queries of one head fill a tile.

    Args:
        queries: the queries of a head.
        sharing: the heads that share keys.

    Example:
        >>> heads_of_tile(4, 8), heads_of_tile(20, 8), heads_of_tile(4, 6), heads_of_tile(64, 8)
        (8, 2, 2, 1)
    """
    heads = 1
    least = max(queries, QUERY_MULTIPLE)
    while sharing % (2 * heads) == 0 and INSTRUCTION_M // (2 * heads) >= least:
        heads *= 2
    return heads
