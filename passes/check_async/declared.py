"""What the checker asks ops of the dialect; each declares it as its effects."""

from typing import Any

from ...dialect.effects import Accessed, accessed
from ...dialect.types import TileType


def has_effect(op: Any) -> bool:
    """Whether an op of the dialect, or those of a class, access memory or put accesses in order.

    An op that allocates shared memory does neither: it is at the top of the kernel, and its barrier
    guards what it keeps there itself.
    """
    effects = op.effects
    return bool(effects.accesses or effects.orders) and not effects.allocates


def accessed_tiles(op: Any) -> list[Accessed]:
    """The tiles that an op accesses, and how; memrefs are left out."""
    return [each for each in accessed(op) if isinstance(each.value.type, TileType)]


def pending_of(wait: Any) -> int:
    """How many of the latest groups an op that awaits groups leaves pending."""
    return wait.pending.value if hasattr(wait, "pending") else 0
