"""Insert the missing ops between unordered accesses, one pair of accesses after the other.

Each edit changes the IR, and updates the list of ops, the accumulators in flight and the prover.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from itertools import takewhile

from ...bindings.irtypes import Block, Op, Value
from ...dialect.effects import Completion
from ...dialect.op import SmemOp
from ...dialect.ops import AllocOp, FenceOp, ScaleDOp, TmaWaitOp, ViewOp, WaitOp, WarpgroupBarrierOp
from ...dialect.ops.wait import mma_after
from ...dialect.smem import Smem
from ...dialect.types import FragmentType, is_in_flight, shape_of
from ...ir.errors import OpError
from ...ir.walk import gather
from ..order.function_ops import FunctionOps, following, preceding
from ..order.global_memory import GlobalArrays
from ..order.hazards import Origin
from ..order.needs import CTA_BARRIER, SYNC_ORDER, Need, Unordered
from ..order.program import LOOPS
from .inserted import (
    BARRIERS,
    COMMITS,
    InsertedOp,
    InsertedOps,
    build,
    is_barrier,
    kind_of,
    provides,
)
from .insertion_points import (
    InsertionPoint,
    ancestor_in,
    elect_around,
    end_of,
    end_of_copies,
    end_of_threads,
    entry_at,
    gap_between,
    is_argument,
    loops_around,
    outermost_closed_op,
    outwards,
    share_elect,
    user_in,
)
from .prover import REFUSED, Prover, WholeFunctionProver, prover_of

#: The completions by groups.
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
        edits: changes the function.
        proof: says what is not in order.
        furthest: groups are told apart up to this many groups back.

    Raises:
        OpError: if the function breaks a rule that no order of accesses mends.
    """

    def __init__(self, function: Op, readers: list[InsertedOp]) -> None:
        self._function = function
        self._global_memory = GlobalArrays(function)
        self.furthest = _furthest(function)
        self.inserted = InsertedOps(readers)
        self._ops = FunctionOps(function)
        self.prover = prover_of(function, self._ops, self.furthest, self._global_memory)
        self.edits = _Edits(self._ops, self.prover)
        self._questions_before = 0
        #: What was not known once all that is missing between two accesses was there.
        self._unknown: tuple[Op, str] | None = None

    def run(self) -> None:
        """Insert ops until every access is in order.

        Raises:
            OpError: if it is not known how an access is put in order.
        """
        while (unordered := self.prover.first()) is not None:
            commit = next((need for need in unordered.needs if need.op in COMMITS), None)
            if commit is not None:
                self._commit(unordered, commit)
            else:
                self._order(unordered)

    @property
    def questions(self) -> int:
        """How often accesses were followed."""
        return self._questions_before + self.prover.questions

    def check_whole(self) -> bool:
        """Ask about the function as a whole from now on; return whether it is proven."""
        if isinstance(self.prover, WholeFunctionProver):
            return True
        self._questions_before = self.prover.questions
        self.prover = WholeFunctionProver(self._function, self.furthest, self._global_memory)
        self.edits.prover = self.prover
        return self.prover.are_in_order([])

    def _commit(self, unordered: Unordered, need: Need) -> None:
        """Close the group of a copy.

        Raises:
            OpError: if it is closed already, but not on every path.
        """
        point = InsertionPoint(
            end_of_copies(unordered.earlier, unordered.op, self._ops), is_after=True
        )
        following = self._ops.after(point.op)
        if following is not None and provides(following, need):
            raise OpError(unordered.op, f"{REFUSED}: {unordered.message}")
        commit = build(need, point)
        self.edits.add(commit.op, point)
        self.inserted.append(commit)
        commit.orders.append(unordered)

    def _order(self, unordered: Unordered) -> None:
        """Insert what is missing between two accesses.

        Raises:
            OpError: if nothing that can be inserted puts them in order.
        """
        self._unknown = None
        for needs in _need_variants(unordered.needs):
            way = unordered._replace(needs=needs)
            for point in self._insertion_points(way, unordered.earlier.operation):
                if self._try(way, point):
                    return
        op, reason = self._unknown or (unordered.op, unordered.message)
        raise OpError(op, f"{REFUSED}: {reason}")

    def _insertion_points(self, unordered: Unordered, earlier: Op) -> Iterator[InsertionPoint]:
        """Yield insertion points for the missing ops, the best one first.

        An existing barrier can order the accesses, too, if the waits come before it: the latest one
        before the access, then, for loops, those after it. A fence also comes before a barrier: the
        threads that wrote execute it.
        """
        needs = unordered.needs
        gap = self._gap(unordered, earlier)
        orders_threads = any(need.op in BARRIERS or need.op is FenceOp for need in needs)
        if orders_threads and not all(need.op in BARRIERS for need in needs):
            yield from map(InsertionPoint, self._barriers_around(gap, earlier))
        yield gap
        if unordered.op.operation in outwards(earlier) and unordered.op.operation != earlier:
            # The commit of the group may come after the threads that store.
            yield end_of(unordered.op.regions[0].blocks[0])
        if any(need.op is WaitOp for need in needs) and not self.edits.in_flight.values_at(gap):
            # No accumulator is in flight there. At the mma, one is.
            user = user_in(earlier.block, earlier.results[0])
            yield InsertionPoint(user) if user else end_of(earlier.block)
        # In a loop around the access, there may be a wait that is not before the loop.
        if gap.op in outwards(unordered.op) and not gap.is_after:
            around = list(
                takewhile(lambda op: op != gap.op, outwards(outermost_closed_op(unordered.op)))
            )
            yield from (InsertionPoint(op) for op in around[::-1])

    def _barriers_around(self, gap: InsertionPoint, earlier: Op) -> list[Op]:
        """Return the barriers of a block that may be between two accesses: those before an insertion
        point, the latest first, then those of the next iteration of a loop, the latest first."""
        entry = entry_at(self._ops, gap)
        before = preceding(entry)
        if not loops_around(gap.op):
            first = ancestor_in(gap.block, earlier)
            return [*filter(is_barrier, takewhile(lambda op: op != first, before))]
        after = [gap.op, *following(self._ops.entry(gap.op))] if not gap.is_after else []
        return [*filter(is_barrier, [*before, *after[::-1]])]

    def _gap(self, unordered: Unordered, earlier: Op) -> InsertionPoint:
        """Return the latest insertion point that separates two accesses on every path."""
        later = unordered.op.operation
        if later in outwards(earlier) and later.name in LOOPS:
            # The loop itself writes registers that it carries, at the end of an iteration.
            return end_of(later.regions[0].blocks[0])
        if later in outwards(earlier) and later != earlier:
            # An access is not complete at the end of a kernel, partition or elected thread.
            outer = elect_around(earlier)
            repeated = outer is not None and loops_around(outer)
            return end_of_threads(outer if repeated else earlier)
        bulk = any(need.op is TmaWaitOp for need in unordered.needs)
        if bulk and share_elect(earlier, later):
            return gap_between(earlier, later)
        return gap_between(outermost_closed_op(earlier), outermost_closed_op(later))

    def _try(self, unordered: Unordered, point: InsertionPoint) -> bool:
        """Insert the missing ops between two accesses at a point; return whether they are then in order.
        If not, nothing is inserted."""
        trial = _Trial(self.edits, self.prover, self.inserted, unordered)
        needs = [need for need in unordered.needs if not provides(point.op, need)]
        # A new barrier costs less than copies or mma that no longer overlap.
        is_shared = len(needs) < len(unordered.needs)
        while all(trial.provide(need, point) for need in needs):
            missing = None if is_shared and trial.lowers else self._missing_now(unordered)
            if missing is None:
                break
            if not missing:
                trial.keep()
                return True
            # An existing op may not count any more: after a fence, another barrier is needed.
            needs = [need for need in missing if not trial.has_provided(need)]
            if not needs and not trial.lower():
                break
        trial.undo()
        return False

    def _missing_now(self, unordered: Unordered) -> tuple[Need, ...] | None:
        """Return the ops that are missing between two accesses now; None if something else is not
        known."""
        remaining = self.prover.missing(unordered._replace(needs=()))
        inserted_ops = [inserted.op for inserted in self.inserted] if self.prover.unknown else []
        for op, reason in self.prover.unknown:
            if op.operation not in inserted_ops:
                self._unknown = op, reason
        return None if self.prover.unknown else remaining.needs


