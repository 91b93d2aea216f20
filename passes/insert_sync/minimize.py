"""Takes out what the proof does not need, and lets waits leave as much pending as it allows."""

from __future__ import annotations

from itertools import takewhile

from ...dialect.ops.wait import mma_after
from .inserted import RANKS, Inserted
from .insertion import Insertion
from .places import loops_around, ops_of, place_of


def minimize(insertion: Insertion) -> None:
    """Take out each inserted op without which everything stays proven, those in loops first; move the
    others out of loops, and raise how much waits leave pending, where everything stays proven.

    What stays is thus needed: without any one op, or with one group more pending, the proof is lost.
    """
    _take_all_out(insertion)
    moved = [_hoist(group, insertion) for group in _groups(insertion.inserted)]
    if any(moved):
        # Before a loop, an op can do what another one is there for.
        _take_all_out(insertion)
    for each in insertion.inserted:
        _raise_pending(each, insertion)


def _take_all_out(insertion: Insertion) -> None:
    """Take out each op without which everything stays proven."""
    for each in sorted(insertion.inserted, key=_cost, reverse=True):
        if not each.makes_readable and _take_out(each, insertion):
            insertion.inserted.remove(each)


def _cost(each: Inserted) -> tuple[int, int]:
    """Return what an op costs: those that are executed more often cost more, then barriers."""
    return len(loops_around(each.op)), RANKS[each.kind.op]


def _take_out(each: Inserted, insertion: Insertion) -> bool:
    """Take an op out, unless the proof is lost; return whether it is out."""
    op, place = each.whole, place_of(each.whole)
    uses = [(u.owner, u.operand_number, r) for r in each.op.results for u in r.uses]
    for owner, number, _ in uses:
        owner.operands[number] = each.op.operands[0]
    op.detach_from_parent()
    if insertion.analyze().is_proven:
        return True
    place.insert(op)
    for owner, number, waited in uses:
        owner.operands[number] = waited
    return False


def _groups(inserted: list[Inserted]) -> list[list[Inserted]]:
    """Return the inserted ops that move together: those that follow each other in a block."""
    groups: list[list[Inserted]] = []
    own = {each.whole: each for each in inserted if not len(each.op.results)}
    for first in own.values():
        ops = ops_of(first.whole.block)
        at = ops.index(first.whole)
        if not at or ops[at - 1] not in own:
            groups.append([own[op] for op in takewhile(own.__contains__, ops[at:])])
    return groups


def _hoist(group: list[Inserted], insertion: Insertion) -> bool:
    """Move ops out of as many loops as the proof allows; return whether that is any."""
    back = place_of(group[-1].whole)
    for loop in loops_around(group[0].whole):
        for each in group:
            each.whole.move_before(loop)
        if insertion.analyze().is_proven:
            return True
    for each in group:
        if back.is_after:
            back.move(each.whole)
            back = back._replace(op=each.whole)
        else:
            back.move(each.whole)
    return False


def _raise_pending(each: Inserted, insertion: Insertion) -> None:
    """Let a wait leave as many groups pending as the proof allows."""
    most = insertion.furthest
    if each.makes_readable:
        most = mma_after(each.op.operands[0], each.op)
    while (pending := each.pending) is not None and pending < most:
        each.pending = pending + 1
        if not insertion.analyze().is_proven:
            each.pending = pending
            return
