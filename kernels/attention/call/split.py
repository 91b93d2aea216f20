"""Few queries against many keys: into how many parts the keys of each head are split."""

from __future__ import annotations

from ..generator.config import MULTIPROCESSORS, Config
from ..generator.problem import Problem
from .operands import AttentionExtents

#: Combining 8 parts or fewer takes as long as so many blocks of keys, 16 parts twice that. Measured on an
#: H100 with one query of 64 heads over 8, of 512 to 8192 keys.
COMBINING, _PARTS = 4, 8


def parts_of(problem: Problem, extents: AttentionExtents, config: Config) -> int:
    """Return the number of parts; 1 if the tiles fill the GPU, or the queries of a head need several.

    All parts have a block: without a limit before it, the last query sees all keys.

    Args:
        problem: the problem.
        extents: its extents.
        config: the kernel's configuration.
    """
    items = extents.batches * extents.heads // problem.heads
    several_tiles = extents.queries * problem.heads > config.rows
    if problem.packed or problem.left or config.consumers > 1 or several_tiles:
        return 1
    blocks = -(-extents.keys // config.keys)
    most = max(MULTIPROCESSORS // items, 1)
    # Of equal durations the fewest parts are taken, of which none is empty.
    return min(range(1, most + 1), key=lambda parts: _duration(blocks, parts))


def _duration(blocks: int, parts: int) -> int:
    """Return the duration of both launches, in blocks of keys."""
    return -(-blocks // parts) + (COMBINING * -(-parts // _PARTS) if parts > 1 else 0)