def _need_variants(needs: tuple[Need, ...]) -> list[tuple[Need, ...]]:
    """Return the needs, and variants of them: a barrier of the CTA may replace that of the warpgroup,
    where threads of several warpgroups access the same bytes."""
    if not needs:
        return []
    by_all = tuple(CTA_BARRIER if need.op is WarpgroupBarrierOp else need for need in needs)
    if any(need.warpgroups > 1 for need in needs):
        return [needs]
    return [needs] if by_all == needs else [needs, by_all]


def _furthest(function: Op) -> int:
    """Return how many groups back copies and mma of a function can matter."""
    grouped = [op for op in Smem.operations if op.effects.completion in _GROUPS]
    ops, allocations = gather(function, grouped, [AllocOp, ViewOp])
    stages = [shape_of(op.tile.type)[0] for op in allocations if len(shape_of(op.tile.type)) > 2]
    return min(2 + len(ops) + max(stages, default=1), _FURTHEST)


class _Trial:
    """Ops that are inserted on trial for two accesses, and waits that leave less pending on trial.

    Args:
        edits: changes the function.
        prover: finds the unordered accesses of the function.
        inserted: the inserted ops; those of this trial are appended.
        unordered: the two accesses.

    Attributes:
        lowers: whether an earlier inserted wait leaves less pending than before.
    """

    def __init__(
        self, edits: _Edits, prover: Prover, inserted: InsertedOps, unordered: Unordered
    ) -> None:
        self._edits = edits
        self._prover = prover
        self._all = inserted
        self._count = len(inserted)
        self._unordered = unordered
        #: Waits that the trial changes, with what they left pending; None for those that it inserts.
        self._before: dict[InsertedOp, int | None] = {}
        #: Waits that have moved from where a later reader needs them, with their former points.
        self._moved: list[tuple[Op, InsertionPoint]] = []
        self._passing: list[list[Origin]] = []
        #: The provided ops; for barriers of warpgroups, how many of these.
        self._provided: dict[type[SmemOp] | None, int] = {}
        self.lowers = False

    def has_provided(self, need: Need) -> bool:
        """Whether an op for a need was provided; a barrier of the CTA is one of a warpgroup, too."""
        by_all = need.op is WarpgroupBarrierOp and None in self._provided
        return by_all or self._provided.get(need.op, 0) >= need.warpgroups

    def provide(self, need: Need, end: InsertionPoint) -> bool:
        """Provide an op for a need before an insertion point; return whether that is possible.

        Ops that order accesses stand together, in the order of `SYNC_ORDER`. An existing op is not
        repeated.
        """
        before = self._provided.get(need.op, 0)
        self._provided[need.op] = max(before, need.warpgroups)
        point = end
        for op in preceding(entry_at(self._edits.ops, end)):
            inserted = self._all.find(op)
            kind = kind_of(inserted.op if inserted else op)
            if isinstance(kind, str) or SYNC_ORDER[kind] < SYNC_ORDER[need.op]:
                break
            if provides(inserted.op if inserted else op, need):
                if need.pending is None:
                    return True
                if inserted is not None:
                    self.lowers |= need.pending < (inserted.pending or 0)
                    self._lower_to(inserted, need.pending)
                    return True
            point = InsertionPoint(op)
        return self._insert(need, point)

    def _insert(self, need: Need, point: InsertionPoint) -> bool:
        value: Value | None = None
        elected_as = None
        if need.op is WaitOp:
            values = self._edits.in_flight.values_at(point)
            if not values:
                return False
            pending = need.pending or 0
            readers = [self._reader(value, point) for value in values]
            for value, reader in zip(values, readers, strict=True):
                if reader is not None and mma_after(value, point.op) >= pending:
                    self._move(reader, point, pending)
                    return True
            # A wait that makes an accumulator readable, and leaves mma pending, comes right after them.
            free = [v for v, r in zip(values, readers, strict=True) if r is None or not r.pending]
            if not free:
                assert readers[0] is not None
                self._move(readers[0], point, min(pending, mma_after(values[0], point.op)))
                return True
            value = free[0]
        earlier = self._unordered.earlier
        if need.op is TmaWaitOp and not share_elect(earlier, point.op):
            elected_as = elect_around(earlier)
        inserted = build(need, point, value, elected_as)
        self._edits.add(inserted.whole, point)
        self._all.append(inserted)
        self._before[inserted] = None
        return True

    def _reader(self, value: Value, point: InsertionPoint) -> InsertedOp | None:
        """Return the inserted wait by which a later op reads an accumulator in flight."""
        user = user_in(point.block, value)
        reader = None if user is None or point.is_after else self._all.find(user)
        return reader if reader is not None and reader.makes_readable else None

    def _move(self, reader: InsertedOp, point: InsertionPoint, pending: int) -> None:
        """Move the wait of a later reader to an earlier point where it is needed."""
        self._passing.append(self._prover.passing([reader.op]))
        self._moved.append((reader.op, self._edits.point_of(reader.op)))
        self._edits.move(reader.op, point)
        self._lower_to(reader, pending)

    def _lower_to(self, wait: InsertedOp, pending: int) -> None:
        before = wait.pending or 0
        self._before.setdefault(wait, before)
        self._edits.set_pending(wait, min(before, pending))

    def lower(self) -> bool:
        """Lower what each wait leaves pending by one group; return whether there is such a wait."""
        waits = [wait for wait in self._before if wait.pending]
        self.lowers |= any(self._before[wait] is not None for wait in waits)
        for wait in waits:
            self._edits.set_pending(wait, (wait.pending or 0) - 1)
        return bool(waits)

    def undo(self) -> None:
        """Undo the trial."""
        for inserted in self._all.since(self._count)[::-1]:
            del self._before[inserted]
            self._all.remove(inserted)
            self._edits.erase(inserted)
        for inserted, pending in self._before.items():
            self._edits.set_pending(inserted, pending or 0)
        for op, point in self._moved[::-1]:
            self._edits.move(op, point)

    def keep(self) -> None:
        """Keep the ops of the trial: they put the two accesses in order."""
        for inserted in self._before | dict.fromkeys(self._all.since(self._count)):
            if self._unordered not in inserted.orders:
                inserted.orders.append(self._unordered)
        for accesses in self._passing:
            self._prover.ask_again(accesses)


