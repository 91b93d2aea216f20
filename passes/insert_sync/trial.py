"""A trial: ops that are inserted for two accesses, and taken back if they do not put them in order."""

from __future__ import annotations

from ...bindings.irtypes import Op, Value
from ...dialect.op import SmemOp
from ...dialect.ops import TmaWaitOp, WaitOp, WarpgroupBarrierOp
from ...dialect.ops.wait import mma_after
from ..order.function_ops import preceding
from ..order.hazard import Origin
from ..order.needs import RANKS, Need, Unordered
from .edits import Edits
from .inserted import Inserted, Registry, build, kind_of, provides
from .places import Place, elect_around, entry_at, share_elect, user_in
from .proof import Proof


class Trial:
    """What is tried for two accesses: ops that are inserted, and waits that leave less pending.

    Args:
        edits: changes the function.
        proof: what is asked about it.
        inserted: the ops that were inserted before; those of this trial are added at its end.
        unordered: the two accesses.

    Attributes:
        lowers: whether a wait that was inserted before leaves less pending than it did.
    """

    def __init__(
        self, edits: Edits, proof: Proof, inserted: Registry, unordered: Unordered
    ) -> None:
        self._edits = edits
        self._proof = proof
        self._all = inserted
        self._count = len(inserted)
        self._unordered = unordered
        #: Waits that the trial changes, with what they left pending; None for those that it inserts.
        self._before: dict[Inserted, int | None] = {}
        #: Waits that have moved from where a later reader needs them, with where they were.
        self._moved: list[tuple[Op, Place]] = []
        self._passing: list[list[Origin]] = []
        #: What was provided; of barriers of warpgroups, for how many of these.
        self._provided: dict[type[SmemOp] | None, int] = {}
        self.lowers = False

    def has_provided(self, need: Need) -> bool:
        """Whether a need of its kind was provided; a barrier of the CTA is one of a warpgroup, too."""
        by_all = need.op is WarpgroupBarrierOp and None in self._provided
        return by_all or self._provided.get(need.op, 0) >= need.warpgroups

    def provide(self, need: Need, place: Place) -> bool:
        """Provide what is needed at a place; return whether that is possible.

        Ops that order accesses stand together, in the order of `RANKS`; one that is there is not
        repeated.
        """
        before = self._provided.get(need.op, 0)
        self._provided[need.op] = max(before, need.warpgroups)
        at = place
        for op in preceding(entry_at(self._edits.ops, place)):
            found = self._all.of(op)
            kind = kind_of(found.op if found else op)
            if isinstance(kind, str) or RANKS[kind] < RANKS[need.op]:
                break
            if provides(found.op if found else op, need):
                if need.pending is None:
                    return True
                if found is not None:
                    self.lowers |= need.pending < (found.pending or 0)
                    self._lower_to(found, need.pending)
                    return True
            at = Place(op)
        return self._insert(need, at)

    def _insert(self, need: Need, place: Place) -> bool:
        value: Value | None = None
        elected_as = None
        if need.op is WaitOp:
            values = self._edits.in_flight.at(place)
            if not values:
                return False
            pending = need.pending or 0
            readers = [self._reader(value, place) for value in values]
            for value, reader in zip(values, readers, strict=True):
                if reader is not None and mma_after(value, place.op) >= pending:
                    self._move(reader, place, pending)
                    return True
            # A wait that makes an accumulator readable, and leaves mma pending, comes right after them.
            free = [v for v, r in zip(values, readers, strict=True) if r is None or not r.pending]
            if not free:
                assert readers[0] is not None
                self._move(readers[0], place, min(pending, mma_after(values[0], place.op)))
                return True
            value = free[0]
        earlier = self._unordered.earlier
        if need.op is TmaWaitOp and not share_elect(earlier, place.op):
            elected_as = elect_around(earlier)
        made = build(need, place, value, elected_as)
        self._edits.add(made.whole, place)
        self._all.append(made)
        self._before[made] = None
        return True

    def _reader(self, value: Value, place: Place) -> Inserted | None:
        """Return the inserted wait by which a later op reads an accumulator in flight."""
        user = user_in(place.block, value)
        reader = None if user is None or place.is_after else self._all.of(user)
        return reader if reader is not None and reader.makes_readable else None

    def _move(self, reader: Inserted, place: Place, pending: int) -> None:
        """Move the wait of a later reader to where it is needed already."""
        self._passing.append(self._proof.passing([reader.op]))
        self._moved.append((reader.op, self._edits.place_of(reader.op)))
        self._edits.move(reader.op, place)
        self._lower_to(reader, pending)

    def _lower_to(self, found: Inserted, pending: int) -> None:
        before = found.pending or 0
        self._before.setdefault(found, before)
        self._edits.set_pending(found, min(before, pending))

    def lower(self) -> bool:
        """Let each wait leave one group less pending; return whether that changes anything."""
        waits = [each for each in self._before if each.pending]
        self.lowers |= any(self._before[each] is not None for each in waits)
        for each in waits:
            self._edits.set_pending(each, (each.pending or 0) - 1)
        return bool(waits)

    def undo(self) -> None:
        """Take the trial back."""
        for each in self._all.since(self._count)[::-1]:
            del self._before[each]
            self._all.remove(each)
            self._edits.erase(each)
        for each, pending in self._before.items():
            self._edits.set_pending(each, pending or 0)
        for op, place in self._moved[::-1]:
            self._edits.move(op, place)

    def keep(self) -> None:
        """Note that the ops of the trial put the two accesses in order."""
        for each in self._before | dict.fromkeys(self._all.since(self._count)):
            if self._unordered not in each.orders:
                each.orders.append(self._unordered)
        for accesses in self._passing:
            self._proof.ask_again(accesses)
