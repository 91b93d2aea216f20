"""Few queries against many keys: into how many parts the keys of each head are split."""

from __future__ import annotations

from ..generator.config import MULTIPROCESSORS, Config
from .operands import Sizes

#: The blocks of keys that a part has at least, so that the second launch pays. Not measured.
LEAST_BLOCKS = 4


def parts_of(extents: Sizes, config: Config, has_left: bool) -> int:
    """Return the number of parts; 1 if the heads fill the GPU, or their queries more than one tile.

    All parts have a block: without a limit before it, the last query sees all keys.

    Args:
        extents: the problem's; queries of all batches have one length.
        config: the kernel's configuration.
        has_left: whether a query sees a limited number of keys before its own place.
    """
    items = extents.batches * extents.heads
    if has_left or config.consumers > 1 or extents.queries > config.queries:
        return 1
    blocks = -(-extents.keys // config.keys)
    wanted = max(min(blocks // LEAST_BLOCKS, MULTIPROCESSORS // items), 1)
    each = -(-blocks // wanted)
    return -(-blocks // each)
