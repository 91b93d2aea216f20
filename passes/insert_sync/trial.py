"""A trial: ops that are inserted for two accesses, and taken back if they do not put them in order."""

from __future__ import annotations

from ...dialect.irtypes import Op, Value
from ...dialect.op import SmemOp
from ...dialect.ops import TmaWaitOp, WaitOp, WarpgroupBarrierOp
from ...dialect.ops.wait import mma_after
from ..check_async.needs import Need, Unordered
from .inserted import RANKS, Inserted, build, kind_of, provides
from .places import Place, elect_around, in_flight_at, place_of, share_elect, user_in


class Trial:
    """What is tried for two accesses: ops that are inserted, and waits that leave less pending.

    Args:
        inserted: the ops that were inserted before; those of this trial are added at its end.
        unordered: the two accesses.
    """

    def __init__(self, inserted: list[Inserted], unordered: Unordered) -> None:
        self._all = inserted
        self._count = len(inserted)
        self._unordered = unordered
        #: Waits that the trial changes, with what they left pending; None for those that it inserts.
        self._before: dict[Inserted, int | None] = {}
        self._moved: list[tuple[Op, Place]] = []
        self._provided: set[type[SmemOp] | None] = set()
        #: Whether a wait that was inserted before leaves less pending than it did.
        self.lowers = False

    def has_provided(self, need: Need) -> bool:
        """Whether a need of its kind was provided; a barrier of the CTA is one of a warpgroup, too."""
        return need.op in self._provided or (
            need.op is WarpgroupBarrierOp and None in self._provided
        )

    def provide(self, need: Need, place: Place) -> bool:
        """Provide what is needed at a place; return whether that is possible.

        Ops that order accesses stand together, in the order of `RANKS`; one that is there is not
        repeated.
        """
        self._provided.add(need.op)
        own = {each.whole: each for each in self._all}
        at = place
        for op in place.preceding[::-1]:
            found = own.get(op)
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
            values = in_flight_at(place)
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
        self._all.append(made)
        self._before[made] = None
        return True

    def _reader(self, value: Value, place: Place) -> Inserted | None:
        """Return the inserted wait by which a later op reads an accumulator in flight."""
        user = user_in(place.block, value)
        own = (each for each in self._all if each.makes_readable and not place.is_after)
        return next((each for each in own if user is not None and each.op == user), None)

    def _move(self, reader: Inserted, place: Place, pending: int) -> None:
        """Move the wait of a later reader to where it is needed already."""
        self._moved.append((reader.op, place_of(reader.op)))
        place.move(reader.op)
        self._lower_to(reader, pending)

    def _lower_to(self, found: Inserted, pending: int) -> None:
        before = found.pending or 0
        self._before.setdefault(found, before)
        found.pending = min(before, pending)

    def lower(self) -> bool:
        """Let each wait leave one group less pending; return whether that changes anything."""
        waits = [each for each in self._before if each.pending]
        self.lowers |= any(self._before[each] is not None for each in waits)
        for each in waits:
            each.pending = (each.pending or 0) - 1
        return bool(waits)

    def undo(self) -> None:
        """Take the trial back."""
        for each in self._all[self._count :][::-1]:
            del self._before[each]
            each.erase()
        del self._all[self._count :]
        for each, pending in self._before.items():
            each.pending = pending or 0
        for op, place in self._moved[::-1]:
            place.move(op)

    def keep(self) -> None:
        """Note that the ops of the trial put the two accesses in order."""
        for each in [*self._before, *self._all[self._count :]]:
            if self._unordered not in each.orders:
                each.orders.append(self._unordered)
