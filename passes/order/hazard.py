"""Which accesses are a hazard: when a later one may not begin yet."""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.irtypes import Op
from ...dialect.effects import Proxy
from ...dialect.op import SmemOp
from .global_memory import by_same_threads
from .graph import Access, AccessedBytes, Node
from .program import BulkStore, Copy, Define, End, Load, Mma
from .progress import FENCED, OPEN, PAST_BARRIER, Followed, age_of, first_progress, group_of
from .rectangles import Rectangle

#: The progress of accesses whose group is open or the latest one.
_IN_FLIGHT = (OPEN, OPEN - 1)

#: Why it is not known whether two accesses are a hazard.
_SAME_BYTES = "it is not known whether they share bytes"
_SAME_THREADS = "it is not known whether the same threads write the same bytes"


@dataclass(eq=False)
class Origin:
    """An access of some bytes on some runs, which others may come too early after.

    Attributes:
        node, step: where it is.
        rectangle: the bytes.
        number: in the order in which runs reach the accesses first.
        meets: whether nodes may access some of the bytes, as far as it was asked.
    """

    node: Node
    step: Followed
    rectangle: Rectangle
    number: int
    meets: dict[Node, bool]

    @property
    def writes(self) -> bool:
        """Whether it is a write."""
        return isinstance(self.step, Copy)


@dataclass(frozen=True)
class Hazard:
    """An access that begins while an earlier one may not be complete (RAW, WAR or WAW).

    Attributes:
        op: the op that begins.
        rectangle: the tile that it accesses, or that the earlier access does.
        writes: whether it writes.
        proxy: the proxy by which it accesses them.
        trail: the loops around it, each with the number of its iteration.
        earlier: the op of the earlier access.
        at_end: whether the kernel ends there: `op` is the function.
        after_write: whether that is a write.
        age: how many groups came after the earlier access's group; None if that is complete.
        fenced, past_barrier: whether a fence, and a barrier, came after it was complete.
        perhaps: an op with unknown effects that may have ordered them.
        unsure: why it is not known whether the two are a hazard; empty if they are, on this run.
        lacks_all: whether nothing that orders them came in between, but perhaps what closes a group.
    """

    op: Op
    rectangle: Rectangle
    writes: bool
    proxy: Proxy
    trail: tuple[tuple[Op, int], ...]
    earlier: Op
    at_end: bool
    after_write: bool
    age: int | None
    fenced: bool
    past_barrier: bool
    perhaps: Op | None
    unsure: str
    lacks_all: bool


def hazard_between(
    origin: Origin,
    progress: int,
    perhaps: Op | None,
    node: Node,
    step: Access,
    rectangle: Rectangle,
) -> Hazard | None:
    """Return the hazard between an access and a later one; None if there is none.

    Args:
        origin: the earlier access.
        progress: its progress.
        perhaps: an op with unknown effects that came since.
        node, step, rectangle: the later access.
    """
    at_end = isinstance(step, End)
    overlaps = at_end or origin.rectangle.overlaps(rectangle)
    if overlaps is False:
        return None
    complete, earlier, unsure = progress >= 0, origin.step.op, ""
    fenced = complete and bool(progress & FENCED)
    past_barrier = complete and bool(progress & PAST_BARRIER)
    if at_end:
        ordered = complete or not isinstance(origin.step, BulkStore)
    elif isinstance(step, Mma | BulkStore):
        ordered = not origin.writes or (fenced and past_barrier)
    elif isinstance(step, Load):
        ordered = not origin.writes or past_barrier
    elif isinstance(step, Define):
        ordered = origin.writes or complete
    elif origin.writes:
        same = rectangle.equals(origin.rectangle)
        # Which of two writes of an element of an array is the last is left to the author. An op that is
        # executed again gives each thread the same bytes, which it writes in order.
        again = complete and same and earlier == step.op
        ordered = past_barrier or rectangle.allocation.of_global or again
        if complete and not (same and _have_different_scopes(earlier, step.op)):
            unsure = _SAME_THREADS
    else:
        ordered = past_barrier and (fenced or not is_by_bulk(step))
    if ordered or _is_not_followed(earlier, step.op, origin.rectangle, rectangle):
        return None
    return Hazard(
        op=step.op,
        rectangle=origin.rectangle if rectangle.allocation.of_memref else rectangle,
        writes=isinstance(step, Copy | Define),
        proxy=Proxy.ASYNC if is_by_async_proxy(step) else Proxy.GENERIC,
        trail=node.trail,
        earlier=earlier,
        at_end=at_end,
        after_write=origin.writes,
        age=age_of(progress),
        fenced=fenced,
        past_barrier=past_barrier,
        perhaps=perhaps,
        unsure=unsure if overlaps else _SAME_BYTES,
        lacks_all=progress in (first_progress(origin.step), *_IN_FLIGHT),
    )


def _is_not_followed(earlier: Op, later: Op, one: Rectangle, other: Rectangle) -> bool:
    """Whether the order of two accesses is not asked for: both are of other dialects, or each thread
    accesses its own elements of an array."""
    if one.allocation.of_memref and other.allocation.of_memref:
        return True
    own = isinstance(later, SmemOp) or isinstance(earlier, SmemOp)
    return other.allocation.of_global and (not own or by_same_threads(later, earlier))


def replaces(accessed: AccessedBytes, origin: Origin) -> bool:
    """Whether what comes after an access in order also comes after an earlier one: it writes the same
    bytes, or reads them and is over later. Bytes at unknown places overlap others as the same do. (What
    ops of other dialects access is never the same.)"""
    step = accessed.step
    if isinstance(step, Define | End) or origin.rectangle not in accessed.rectangles:
        return False
    if isinstance(step, Copy):
        return not origin.rectangle.allocation.of_global
    # Groups complete in their order.
    is_later = isinstance(origin.step, Load) or group_of(step) == group_of(origin.step)
    return not origin.writes and is_later


def is_by_async_proxy(step: Access) -> bool:
    """Whether an access is one by the async proxy."""
    return isinstance(step, Mma | BulkStore) or is_by_bulk(step)


def is_by_bulk(step: Access) -> bool:
    """Whether an access is the write of a bulk copy."""
    return isinstance(step, Copy) and step.threads is not None


def _have_different_scopes(one: Op, other: Op) -> bool:
    """Whether two ops write the same bytes by different threads.

    All threads of the CTA share the bytes of one; each warpgroup writes what it holds in the other.
    """
    scopes = [op.effects.scope for op in (one, other) if isinstance(op, SmemOp)]
    return len(set(scopes)) > 1
