"""Which accesses may begin before an earlier one is over: questions about one access, or one pair of ops.

What has happened to an access since it was executed is one small number, its *progress*:

    -1, -2, ...  in flight: its group is open, or 0, 1, ... groups were committed after it
    0 to 3       complete: FENCED, if its threads fenced it since; PAST_BARRIER, if a barrier came since

Ops only move it up, and where it is as far as any later access needs, its run need not be followed on.
So a question costs what lies between two accesses. An op that is inserted leaves in order what is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...dialect.effects import Proxy
from ...dialect.irtypes import Op
from ...dialect.op import SmemOp
from ..check_async.global_memory import by_same_threads
from ..check_async.interpreter import SAME_BYTES, SAME_THREADS, Hazard, have_different_scopes
from ..check_async.program import (
    Barrier,
    Commit,
    Copy,
    CopyWait,
    Define,
    Fence,
    Load,
    Mma,
    Opaque,
    Other,
    Step,
    Wait,
)
from ..check_async.rectangles import Rectangle
from ..check_async.state import Read, Write
from .graph import Access, Graph, Node, Segment

FENCED, PAST_BARRIER = 1, 2

#: The progress of an access whose group is open; that of one whose group is the latest is one less.
OPEN = -1


@dataclass(eq=False)
class Origin:
    """An access of some bytes on some runs, which others may come too early after.

    Attributes:
        node, step: where it is.
        rectangle: the bytes.
        number: in the order in which runs reach the accesses first.
    """

    node: Node
    step: Copy | Load | Mma
    rectangle: Rectangle
    number: int

    @property
    def writes(self) -> bool:
        """Whether it is a write."""
        return type(self.step) is Copy


class Span(NamedTuple):
    """Steps of a segment that a question about an access has passed: all between two of them, or from the
    begin, or to the end."""

    segment: Segment
    after: Step | None
    before: Step | None


class Found(NamedTuple):
    """A hazard.

    Attributes:
        reached: orders hazards as runs reach them first: by the largest number of a node before, whether
            a loop went back since, the node, the access in it and which of its tiles, reads before writes, and when the bytes
            were first accessed.
        hazard: the hazard.
    """

    reached: tuple[int, ...]
    hazard: Hazard


class Hazards:
    """Finds the hazards of a graph.

    Args:
        graph: the runs.
        furthest: groups are told apart up to this many groups back.

    Attributes:
        origins: all accesses that others may come too early after.
        questions: how often an access was followed.
    """

    def __init__(self, graph: Graph, furthest: int) -> None:
        self._floor = OPEN - 1 - furthest
        self._reached = _reachable_memory(graph)
        self.origins: list[Origin] = []
        self.questions = 0
        self._passed: dict[Origin, list[Span]] = {}
        self._through: dict[Segment, dict[Origin, None]] = {}
        self._places = {
            node: {step: place for place, step in enumerate(node.rectangles)} for node in graph.nodes
        }
        #: The number of the first access of the same bytes.
        self._first: dict[tuple[bool, Rectangle], int] = {}
        #: The memory that mma read: its writes are fenced at some time.
        self._read_by_mma = set()
        for node in graph.nodes:
            for step, rectangles in node.rectangles.items():
                if isinstance(step, Define):
                    continue
                for rectangle in rectangles:
                    origin = Origin(node, step, rectangle, len(self.origins))
                    self.origins.append(origin)
                    self._first.setdefault(_key(origin), origin.number)
                    if isinstance(step, Mma):
                        self._read_by_mma.add(rectangle.allocation.memory)

    def first_of(self, origin: Origin) -> list[Found]:
        """Return the first hazard on each run after an access."""
        spans: list[Span] = []
        found = list(self._follow(origin, spans))
        self.set_passed(origin, spans)
        return found

    def of_pair(self, origin: Origin, later: Op) -> Iterator[Hazard]:
        """Yield the hazards of an access with an op, on all runs."""
        return (found.hazard for found in self._follow(origin, None, later.operation))

    def passing(self, segment: Segment, step: Step) -> list[Origin]:
        """Return the accesses whose last question passed a step of a segment."""
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
        return [origin for origin in through if any(map(is_in, self._passed[origin]))]

    def passed(self, origin: Origin) -> list[Span]:
        """Return what the last question of `first_of` about an access passed."""
        return self._passed[origin]

    def set_passed(self, origin: Origin, spans: list[Span]) -> None:
        """Note what a question about an access passed."""
        for span in self._passed.get(origin, ()):
            self._through[span.segment].pop(origin, None)
        for span in spans:
            self._through.setdefault(span.segment, {})[origin] = None
        self._passed[origin] = spans

    def _follow(
        self, origin: Origin, spans: list[Span] | None, later: Op | None = None
    ) -> Iterator[Found]:
        """Follow an access on all runs, up to the first hazard of each, or all with one op."""
        self.questions += 1
        step, memory = origin.step, origin.rectangle.allocation.memory
        by_copies = type(step) is Copy and step.asynchronous
        by_mma = type(step) is Mma
        enough = PAST_BARRIER
        if origin.writes and memory in self._read_by_mma:
            enough |= FENCED
        progress = OPEN if by_copies else OPEN - 1 if by_mma else 0
        begin = origin.node.segment.positions[step] + 1
        work = [(origin.node, begin, progress, None, origin.node.number, False)]
        seen = set()
        while work:
            node, begin, progress, perhaps, furthest, back = work.pop()
            segment, at = node.segment, None
            steps = segment.steps if segment else ()
            for position in range(begin, len(steps)):
                at = steps[position]
                kind = type(at)
                if kind in _ACCESSES:
                    for which, rectangle in enumerate(node.rectangles.get(at, ())):
                        if rectangle.allocation.memory != memory:
                            continue
                        hazard = self._hazard(origin, progress, perhaps, at, rectangle)
                        if hazard is not None and (later is None or at.op.operation == later):
                            place = self._places[node][at]
                            reached = (furthest, back, node.number, place, which, origin.writes)
                            yield Found((*reached, self._first[_key(origin)]), hazard)
                        if (hazard is not None and later is None) or _replaces(
                            at, rectangle, origin
                        ):
                            break
                    else:
                        if kind is Mma and by_mma and progress < 0:
                            progress = max(progress - 1, self._floor)
                        continue
                    break
                if kind is Commit:
                    if by_copies and progress < 0:
                        progress = max(progress - 1, self._floor)
                elif kind is CopyWait:
                    if by_copies and progress <= OPEN - 1 - at.pending:
                        progress = 0
                elif kind is Wait:
                    if by_mma and progress <= OPEN - 1 - at.pending:
                        progress = 0
                elif kind is Fence:
                    if progress >= 0:
                        progress |= FENCED
                elif kind is Barrier:
                    if progress >= 0:
                        progress |= PAST_BARRIER
                elif kind is Other:
                    perhaps = perhaps or at.op
                elif kind is Opaque:
                    break
                if progress >= 0 and progress & enough == enough:
                    break
            else:
                at = None
                for successor in node.successors:
                    if memory not in self._reached[successor]:
                        continue
                    key = (successor, progress, perhaps)
                    if key not in seen:
                        seen.add(key)
                        most = max(furthest, successor.number)
                        work.append((successor, 0, progress, perhaps, most, most == furthest))
            if spans is not None and segment:
                spans.append(Span(segment, steps[begin - 1] if begin else None, at))

    def _hazard(
        self,
        origin: Origin,
        progress: int,
        perhaps: Op | None,
        step: Access,
        rectangle: Rectangle,
    ) -> Hazard | None:
        """Return the hazard between an access and a later one; None if there is none."""
        complete, past_barrier = progress >= 0, progress >= 0 and progress & PAST_BARRIER
        kind, unsure, earlier = type(step), "", origin.step.op
        overlaps = origin.rectangle.overlaps(rectangle)
        if overlaps is False:
            return None
        if kind is Mma:
            ordered = not origin.writes or progress == FENCED | PAST_BARRIER
        elif kind is Load:
            ordered = not origin.writes or past_barrier
        elif kind is Define:
            ordered = origin.writes or complete
        elif origin.writes:
            same = rectangle.equals(origin.rectangle)
            # Which of two writes of an element of an array is the last is left to the author. An op that
            # is executed again gives each thread the same bytes, which it writes in order.
            again = complete and same and earlier == step.op
            ordered = past_barrier or rectangle.allocation.of_global or again
            if complete and not (same and have_different_scopes(earlier, step.op)):
                unsure = SAME_THREADS
        else:
            ordered = past_barrier
        if ordered or _is_not_followed(earlier, step.op, origin.rectangle, rectangle):
            return None
        of_tile = origin.rectangle if rectangle.allocation.of_memref else rectangle
        group = None if complete else 0
        past: Write | Read = Read(earlier, group, perhaps)
        if origin.writes:
            fenced = complete and bool(progress & FENCED)
            past = Write(earlier, group, fenced, bool(past_barrier), perhaps)
        age = None if complete else OPEN - 1 - progress
        proxy = Proxy.ASYNC if kind is Mma else Proxy.GENERIC
        unsure = unsure if overlaps else SAME_BYTES
        writes = kind in (Copy, Define)
        return Hazard(step.op, of_tile, writes, past, age, unsure, (), proxy)


def _key(origin: Origin) -> tuple[bool, Rectangle]:
    return origin.writes, origin.rectangle


_ACCESSES = frozenset((Copy, Define, Load, Mma))


def _is_not_followed(earlier: Op, later: Op, one: Rectangle, other: Rectangle) -> bool:
    """Whether the order of two accesses is not asked for: both are of other dialects, or each thread
    accesses its own elements of an array."""
    if one.allocation.of_memref and other.allocation.of_memref:
        return True
    own = isinstance(later, SmemOp) or isinstance(earlier, SmemOp)
    return other.allocation.of_global and (not own or by_same_threads(later, earlier))


def _replaces(step: Access, rectangle: Rectangle, origin: Origin) -> bool:
    """Whether what comes after an access in order also comes after an earlier one: it writes the same
    bytes, or reads them and is over later. Bytes at unknown places overlap others as the same do."""
    kind = type(step)
    if kind is Define or rectangle != origin.rectangle:
        return False
    if kind is Copy:
        return not rectangle.allocation.of_global
    if origin.writes:
        return False
    return kind is Mma or type(origin.step) is Load


def _reachable_memory(graph: Graph) -> dict[Node, frozenset]:
    """Return the memory that each node or one after it accesses."""
    reached = {
        node: frozenset(r.allocation.memory for rs in node.rectangles.values() for r in rs)
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
