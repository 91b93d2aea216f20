"""Takes out what the proof does not need, and lets waits leave as much pending as it allows."""

from __future__ import annotations

from ...bindings.irtypes import Op
from ...dialect.ops.wait import mma_after
from ..order.function_ops import following
from ..order.needs import SYNC_ORDER
from .inserted import InsertedOp
from .insertion import Insertion
from .insertion_points import InsertionPoint, loops_around


def minimize(insertion: Insertion) -> None:
    """Take out each inserted op without which everything stays proven, those in loops first; move the
    others out of loops, and raise how much waits leave pending, where everything stays proven.

    What stays is thus needed: without any one op, or with one group more pending, the proof is lost.
    """
    _take_all_out(insertion)
    moved = [_hoist(group, insertion) for group in _groups(insertion)]
    if any(moved):
        # Before a loop, an op can do what another one is there for.
        _take_all_out(insertion)
    for each in insertion.inserted:
        _raise_pending(each, insertion)


def _take_all_out(insertion: Insertion) -> None:
    """Take out each op without which everything stays proven."""
    for each in sorted(insertion.inserted, key=_cost, reverse=True):
        if not each.makes_readable:
            _take_out(each, insertion)


def _cost(each: InsertedOp) -> tuple[int, int]:
    """Return what an op costs: those that are executed more often cost more, then barriers."""
    return len(loops_around(each.op)), SYNC_ORDER[each.kind.op]


def _take_out(each: InsertedOp, insertion: Insertion) -> None:
    """Take an op out, unless the proof is lost."""
    op, proof, edits = each.whole, insertion.proof, insertion.edits
    passing = proof.passing([op])
    uses = [(u.owner, u.operand_number, r) for r in each.op.results for u in r.uses]
    for owner, number, _ in uses:
        owner.operands[number] = each.op.operands[0]
    place = edits.take_out(op)
    if proof.are_in_order(passing):
        insertion.inserted.remove(each)
        edits.ops.forget(op)
        return
    edits.put_back(op, place)
    for owner, number, waited in uses:
        owner.operands[number] = waited


def _groups(insertion: Insertion) -> list[list[InsertedOp]]:
    """Return the inserted ops that move together: those that follow each other in a block."""
    groups: list[list[InsertedOp]] = []
    for each in insertion.inserted:
        entry = insertion.edits.ops.entry(each.whole)
        if not len(each.op.results) and _movable(entry.previous.op, insertion) is None:
            group = [each]
            for op in following(entry):
                if (other := _movable(op, insertion)) is None:
                    break
                group.append(other)
            groups.append(group)
    return groups


def _movable(op: Op | None, insertion: Insertion) -> InsertedOp | None:
    """Return the inserted op that an op is, if it can move out of loops."""
    each = None if op is None else insertion.inserted.find(op)
    return None if each is None or len(each.op.results) else each


def _hoist(group: list[InsertedOp], insertion: Insertion) -> bool:
    """Move ops out of as many loops as the proof allows; return whether that is any."""
    ops, edits = [each.whole for each in group], insertion.edits
    loops = loops_around(ops[0])
    if not loops:
        return False
    passing = insertion.proof.passing(ops)
    back = edits.place_of(ops[-1])
    for loop in loops:
        for op in ops:
            edits.move(op, InsertionPoint(loop))
        if insertion.proof.are_in_order(passing):
            return True
    for op in ops:
        edits.move(op, back)
        if back.is_after:
            back = back._replace(op=op)
    return False


def _raise_pending(each: InsertedOp, insertion: Insertion) -> None:
    """Let a wait leave as many groups pending as the proof allows."""
    most = insertion.furthest
    if each.pending is None:
        return
    if each.makes_readable:
        most = mma_after(each.op.operands[0], each.op)
    passing = insertion.proof.passing([each.whole])
    while (pending := each.pending) is not None and pending < most:
        insertion.edits.set_pending(each, pending + 1)
        if not insertion.proof.are_in_order(passing):
            insertion.edits.set_pending(each, pending)
            return
