"""Effects of the dialect's ops, as their classes declare them."""

from ...bindings.irtypes import Op
from ...dialect.effects import Accessed, declared_accesses
from ...dialect.op import SmemOp
from ...dialect.types import TileType


def has_effect(op: Op | type[SmemOp]) -> bool:
    """Whether an op of the dialect, or those of a class, access memory or order accesses.

    An op that allocates shared memory does neither: it is at the top of the kernel, and its own barrier
    guards what it stores there.
    """
    effects = op.effects
    return bool(effects.accesses or effects.orders) and not effects.allocates


def accessed_tiles(op: Op) -> list[Accessed]:
    """Return the tiles that an op accesses, and how, without memrefs."""
    return [each for each in declared_accesses(op) if isinstance(each.value.type, TileType)]


def pending_of(wait: Op) -> int:
    """Return how many of the latest groups an op that awaits groups leaves pending."""
    return wait.pending.value if hasattr(wait, "pending") else 0
