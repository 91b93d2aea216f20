"""Few queries against many keys: into how many parts the keys of each head are split."""

from __future__ import annotations

from ..generator.config import MULTIPROCESSORS, Config
from ..generator.problem import Problem
from .operands import Sizes

#: The blocks of keys that a part has at least, so that the second launch pays. Not measured.
LEAST_BLOCKS = 4


def parts_of(problem: Problem, extents: Sizes, config: Config) -> int:
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
    wanted = max(min(blocks // LEAST_BLOCKS, MULTIPROCESSORS // items), 1)
    each = -(-blocks // wanted)
    return -(-blocks // each)
