"""Searches for hazards: follows one access on all runs, up to where it is in order.

So a question costs what lies between two accesses.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from ...bindings.irtypes import Op
from .graph import AccessedBytes, Graph, Node, Segment
from .hazard import Hazard, Origin, hazard_between, is_by_async_proxy, replaces
from .program import Copy, Define, End, Opaque, Other, Step
from .progress import FENCED, PAST_BARRIER, Group, after, first_progress, group_of, is_enough
from .rectangles import Rectangle


class Span(NamedTuple):
    """Steps of a segment that a question about an access has passed: all between two of them, or from the
    begin, or to the end."""

    segment: Segment
    after: Step | None
    before: Step | None


class Found(NamedTuple):
    """A hazard.

    Attributes:
        reached: orders hazards as runs reach them: by the largest number of a node before, whether a loop
            went back since, the node, the access in it and which of its tiles, reads before writes, those
            that are complete before the latest ones, and when the bytes were first accessed.
        hazard: the hazard.
    """

    reached: tuple[int, ...]
    hazard: Hazard


class _Position(NamedTuple):
    """Where an access is followed on.

    Attributes:
        node: from the step at `begin` on.
        progress: that of the access.
        perhaps: an op with unknown effects that came since.
        most: the largest number of a node since.
        back: whether that node came before this one.
    """

    node: Node
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
        origins: all accesses that others may come too early after.
        questions: how often an access was followed.
    """

    def __init__(self, graph: Graph, furthest: int, forgets_unknown: bool = False) -> None:
        self._furthest = furthest
        self._forgets_unknown = forgets_unknown
        self._reached = _reachable_memory(graph)
        self.questions = 0
        self.origins: list[Origin] = []
        #: The number of the first access of the same bytes.
        self._first: dict[tuple[bool, Rectangle], int] = {}
        #: The memory that the async proxy reads, and that it writes: what threads write of the one, and
        #: read of the other, is fenced at some time.
        self._read_by_proxy = set()
        self._written_by_proxy = set()
        #: What each node touches, by memory.
        self._touched: dict[Node, dict[Hashable, set[Rectangle]]] = {}
        self._spans: dict[Origin, list[Span]] = {}
        self._through: dict[Segment, dict[Origin, None]] = {}
        meets: dict[Rectangle, dict[Node, bool]] = {}
        for node in graph.nodes:
            touched = self._touched[node] = {}
            for step, _, rectangles in node.accesses.values():
                for rectangle in rectangles:
                    touched.setdefault(rectangle.allocation.memory, set()).add(rectangle)
                    if isinstance(step, Define | End):
                        continue
                    met = meets.setdefault(rectangle, {})
                    origin = Origin(node, step, rectangle, len(self.origins), met)
                    self.origins.append(origin)
                    self._first.setdefault(_key(origin), origin.number)
                    if is_by_async_proxy(step):
                        writes = isinstance(step, Copy)
                        fenced = self._written_by_proxy if writes else self._read_by_proxy
                        fenced.add(rectangle.allocation.memory)

    # Questions.

    def all_of(self, origin: Origin) -> Iterator[Found]:
        """Yield the hazards of an access, on all runs."""
        return self._follow(origin)

    def all_of_each(self, origins: Iterable[Origin], later: Op | None = None) -> Iterator[Found]:
        """Yield the hazards of accesses, on all runs. Accesses of the same bytes by one step are followed
        once from where they are equally far.

        Args:
            origins: the accesses.
            later: the op whose hazards are wanted; None for all.
        """
        seen: dict[tuple[Step, Rectangle], set[Any]] = {}
        for origin in origins:
            own = seen.setdefault((origin.step, origin.rectangle), set())
            yield from self._follow(origin, later=later and later.operation, seen=own)

    def first_of(self, origin: Origin) -> list[Found]:
        """Return the first hazard on each run after an access."""
        spans: list[Span] = []
        found = list(self._follow(origin, spans, ends=True))
        self.set_spans(origin, spans)
        return found

    # What a question has passed.

    def passing(self, segment: Segment, step: Step) -> list[Origin]:
        """Return the accesses whose last question of `first_of` passed a step of a segment."""
        positions = segment.positions
        place = positions[step]

        def is_in(span: Span) -> bool:
            # What was last may have gone from the segment.
            return (
                span.segment is segment
                and (span.after is None or positions[span.after] < place)
                and (span.before is None or place <= positions.get(span.before, place))
            )

        through = self._through.get(segment, ())
        return [origin for origin in through if any(map(is_in, self._spans[origin]))]

    def spans_of(self, origin: Origin) -> list[Span]:
        """Return what the last question of `first_of` about an access passed."""
        return self._spans[origin]

    def set_spans(self, origin: Origin, spans: list[Span]) -> None:
        """Note what a question about an access passed."""
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
    ) -> Iterator[Found]:
        """Follow an access on all runs.

        Args:
            origin: the access.
            spans: receives what is passed.
            later: the op whose hazards are wanted; None for all.
            ends: whether a run ends with its first hazard.
            seen: where accesses of the same step and bytes were followed before.
        """
        self.questions += 1
        memory, group = origin.rectangle.allocation.memory, group_of(origin.step)
        is_fenced = memory in (self._read_by_proxy if origin.writes else self._written_by_proxy)
        enough = PAST_BARRIER | FENCED if is_fenced else PAST_BARRIER
        assert origin.node.segment is not None
        begin, number = origin.node.segment.positions[origin.step] + 1, origin.node.number
        work = [_Position(origin.node, begin, first_progress(origin.step), None, number, False)]
        seen = set() if seen is None else seen
        while work:
            position = work.pop()
            progress, perhaps, segment = position.progress, position.perhaps, position.node.segment
            steps: Iterable[Step] = ()
            if segment and (position.begin or self._meets(origin, position.node)):
                steps = islice(segment.steps, position.begin, None)
            elif segment:
                progress, other, forgets = self._through_segment(segment, progress, group)
                perhaps = perhaps or other
                if forgets or (perhaps and self._forgets_unknown) or is_enough(progress, enough):
                    if spans is not None:
                        spans.append(Span(segment, None, None))
                    continue
            last = None
            for step in steps:
                accessed = position.node.accesses.get(step)
                if accessed is not None:
                    now = position._replace(progress=progress, perhaps=perhaps)
                    wanted = later is None or accessed.step.op.operation == later
                    found = self._hazards_with(origin, now, accessed) if wanted else []
                    yield from found
                    if (found and ends) or replaces(accessed, origin):
                        last = step
                        break
                progress = after(progress, step, group, self._furthest)
                if isinstance(step, Other):
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
                            _Position(node, 0, progress, perhaps, most, most == position.most)
                        )
            if spans is not None and segment:
                spans.append(Span(segment, origin.step if position.begin else None, last))

    def _meets(self, origin: Origin, node: Node) -> bool:
        """Whether a node may access bytes of an access."""
        met = origin.meets.get(node)
        if met is None:
            rectangle = origin.rectangle
            touched = self._touched[node].get(rectangle.allocation.memory, ())
            met = any(rectangle.overlaps(each) is not False for each in touched)
            origin.meets[node] = met
        return met

    def _through_segment(
        self, segment: Segment, progress: int, group: Group | None
    ) -> tuple[int, Op | None, bool]:
        """Return the progress of an access after a segment that does not touch its bytes, the first op
        with unknown effects in it, and whether the access is not followed on."""
        key = progress, group
        if key not in segment.known:
            steps = segment.steps
            for step in steps:
                progress = after(progress, step, group, self._furthest)
            other = next((step.op for step in steps if isinstance(step, Other)), None)
            forgets = any(isinstance(step, Opaque) for step in steps)
            segment.known[key] = progress, other, forgets
        return segment.known[key]

    def _hazards_with(
        self, origin: Origin, position: _Position, accessed: AccessedBytes
    ) -> list[Found]:
        """Return the hazards between an access and a later one."""
        first = self._first[_key(origin)]
        found = []
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
                        accessed.place,
                        which,
                    )
                    age = -1 if hazard.age is None else hazard.age
                    found.append(Found((*reached, origin.writes, age, first), hazard))
        return found


def _key(origin: Origin) -> tuple[bool, Rectangle]:
    return origin.writes, origin.rectangle


def _reachable_memory(graph: Graph) -> dict[Node, frozenset]:
    """Return the memory that each node or one after it accesses."""
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
            more = reached[node].union(*(reached[each] for each in node.successors))
            if len(more) > len(reached[node]):
                reached[node], changed = more, True
    return reached
