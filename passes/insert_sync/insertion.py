"""Inserts what puts accesses in order, one pair of accesses after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from ...dialect.effects import Completion
from ...dialect.irtypes import Op
from ...dialect.ops import (
    AllocOp,
    FenceOp,
    TmaWaitOp,
    ViewOp,
    WaitOp,
    WarpgroupBarrierOp,
)
from ...dialect.smem import Smem
from ...dialect.types import shape_of
from ...ir.errors import OpError
from ...ir.walk import gather
from ..check_async.analysis import Analysis, analyze
from ..check_async.global_memory import GlobalMemory
from ..check_async.needs import CTA_BARRIER, Need, Unordered
from .groups import end_of_copies
from .inserted import BARRIERS, COMMITS, RANKS, Inserted, build, is_barrier, provides
from .places import (
    Place,
    elect_around,
    end_of,
    end_of_threads,
    gap_between,
    in_flight_at,
    loops_around,
    ops_of,
    outwards,
    share_elect,
    user_in,
    whole_warpgroups,
)
from .trial import Trial

#: How refusals begin.
REFUSED = "cannot insert synchronization"

#: What completes accesses in groups.
_GROUPS = (Completion.CP_ASYNC_GROUP, Completion.BULK_GROUP, Completion.WGMMA_GROUP)

#: The most groups that are told apart.
_FURTHEST = 32


class Insertion:
    """Inserts ops into a function until every access is proven to be in order.

    Args:
        function: the function.
        readers: the waits by which accumulators became readable.

    Attributes:
        inserted: the ops, in the order in which they were inserted.
        furthest: groups are told apart up to this many groups back.
    """

    def __init__(self, function: Op, readers: list[Inserted]) -> None:
        self._function = function
        self._global_memory = GlobalMemory(function)
        self.furthest = _furthest(function)
        self.inserted = list(readers)
        #: What was not known once all that is missing between two accesses was there.
        self._unknown: tuple[Op, str] | None = None

    def analyze(self) -> Analysis:
        """Return what is not in order now."""
        return analyze(self._function, self.furthest, self._global_memory)

    def run(self) -> None:
        """Insert ops until every access is in order.

        Raises:
            OpError: if it is not known how an access is put in order.
        """
        while not (analysis := self.analyze()).is_proven:
            for op, reason in analysis.unknown:
                raise OpError(op, f"{REFUSED}: {reason}")
            for each in analysis.unordered:
                commit = next((need for need in each.needs if need.op in COMMITS), None)
                if commit is not None:
                    self._commit(each, commit)
                    break
            else:
                self._order(_all_of_pair(analysis.unordered[0], analysis))

    def _commit(self, unordered: Unordered, need: Need) -> None:
        """Close the group of a copy.

        Raises:
            OpError: if it is closed already, but not on every path.
        """
        place = Place(end_of_copies(unordered.earlier, unordered.op), is_after=True)
        following = ops_of(place.block)[len(place.preceding) :][:1]
        if following and provides(following[0], need):
            raise OpError(unordered.op, f"{REFUSED}: {unordered.message}")
        self.inserted.append(build(need, place))
        self.inserted[-1].orders.append(unordered)

    def _order(self, unordered: Unordered) -> None:
        """Insert what is missing between two accesses.

        Raises:
            OpError: if nothing that can be inserted puts them in order.
        """
        self._unknown = None
        for needs in _ways(unordered.needs):
            way = unordered._replace(needs=needs)
            for place in self._places(way, unordered.earlier.operation):
                if self._try(way, place):
                    return
        op, reason = self._unknown or (unordered.op, unordered.message)
        raise OpError(op, f"{REFUSED}: {reason}")

    def _places(self, unordered: Unordered, earlier: Op) -> Iterator[Place]:
        """Yield where what is missing can come, the best place first.

        A barrier that is there already can order the accesses too, if what they wait for comes before
        it: the latest one before the access, then, for loops, those after it. A fence, too, comes before
        a barrier rather than after it: the threads that wrote execute it.
        """
        needs = unordered.needs
        gap = self._gap(unordered, earlier)
        orders_threads = any(need.op in BARRIERS or need.op is FenceOp for need in needs)
        if orders_threads and not all(need.op in BARRIERS for need in needs):
            ops, at = ops_of(gap.block), len(gap.preceding)
            yield from (Place(op) for op in ops[:at][::-1] + ops[at:][::-1] if is_barrier(op))
        yield gap
        if unordered.op.operation in outwards(earlier) and unordered.op.operation != earlier:
            # What closes the group may come after the threads that store.
            yield end_of(unordered.op.regions[0].blocks[0])
        if any(need.op is WaitOp for need in needs) and not in_flight_at(gap):
            # No accumulator is in flight there; one is where the mma is.
            user = user_in(earlier.block, earlier.results[0])
            yield Place(user) if user else end_of(earlier.block)
        # In a loop around the access, there may be a wait that is not before the loop.
        if gap.op in outwards(unordered.op) and not gap.is_after:
            around = list(
                takewhile(lambda op: op != gap.op, outwards(whole_warpgroups(unordered.op)))
            )
            yield from (Place(op) for op in around[::-1])

    def _gap(self, unordered: Unordered, earlier: Op) -> Place:
        """Return the latest place that separates two accesses on every path."""
        later = unordered.op.operation
        if later in outwards(earlier) and later.name == "scf.for":
            # The loop itself writes registers that it carries, at the end of an iteration.
            return end_of(later.regions[0].blocks[0])
        if later in outwards(earlier) and later != earlier:
            # Something is not complete at the end of a kernel, partition or elected thread.
            outer = elect_around(earlier)
            repeated = outer is not None and loops_around(outer)
            return end_of_threads(outer if repeated else earlier)
        bulk = any(need.op is TmaWaitOp for need in unordered.needs)
        if bulk and share_elect(earlier, later):
            return gap_between(earlier, later)
        return gap_between(whole_warpgroups(earlier), whole_warpgroups(later))

    def _try(self, unordered: Unordered, place: Place) -> bool:
        """Insert at a place what is missing between two accesses; return whether they are then in
        order. If not, nothing is inserted."""
        trial = Trial(self.inserted, unordered)
        needs = [need for need in unordered.needs if not provides(place.op, need)]
        # A new barrier costs less than copies or mma that no longer overlap.
        is_shared = len(needs) < len(unordered.needs)
        while all(trial.provide(need, place) for need in needs):
            left = None if is_shared and trial.lowers else self._left_of(unordered)
            if left is None:
                break
            if not left:
                trial.keep()
                return True
            # What is there may count no longer: after a fence, another barrier is needed.
            needs = [need for need in left if not trial.has_provided(need)]
            if not needs and not trial.lower():
                break
        trial.undo()
        return False

    def _left_of(self, unordered: Unordered) -> tuple[Need, ...] | None:
        """Return what is missing between two accesses now; None if something else is not known."""
        analysis = self.analyze()
        if analysis.unknown:
            made = [each.op for each in self.inserted]
            for op, reason in analysis.unknown:
                if op.operation not in made:
                    self._unknown = op, reason
            return None
        return _all_of_pair(unordered._replace(needs=()), analysis).needs


def _all_of_pair(unordered: Unordered, analysis: Analysis) -> Unordered:
    """Return all that is missing between two accesses: on different paths, that may be different ops."""
    found: dict[object, Need] = {need.op: need for need in unordered.needs}
    for each in analysis.unordered:
        if (each.op, each.earlier) == (unordered.op, unordered.earlier):
            for need in each.needs:
                known = found.setdefault(need.op, need)
                if need.pending is not None and known.pending is not None:
                    found[need.op] = min(known, need, key=lambda x: x.pending or 0)
    return unordered._replace(needs=tuple(sorted(found.values(), key=lambda x: RANKS[x.op])))


def _ways(needs: tuple[Need, ...]) -> list[tuple[Need, ...]]:
    """Return the ways in which two accesses can be put in order: by a barrier of the warpgroup, or of the
    CTA where the threads of several warpgroups access the same bytes."""
    if not needs:
        return []
    by_all = tuple(CTA_BARRIER if need.op is WarpgroupBarrierOp else need for need in needs)
    return [needs] if by_all == needs else [needs, by_all]


def _furthest(function: Op) -> int:
    """Return how many groups back copies and mma of a function can matter."""
    grouped = [op for op in Smem.operations if op.effects.completion in _GROUPS]
    ops, allocations = gather(function, grouped, [AllocOp, ViewOp])
    stages = [shape_of(op.tile.type)[0] for op in allocations if len(shape_of(op.tile.type)) > 2]
    return min(2 + len(ops) + max(stages, default=1), _FURTHEST)
