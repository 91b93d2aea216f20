"""Remove inserted ops that the proof does not need, and raise what waits leave pending."""

from __future__ import annotations

from ...bindings.irtypes import Op
from ...dialect.ops.wait import mma_after
from ..order.function_ops import following
from ..order.needs import SYNC_ORDER
from .inserted import InsertedOp
from .insertion import Insertion
from .insertion_points import InsertionPoint, loops_around


def minimize(insertion: Insertion) -> None:
    """Remove each inserted op without which everything stays proven, those in loops first; move other
    ones out of loops, and raise what waits leave pending, if everything stays proven.

    So each remaining op is needed: without it, or with one more group pending, the proof is lost.
    """
    _take_all_out(insertion)
    moved = [_hoist(group, insertion) for group in _groups(insertion)]
    if any(moved):
        # An op before a loop may make another one superfluous.
        _take_all_out(insertion)
    for inserted in insertion.inserted:
        _raise_pending(inserted, insertion)


def _take_all_out(insertion: Insertion) -> None:
    """Remove each op without which everything stays proven."""
    for inserted in sorted(insertion.inserted, key=_cost, reverse=True):
        if not inserted.makes_readable:
            _take_out(inserted, insertion)


def _cost(inserted: InsertedOp) -> tuple[int, int]:
    """Return the cost of an op: first its loop depth, then its position in `SYNC_ORDER`."""
    return len(loops_around(inserted.op)), SYNC_ORDER[inserted.kind.op]


def _take_out(inserted: InsertedOp, insertion: Insertion) -> None:
    """Remove an op, unless the proof is lost."""
    op, prover, edits = inserted.whole, insertion.prover, insertion.edits
    passing = prover.passing([op])
    uses = [(u.owner, u.operand_number, r) for r in inserted.op.results for u in r.uses]
    for owner, number, _ in uses:
        owner.operands[number] = inserted.op.operands[0]
    point = edits.take_out(op)
    if prover.are_in_order(passing):
        insertion.inserted.remove(inserted)
        edits.ops.forget(op)
        return
    edits.put_back(op, point)
    for owner, number, waited in uses:
        owner.operands[number] = waited


def _groups(insertion: Insertion) -> list[list[InsertedOp]]:
    """Return the inserted ops that move together: those that follow each other in a block."""
    groups: list[list[InsertedOp]] = []
    for inserted in insertion.inserted:
        entry = insertion.edits.ops.entry(inserted.whole)
        if not len(inserted.op.results) and _movable(entry.previous.op, insertion) is None:
            group = [inserted]
            for op in following(entry):
                if (next_inserted := _movable(op, insertion)) is None:
                    break
                group.append(next_inserted)
            groups.append(group)
    return groups


def _movable(op: Op | None, insertion: Insertion) -> InsertedOp | None:
    """Return the inserted op that an op is, if it can move out of loops; else None."""
    inserted = None if op is None else insertion.inserted.find(op)
    return None if inserted is None or len(inserted.op.results) else inserted


def _hoist(group: list[InsertedOp], insertion: Insertion) -> bool:
    """Move ops out of as many loops as the proof allows; return whether out of any."""
    ops, edits = [inserted.whole for inserted in group], insertion.edits
    loops = loops_around(ops[0])
    if not loops:
        return False
    passing = insertion.prover.passing(ops)
    back = edits.point_of(ops[-1])
    for loop in loops:
        for op in ops:
            edits.move(op, InsertionPoint(loop))
        if insertion.prover.are_in_order(passing):
            return True
    for op in ops:
        edits.move(op, back)
        if back.is_after:
            back = back._replace(op=op)
    return False


def _raise_pending(inserted: InsertedOp, insertion: Insertion) -> None:
    """Let a wait leave as many groups pending as the proof allows."""
    most = insertion.furthest
    if inserted.pending is None:
        return
    if inserted.makes_readable:
        most = mma_after(inserted.op.operands[0], inserted.op)
    passing = insertion.prover.passing([inserted.whole])
    while (pending := inserted.pending) is not None and pending < most:
        insertion.edits.set_pending(inserted, pending + 1)
        if not insertion.prover.are_in_order(passing):
            insertion.edits.set_pending(inserted, pending)
            return
