"""Changes of a function: each is made in the IR, and told to what keeps track of it."""

from __future__ import annotations

from ...bindings.irtypes import Op
from ..order.function_ops import FunctionOps
from .in_flight import InFlight
from .inserted import Inserted
from .places import Place, entry_at
from .proof import Proof


class Edits:
    """Inserts, moves and takes out ops.

    Args:
        ops: the ops of the function.
        proof: what is asked about it.

    Attributes:
        in_flight: the accumulators in flight.
    """

    def __init__(self, ops: FunctionOps, proof: Proof) -> None:
        self.ops = ops
        self.in_flight = InFlight(ops)
        self.proof = proof

    def add(self, op: Op, place: Place) -> None:
        """Note an op that was built at a place."""
        entry = self.ops.insert(op, entry_at(self.ops, place))
        self.proof.insert(entry)
        for value in op.results:
            self.in_flight.add(value)

    def take_out(self, op: Op) -> Place:
        """Take out an op, which can come back; return where it was."""
        place = self.place_of(op)
        self._remove(op)
        op.detach_from_parent()
        return place

    def put_back(self, op: Op, place: Place) -> None:
        """Insert an op that was taken out."""
        place.insert(op)
        self.add(op, place)

    def move(self, op: Op, place: Place) -> None:
        """Move an op to a place, which is at another op."""
        self._remove(op)
        place.move(op)
        self.add(op, place)

    def erase(self, inserted: Inserted) -> None:
        """Take out an op that was inserted for good."""
        whole = inserted.whole
        self._remove(whole)
        self.ops.forget(whole)
        inserted.erase()

    def set_pending(self, inserted: Inserted, pending: int) -> None:
        """Let a wait leave as many groups pending."""
        inserted.pending = pending
        self.proof.set_pending(self.ops.entry(inserted.op), pending)

    def place_of(self, op: Op) -> Place:
        """Return where an op is: there it comes back after it was moved or taken out."""
        entry = self.ops.entry(op)
        if entry.next.op is not None:
            return Place(entry.next.op)
        return Place(entry.previous.op, is_after=True)

    def _remove(self, op: Op) -> None:
        for value in op.results:
            self.in_flight.remove(value)
        entry = self.ops.remove(op)
        self.proof.remove(entry)
