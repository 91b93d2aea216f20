"""Turns of warpgroups: that one order of all of them fits every pipeline of their partition.

Where the warpgroups of a partition take the indices of a pipeline in turn, each of them waits on its
own. Circular waits are excluded for partitions as a whole. That holds for their warpgroups, too, if the
steps of all of them have a common order in which the indices of each pipeline come one after the other,
as one thread of execution would take them: if no circle closes in that order, none closes without it.

The order is that of turns: the first turn of the first warpgroup, on all pipelines, then the first turn
of the next one. An index that every warpgroup takes is a step of them all; what one of them holds at
such a step, all of them hold.
"""

from __future__ import annotations

from ....dialect.ops import OrderWaitOp, PartitionOp
from ....ir.walk import holds
from .events import Event
from .partition import Partition
from .pipeline_sides import PipelineSide


def has_conflicting_turns(events: list[Event], partition: Partition) -> bool:
    """Whether the order of turns may not fit the pipelines that warpgroups of a partition take in turn.

    Args:
        events: the waits and arrivals of all partitions.
        partition: the partition.
    """
    takes_order = isinstance(partition.op, PartitionOp) and holds(partition.op, OrderWaitOp)
    for event in events:
        if event.partition != partition:
            continue
        if takes_order and event.turns:
            # The order of turns (`check_async.order`) is one of warpgroups that take the same indices.
            return True
        if event.pipeline_side not in event.turns:
            if any(0 < turn.taken < turn.chunk for turn in event.turns.values()):
                return True
        elif event.waits and not all(_fits(event, other) for other in event.turns):
            return True
    return False


def _fits(event: Event, other: PipelineSide) -> bool:
    """Return whether a wait is in the same turn as the other pipeline, or in the next one when that is
    over."""
    turn, others, ahead = event.turns[event.pipeline_side], event.turns[other], event.ahead[other]
    warpgroups = event.partition.warpgroups
    if warpgroups is None or ahead is None or turn.chunk != others.chunk:
        return False
    # The index that each has taken first in its turn, one minus the other.
    between = ahead - others.taken + turn.taken
    is_over = others.taken == others.chunk and others.held == 0
    return between == 0 or (between == -warpgroups * turn.chunk and is_over)