class _Edits:
    """Inserts, moves and removes ops.

    Args:
        ops: the ops of the function.
        prover: finds the unordered accesses of the function.

    Attributes:
        in_flight: the accumulators in flight.
    """

    def __init__(self, ops: FunctionOps, prover: Prover) -> None:
        self.ops = ops
        self.in_flight = _InFlight(ops)
        self.prover = prover

    def add(self, op: Op, point: InsertionPoint) -> None:
        """Note an op that was built at an insertion point."""
        entry = self.ops.insert(op, entry_at(self.ops, point))
        self.prover.insert(entry)
        for value in op.results:
            self.in_flight.add(value)

    def take_out(self, op: Op) -> InsertionPoint:
        """Detach an op from its block; return where it was."""
        point = self.point_of(op)
        self._remove(op)
        op.detach_from_parent()
        return point

    def put_back(self, op: Op, point: InsertionPoint) -> None:
        """Insert a detached op."""
        point.insert(op)
        self.add(op, point)

    def move(self, op: Op, point: InsertionPoint) -> None:
        """Move an op to an insertion point at another op."""
        self._remove(op)
        point.move(op)
        self.add(op, point)

    def erase(self, inserted: InsertedOp) -> None:
        """Erase an inserted op."""
        whole = inserted.whole
        self._remove(whole)
        self.ops.forget(whole)
        inserted.erase()

    def set_pending(self, inserted: InsertedOp, pending: int) -> None:
        """Set how many groups a wait leaves pending."""
        inserted.pending = pending
        self.prover.set_pending(self.ops.entry(inserted.op), pending)

    def point_of(self, op: Op) -> InsertionPoint:
        """Return where an op is, to put it back after it was moved or detached."""
        entry = self.ops.entry(op)
        if entry.next.op is not None:
            return InsertionPoint(entry.next.op)
        return InsertionPoint(entry.previous.op, is_after=True)

    def _remove(self, op: Op) -> None:
        for value in op.results:
            self.in_flight.remove(value)
        entry = self.ops.remove(op)
        self.prover.remove(entry)


