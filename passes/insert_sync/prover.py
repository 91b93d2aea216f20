"""Provers: they find unordered accesses of a function, again while ops are inserted and removed.

In a function without pipelines they search pairs, whose accesses and runs are computed once. An inserted
op leaves ordered pairs in order, so only open pairs are searched again. After a removal, only accesses
whose search has passed the removed op are. Other functions are analyzed as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush, heapreplace
from typing import Protocol

from ...bindings.irtypes import Block, Op
from ...dialect.ops import CopyCommitOp, TmaCommitOp
from ...ir.errors import OpError
from ...ir.op_address import op_address
from ..check_async.analysis import Analysis, Analyzer
from ..check_async.check import blocks_of, has_pipelines
from ..order import report
from ..order.function_ops import Entry, FunctionOps
from ..order.global_memory import GlobalArrays
from ..order.graph import RunGraph, Segment, Segments
from ..order.hazards import Hazard, Hazards, Origin, ReachedHazard
from ..order.needs import Unordered
from ..order.program import BulkWait, CopyWait, ElectRegion, MmaWait
from ..order.prove import check_written
from ..order.translate import Translator
from .inserted import COMMITS

#: The beginning of refusals.
REFUSED = "cannot insert synchronization"


class Prover(Protocol):
    """Finds the unordered accesses of a function, while ops are inserted and removed.

    Attributes:
        unknown: ops of which something is not known, with the reason.
        questions: how often accesses were followed.
    """

    unknown: dict[tuple[Op, str], None]

    @property
    def questions(self) -> int: ...

    def first(self) -> Unordered | None:
        """Return the first pair that is not in order, with all that is missing on any path; None if every
        access is in order. Pairs whose copy is in no group come first."""

    def missing(self, unordered: Unordered) -> Unordered:
        """Return a pair with all that is missing now."""
        ...

    def insert(self, entry: Entry) -> None:
        """Note an op that was inserted into its block."""

    def remove(self, entry: Entry) -> None:
        """Note an op that has been taken out of its block."""

    def set_pending(self, entry: Entry, pending: int) -> None:
        """Set how many groups a wait leaves pending."""

    def passing(self, ops: Iterable[Op]) -> list[Origin]:
        """Return the accesses that may be in order because of some ops."""
        ...

    def are_in_order(self, accesses: list[Origin]) -> bool:
        """Whether accesses of `passing` are still in order after a change of the ops."""
        ...

    def ask_again(self, accesses: list[Origin]) -> None:
        """Search again for hazards of accesses of `passing`."""


class WholeFunctionProver:
    """Analyzes the whole function each time.

    Args:
        function: the function.
        furthest: groups are told apart up to this many groups back.
        global_memory: arrays whose accesses are put in order, too.
    """

    def __init__(self, function: Op, furthest: int, global_memory: GlobalArrays) -> None:
        self._analyzer = Analyzer(function, furthest, global_memory)
        self._known: Analysis | None = None
        self.unknown: dict[tuple[Op, str], None] = {}
        self.questions = 0

    def first(self) -> Unordered | None:
        analysis = self._analyze()
        for op, reason in analysis.unknown:
            raise OpError(op, f"{REFUSED}: {reason}")
        if not analysis.unordered:
            return None
        lacks_commit = (x for x in analysis.unordered if any(n.op in COMMITS for n in x.needs))
        first = next(lacks_commit, None)
        return first or _missing(analysis.unordered[0], analysis)

    def missing(self, unordered: Unordered) -> Unordered:
        return _missing(unordered, self._analyze())

    def insert(self, entry: Entry) -> None:
        self._change(entry)

    def remove(self, entry: Entry) -> None:
        self._change(entry)

    def set_pending(self, entry: Entry, pending: int) -> None:
        self._change(entry)

    def _change(self, entry: Entry) -> None:
        assert entry.op is not None
        self._known = None
        self._analyzer.invalidate(entry.op)

    def passing(self, ops: Iterable[Op]) -> list[Origin]:
        return []

    def are_in_order(self, accesses: list[Origin]) -> bool:
        self.questions += 1
        return self._analyzer.is_in_order()

    def ask_again(self, accesses: list[Origin]) -> None:
        pass

    def _analyze(self) -> Analysis:
        if self._known is None:
            self.questions += 1
            self._known = self._analyzer.analyze()
            self.unknown = self._known.unknown
        return self._known


def prover_of(function: Op, ops: FunctionOps, furthest: int, global_memory: GlobalArrays) -> Prover:
    """Return the prover of a function; arguments as for `Pairs`.

    Raises:
        OpError: if the function breaks a rule that no synchronization fixes, or is not followed.
    """
    blocks = blocks_of(function)
    if has_pipelines(function) or len(blocks) != 1:
        return WholeFunctionProver(function, furthest, global_memory)
    pairs = Pairs(function, blocks[0], ops, furthest, global_memory)
    for op, reason in pairs.unknown:
        raise OpError(op, f"{REFUSED}: {reason}")
    return pairs


def _missing(unordered: Unordered, analysis: Analysis) -> Unordered:
    same = (unordered.op, unordered.earlier)
    return unordered.with_needs_of(x for x in analysis.unordered if (x.op, x.earlier) == same)


#: A heap of accesses, each with the key of its first hazard (`ReachedHazard.reached`).
_Queue = list[tuple[tuple[int, ...], int]]


class Pairs:
    """The pairs of accesses of a function that are not in order.

    Args:
        function: the function.
        block: its block.
        ops: its ops.
        furthest: groups of copies and of mma are told apart up to this many groups back.
        global_memory: arrays whose accesses are put in order, too.

    Attributes:
        unknown: ops of which something is not known, with the reason; it does not change by insertions.

    Raises:
        OpError: if the function breaks a rule that no synchronization fixes.
    """

    def __init__(
        self,
        function: Op,
        block: Block,
        ops: FunctionOps,
        furthest: int,
        global_memory: GlobalArrays,
    ) -> None:
        self._ops = ops
        self._translator = Translator(function, global_memory)
        program = self._translator.program([block])
        check_written(program)
        graph = RunGraph(program, Segments(ops))
        self.unknown = dict.fromkeys((*graph.skipped.items(), *program.unknown.items()))
        self._hazards = Hazards(graph, max(program.furthest, furthest))
        self._origins: dict[int, list[Origin]] = defaultdict(list)
        for origin in self._hazards.origins:
            self._origins[op_address(origin.step.op)].append(origin)
        hazards = [
            (origin, self._hazards.first_hazards(origin)) for origin in self._hazards.origins
        ]
        self._uncommitted = _queue(hazards, _lacks_commit)
        self._unordered = _queue(hazards, _is_any)

    @property
    def questions(self) -> int:
        """How often an access was followed."""
        return self._hazards.questions

    # Questions.

    def first(self) -> Unordered | None:
        """Return the first pair that is not in order, with all that is missing on any run; None if every
        access is in order. Pairs whose copy is in no group come first."""
        hazard = self._next(self._uncommitted, _lacks_commit)
        hazard = hazard or self._next(self._unordered, _is_any)
        return hazard and self.missing(_unordered_pair(hazard))

    def missing(self, unordered: Unordered) -> Unordered:
        """Return a pair with all that is missing now, on any run."""
        return unordered.with_needs_of(map(_unordered_pair, self._hazards_of(unordered)))

    def _hazards_of(self, unordered: Unordered) -> Iterator[Hazard]:
        origins = self._origins[op_address(unordered.earlier)]
        for reached in self._hazards.hazards_after_all(origins, unordered.op):
            yield reached.hazard
            if reached.hazard.lacks_all:
                # No run needs more.
                return

    def _next(self, queue: _Queue, wanted: Callable[[Hazard], bool]) -> Hazard | None:
        """Return the first hazard that is wanted; drop accesses without one."""
        while queue:
            queued, number = queue[0]
            hazards = self._hazards.first_hazards(self._hazards.origins[number])
            first = _first_reached(hazards, wanted)
            if first is None:
                heappop(queue)
            elif first != queued:
                heapreplace(queue, (first, number))
            else:
                return next(x.hazard for x in hazards if x.reached == first and wanted(x.hazard))
        return None

    # Changes.

    def insert(self, entry: Entry) -> None:
        """Note an op that was inserted into its block."""
        assert entry.op is not None
        if not entry.steps:
            entry.steps = self._translator.steps_of(entry.op.opview)
        for elect in [step for step in entry.steps if isinstance(step, ElectRegion)]:
            # Only waits are inserted with an `smem.elect` around them: they belong to the segment.
            entry.steps = elect.body.steps
            for op, steps in elect.body.by_op:
                self._ops.entry(op).steps = steps
        for op in (op for region in entry.op.regions for op in region.blocks[0].operations):
            self._ops.entry(op.operation).segment = entry.segment
        _invalidate(entry.segment)

    def remove(self, entry: Entry) -> None:
        """Note an op that has been taken out of its block."""
        _invalidate(entry.segment)

    def set_pending(self, entry: Entry, pending: int) -> None:
        """Set how many groups a wait leaves pending."""
        for step in entry.steps:
            if isinstance(step, CopyWait | MmaWait | BulkWait):
                step.pending = pending
        _invalidate(entry.segment)

    def passing(self, ops: Iterable[Op]) -> list[Origin]:
        """Return the accesses that may be in order because of some ops of the function."""
        origins: dict[Origin, None] = {}
        for op in ops:
            entry = self._ops.entry(op)
            if entry.segment is not None:
                for step in entry.steps:
                    origins |= dict.fromkeys(self._hazards.passing(entry.segment, step))
        return list(origins)

    def are_in_order(self, accesses: list[Origin]) -> bool:
        """Whether all of some accesses are in order."""
        spans_before = [self._hazards.spans_of(origin) for origin in accesses]
        if not any(map(self._hazards.first_hazards, accesses)):
            return True
        for origin, spans in zip(accesses, spans_before, strict=True):
            self._hazards.set_spans(origin, spans)
        return False

    def ask_again(self, accesses: list[Origin]) -> None:
        """Search again for hazards of accesses that were in order."""
        for origin in accesses:
            position = _first_reached(self._hazards.first_hazards(origin), _is_any)
            if position is not None:
                heappush(self._unordered, (position, origin.number))


def _queue(
    first: list[tuple[Origin, list[ReachedHazard]]], wanted: Callable[[Hazard], bool]
) -> _Queue:
    places = [(_first_reached(hazards, wanted), origin.number) for origin, hazards in first]
    queue = [(position, number) for position, number in places if position is not None]
    heapify(queue)
    return queue


def _first_reached(
    hazards: list[ReachedHazard], wanted: Callable[[Hazard], bool]
) -> tuple[int, ...] | None:
    """Return the key of the first hazard that is wanted; None if there is none."""
    return min((reached.reached for reached in hazards if wanted(reached.hazard)), default=None)


def _is_any(hazard: Hazard) -> bool:
    return True


def _lacks_commit(hazard: Hazard) -> bool:
    """Whether the group of an earlier copy is not closed."""
    return any(need.op in (CopyCommitOp, TmaCommitOp) for need in report.needs(hazard))


def _unordered_pair(hazard: Hazard) -> Unordered:
    return Unordered(hazard.op, hazard.earlier, report.needs(hazard), report.remark(hazard))


def _invalidate(segment: Segment | None) -> None:
    if segment is not None:
        segment.invalidate()
