"""Hazards: accesses that begin before an earlier one of the same bytes is complete and visible.

The search follows one access on all runs, up to where it is ordered before any later access. So the
cost of a question is the number of steps between two accesses.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from ...bindings.irtypes import Op
from ...dialect.effects import Proxy
from ...dialect.op import SmemOp
from .global_memory import by_same_threads
from .graph import Access, AccessedBytes, RunGraph, RunNode, Segment
from .program import (
    BulkRead,
    KernelEnd,
    MemoryWrite,
    MmaRead,
    Opaque,
    RegisterWrite,
    Step,
    ThreadRead,
    UnknownEffects,
)
from .progress import (
    FENCED,
    OPEN,
    PAST_BARRIER,
    Followed,
    Group,
    age_of,
    first_progress,
    group_of,
    is_enough,
    progress_after,
)
from .rectangles import Rectangle

#: The progress of accesses whose group is open or the latest one.
_IN_FLIGHT = (OPEN, OPEN - 1)

#: Why it is not known whether two accesses are a hazard.
_SAME_BYTES = "it is not known whether they share bytes"
_SAME_THREADS = "it is not known whether the same threads write the same bytes"


@dataclass(eq=False)
class Origin:
    """An access of some bytes on some runs, as the earlier one of possible hazards.

    Attributes:
        node, step: the access.
        rectangle: the bytes.
        number: the accesses are numbered as runs reach them first.
        may_overlap: whether a node may access some of the bytes, as far as it was computed.
    """

    node: RunNode
    step: Followed
    rectangle: Rectangle
    number: int
    may_overlap: dict[RunNode, bool]

    @property
    def writes(self) -> bool:
        """Whether it is a write."""
        return isinstance(self.step, MemoryWrite)


@dataclass(frozen=True)
class Hazard:
    """An access that begins while an earlier one may not be complete (RAW, WAR or WAW).

    Attributes:
        op: the op of the later access.
        rectangle: the tile that it accesses, or that the earlier access does.
        writes: whether it writes.
        proxy: the proxy by which it accesses the tile.
        trail: the loops around it, each with the number of its iteration.
        earlier: the op of the earlier access.
        at_end: whether the later one is the end of the kernel: `op` is the function.
        after_write: whether the earlier access is a write.
        age: how many groups came after the group of the earlier access; None if that is complete.
        fenced, past_barrier: whether a fence, and a barrier, came after it was complete.
        perhaps: an op with unknown effects that may have ordered the two.
        unsure: why it is not known whether the two are a hazard; empty if they are, on this run.
        lacks_all: whether no op that orders them came in between, except for one that closes a group.
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
    node: RunNode,
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
    at_end = isinstance(step, KernelEnd)
    overlaps = at_end or origin.rectangle.overlaps(rectangle)
    if overlaps is False:
        return None
    complete, earlier, unsure = progress >= 0, origin.step.op, ""
    fenced = complete and bool(progress & FENCED)
    past_barrier = complete and bool(progress & PAST_BARRIER)
    if at_end:
        ordered = complete or not isinstance(origin.step, BulkRead)
    elif isinstance(step, MmaRead | BulkRead):
        ordered = not origin.writes or (fenced and past_barrier)
    elif isinstance(step, ThreadRead):
        ordered = not origin.writes or past_barrier
    elif isinstance(step, RegisterWrite):
        ordered = origin.writes or complete
    elif origin.writes:
        same = rectangle.equals(origin.rectangle)
        # The order of two writes of an element of an array is left to the author. An op that is executed
        # again writes the same bytes by the same thread, so in order.
        is_repeated = complete and same and earlier == step.op
        ordered = past_barrier or rectangle.allocation.of_global or is_repeated
        if complete and not (same and _have_different_scopes(earlier, step.op)):
            unsure = _SAME_THREADS
    else:
        ordered = past_barrier and (fenced or not is_by_bulk(step))
    if ordered or _is_not_followed(earlier, step.op, origin.rectangle, rectangle):
        return None
    return Hazard(
        op=step.op,
        rectangle=origin.rectangle if rectangle.allocation.of_memref else rectangle,
        writes=isinstance(step, MemoryWrite | RegisterWrite),
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
    """Whether the order of two accesses is not checked: both are of other dialects, or each thread
    accesses its own elements of an array."""
    if one.allocation.of_memref and other.allocation.of_memref:
        return True
    is_by_smem_op = isinstance(later, SmemOp) or isinstance(earlier, SmemOp)
    return other.allocation.of_global and (not is_by_smem_op or by_same_threads(later, earlier))


def replaces(accessed: AccessedBytes, origin: Origin) -> bool:
    """Whether an access that is ordered after `accessed` is also ordered after an earlier one.

    So it is if `accessed` writes the same bytes, or reads them and completes later. Rectangles with the
    same unknown start count as the same: others overlap both in the same way. Accesses by ops of other
    dialects never have the same rectangle.
    """
    step = accessed.step
    if isinstance(step, RegisterWrite | KernelEnd) or origin.rectangle not in accessed.rectangles:
        return False
    if isinstance(step, MemoryWrite):
        return not origin.rectangle.allocation.of_global
    # Groups complete in their order.
    is_later = isinstance(origin.step, ThreadRead) or group_of(step) == group_of(origin.step)
    return not origin.writes and is_later


def is_by_async_proxy(step: Access) -> bool:
    """Whether an access is by the async proxy."""
    return isinstance(step, MmaRead | BulkRead) or is_by_bulk(step)


def is_by_bulk(step: Access) -> bool:
    """Whether an access is the write of a bulk copy."""
    return isinstance(step, MemoryWrite) and step.threads is not None


def _have_different_scopes(one: Op, other: Op) -> bool:
    """Whether two ops write the same bytes by different threads.

    One is executed by all threads of the CTA together, the other one by each warpgroup.
    """
    scopes = [op.effects.scope for op in (one, other) if isinstance(op, SmemOp)]
    return len(set(scopes)) > 1


class Span(NamedTuple):
    """The steps of a segment that a search has passed: those after `after` up to `before`; None for the
    begin and the end of the segment."""

    segment: Segment
    after: Step | None
    before: Step | None


class ReachedHazard(NamedTuple):
    """A hazard, with a key that orders hazards as runs reach them.

    Attributes:
        reached: the key: the largest number of a node before, whether a loop went back since, the node,
            the access in it and which of its tiles, whether the earlier one is a write, its age, and when
            the bytes were first accessed.
        hazard: the hazard.
    """

    reached: tuple[int, ...]
    hazard: Hazard


class _SearchPosition(NamedTuple):
    """A position of the search for hazards of an access.

    Attributes:
        node, begin: the node, from its step at `begin` on.
        progress: that of the access.
        perhaps: an op with unknown effects that came since.
        most: the largest number of a node since.
        back: whether that node came before this one.
    """

    node: RunNode
    begin: int
    progress: int
    perhaps: Op | None
    most: int
    back: bool


class Hazards:
    """Finds the hazards of a graph.

    Args:
        graph: the runs.
        furthest: groups are told apart up to this many groups back.
        forgets_unknown: whether an op with unknown effects orders all accesses; else it orders none.

    Attributes:
        origins: all accesses, as earlier ones of possible hazards.
        questions: how often an access was followed.
    """

    def __init__(self, graph: RunGraph, furthest: int, forgets_unknown: bool = False) -> None:
        self._furthest = furthest
        self._forgets_unknown = forgets_unknown
        self._reached = _reachable_memory(graph)
        self.questions = 0
        self.origins: list[Origin] = []
        #: The number of the first access of the same bytes.
        self._first: dict[tuple[bool, Rectangle], int] = {}
        #: The memory that the async proxy reads, and that it writes. Writes by threads to the first, and
        #: reads by threads of the second, must be fenced.
        self._read_by_proxy = set()
        self._written_by_proxy = set()
        #: The rectangles that each node accesses, by memory.
        self._touched: dict[RunNode, dict[Hashable, set[Rectangle]]] = {}
        self._spans: dict[Origin, list[Span]] = {}
        self._through: dict[Segment, dict[Origin, None]] = {}
        overlaps: dict[Rectangle, dict[RunNode, bool]] = {}
        for node in graph.nodes:
            touched = self._touched[node] = {}
            for step, _, rectangles in node.accesses.values():
                for rectangle in rectangles:
                    touched.setdefault(rectangle.allocation.memory, set()).add(rectangle)
                    if isinstance(step, RegisterWrite | KernelEnd):
                        continue
                    overlaps_by_node = overlaps.setdefault(rectangle, {})
                    origin = Origin(node, step, rectangle, len(self.origins), overlaps_by_node)
                    self.origins.append(origin)
                    self._first.setdefault(_key(origin), origin.number)
                    if is_by_async_proxy(step):
                        writes = isinstance(step, MemoryWrite)
                        fenced = self._written_by_proxy if writes else self._read_by_proxy
                        fenced.add(rectangle.allocation.memory)

    # Questions.

    def hazards_after(self, origin: Origin) -> Iterator[ReachedHazard]:
        """Yield the hazards of an access, on all runs."""
        return self._follow(origin)

    def hazards_after_all(
        self, origins: Iterable[Origin], later: Op | None = None
    ) -> Iterator[ReachedHazard]:
        """Yield the hazards of accesses, on all runs.

        Accesses of the same bytes by one step are followed once from where their progress is equal.

        Args:
            origins: the accesses.
            later: the op of the later access; None for all.
        """
        seen: dict[tuple[Step, Rectangle], set[Any]] = {}
        for origin in origins:
            seen_of_step = seen.setdefault((origin.step, origin.rectangle), set())
            yield from self._follow(origin, later=later and later.operation, seen=seen_of_step)

    def first_hazards(self, origin: Origin) -> list[ReachedHazard]:
        """Return the first hazard on each run after an access."""
        spans: list[Span] = []
        hazards = list(self._follow(origin, spans, ends=True))
        self.set_spans(origin, spans)
        return hazards

    # The steps that a search has passed.

    def passing(self, segment: Segment, step: Step) -> list[Origin]:
        """Return the accesses whose last search by `first_hazards` passed a step of a segment."""
        positions = segment.positions
        position = positions[step]

        def is_in(span: Span) -> bool:
            # The last step may have been removed from the segment.
            return (
                span.segment is segment
                and (span.after is None or positions[span.after] < position)
                and (span.before is None or position <= positions.get(span.before, position))
            )

        through = self._through.get(segment, ())
        return [origin for origin in through if any(map(is_in, self._spans[origin]))]

    def spans_of(self, origin: Origin) -> list[Span]:
        """Return the steps that the last search by `first_hazards` for an access passed."""
        return self._spans[origin]

    def set_spans(self, origin: Origin, spans: list[Span]) -> None:
        """Set the steps that a search for an access passed."""
        for span in self._spans.get(origin, ()):
            self._through[span.segment].pop(origin, None)
        for span in spans:
            self._through.setdefault(span.segment, {})[origin] = None
        self._spans[origin] = spans

    # Following an access.

    def _follow(
        self,
        origin: Origin,
        spans: list[Span] | None = None,
        later: Op | None = None,
        ends: bool = False,
        seen: set[Any] | None = None,
    ) -> Iterator[ReachedHazard]:
        """Follow an access on all runs.

        Args:
            origin: the access.
            spans: receives the passed steps.
            later: the op of the later access; None for all.
            ends: whether the search on a run ends with its first hazard.
            seen: positions from which accesses of the same step and bytes were followed before.
        """
        self.questions += 1
        memory, group = origin.rectangle.allocation.memory, group_of(origin.step)
        is_fenced = memory in (self._read_by_proxy if origin.writes else self._written_by_proxy)
        enough = PAST_BARRIER | FENCED if is_fenced else PAST_BARRIER
        assert origin.node.segment is not None
        begin, number = origin.node.segment.positions[origin.step] + 1, origin.node.number
        work = [
            _SearchPosition(origin.node, begin, first_progress(origin.step), None, number, False)
        ]
        seen = set() if seen is None else seen
        while work:
            position = work.pop()
            progress, perhaps, segment = position.progress, position.perhaps, position.node.segment
            steps: Iterable[Step] = ()
            if segment and (position.begin or self._may_overlap(origin, position.node)):
                steps = islice(segment.steps, position.begin, None)
            elif segment:
                progress, unknown_op, forgets = self._through_segment(segment, progress, group)
                perhaps = perhaps or unknown_op
                if forgets or (perhaps and self._forgets_unknown) or is_enough(progress, enough):
                    if spans is not None:
                        spans.append(Span(segment, None, None))
                    continue
            last = None
            for step in steps:
                accessed = position.node.accesses.get(step)
                if accessed is not None:
                    current = position._replace(progress=progress, perhaps=perhaps)
                    wanted = later is None or accessed.step.op.operation == later
                    hazards = self._hazards_with(origin, current, accessed) if wanted else []
                    yield from hazards
                    if (hazards and ends) or replaces(accessed, origin):
                        last = step
                        break
                progress = progress_after(progress, step, group, self._furthest)
                if isinstance(step, UnknownEffects):
                    perhaps = perhaps or step.op
                forgets = isinstance(step, Opaque) or (perhaps and self._forgets_unknown)
                if forgets or is_enough(progress, enough):
                    last = step
                    break
            else:
                for node in position.node.successors:
                    key = (node, progress, perhaps)
                    if not node.forgets and memory in self._reached[node] and key not in seen:
                        seen.add(key)
                        most = max(position.most, node.number)
                        work.append(
                            _SearchPosition(node, 0, progress, perhaps, most, most == position.most)
                        )
            if spans is not None and segment:
                spans.append(Span(segment, origin.step if position.begin else None, last))

    def _may_overlap(self, origin: Origin, node: RunNode) -> bool:
        """Whether a node may access bytes of an access."""
        overlaps = origin.may_overlap.get(node)
        if overlaps is None:
            rectangle = origin.rectangle
            touched = self._touched[node].get(rectangle.allocation.memory, ())
            overlaps = any(rectangle.overlaps(r) is not False for r in touched)
            origin.may_overlap[node] = overlaps
        return overlaps

    def _through_segment(
        self, segment: Segment, progress: int, group: Group | None
    ) -> tuple[int, Op | None, bool]:
        """Return the progress of an access after a segment that does not access its bytes, the first op
        with unknown effects in it, and whether the access is followed no further."""
        key = progress, group
        if key not in segment.known:
            steps = segment.steps
            for step in steps:
                progress = progress_after(progress, step, group, self._furthest)
            unknown_op = next((step.op for step in steps if isinstance(step, UnknownEffects)), None)
            forgets = any(isinstance(step, Opaque) for step in steps)
            segment.known[key] = progress, unknown_op, forgets
        return segment.known[key]

    def _hazards_with(
        self, origin: Origin, position: _SearchPosition, accessed: AccessedBytes
    ) -> list[ReachedHazard]:
        """Return the hazards between an access and a later one."""
        first = self._first[_key(origin)]
        hazards = []
        for which, rectangle in enumerate(accessed.rectangles):
            if rectangle.allocation.memory == origin.rectangle.allocation.memory:
                hazard = hazard_between(
                    origin,
                    position.progress,
                    position.perhaps,
                    position.node,
                    accessed.step,
                    rectangle,
                )
                if hazard is not None:
                    reached = (
                        position.most,
                        position.back,
                        position.node.number,
                        accessed.position,
                        which,
                    )
                    age = -1 if hazard.age is None else hazard.age
                    hazards.append(ReachedHazard((*reached, origin.writes, age, first), hazard))
        return hazards


def _key(origin: Origin) -> tuple[bool, Rectangle]:
    return origin.writes, origin.rectangle


def _reachable_memory(graph: RunGraph) -> dict[RunNode, frozenset]:
    """Return the memory that each node, or a node after it, accesses."""
    reached = {
        node: frozenset(
            rectangle.allocation.memory
            for accessed in node.accesses.values()
            for rectangle in accessed.rectangles
        )
        for node in graph.nodes
    }
    changed = True
    while changed:
        changed = False
        for node in reversed(graph.nodes):
            memory = reached[node].union(*(reached[successor] for successor in node.successors))
            if len(memory) > len(reached[node]):
                reached[node], changed = memory, True
    return reached