class _InFlight:
    """The accumulators in flight of a function.

    Args:
        ops: the function's ops.
    """

    def __init__(self, ops: FunctionOps) -> None:
        self._ops = ops
        self._values: dict[Block, list[Value]] = {}

    def values_at(self, point: InsertionPoint) -> list[Value]:
        """Return the accumulators in flight at an insertion point, the latest one first."""
        values = [value for value in self._of(point.block) if _is_in_flight_at(value, point)]
        return sorted(values, key=cmp_to_key(_latest_first))

    def add(self, value: Value) -> None:
        """Note the result of an inserted op."""
        if _is_accumulator_in_flight(value):
            self._of(value.owner.operation.block).append(value)

    def remove(self, value: Value) -> None:
        """Note that the op of a value is removed from its block."""
        if _is_accumulator_in_flight(value):
            self._of(value.owner.operation.block).remove(value)

    def _of(self, block: Block) -> list[Value]:
        if block not in self._values:
            results = [x for op in following(self._ops.end(block)) for x in op.results]
            values = [*block.arguments, *results]
            self._values[block] = [x for x in values if _is_accumulator_in_flight(x)]
        return self._values[block]


def _is_accumulator_in_flight(value: Value) -> bool:
    if not isinstance(value.type, FragmentType) or not is_in_flight(value.type):
        return False
    return is_argument(value) or value.owner.operation.name != ScaleDOp.OPERATION_NAME


def _is_in_flight_at(value: Value, point: InsertionPoint) -> bool:
    maker = None if is_argument(value) else value.owner.operation
    user = user_in(point.block, value)
    return (maker is None or _is_before(maker, point)) and not (user and _is_before(user, point))


def _is_before(op: Op, point: InsertionPoint) -> bool:
    return (point.is_after and op == point.op) or op.is_before_in_block(point.op)


def _latest_first(x: Value, y: Value) -> int:
    """Compare values of a block: the later definition comes first, arguments come last."""
    if is_argument(x) or is_argument(y):
        if is_argument(x) and is_argument(y):
            return y.arg_number - x.arg_number
        return 1 if is_argument(x) else -1
    maker, other_maker = x.owner.operation, y.owner.operation
    if maker == other_maker:
        return y.result_number - x.result_number
    return 1 if maker.is_before_in_block(other_maker) else -1
