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

from ....dialect.ops import CreatePipelineOp, OrderWaitOp
from ....ir.walk import holds
from ...order.report import at
from .kernel import Event, Kernel, Partition
from .pipeline_sides import PipelineSide


def find_conflicting_turns(
    kernel: Kernel, partition: Partition
) -> tuple[CreatePipelineOp, str] | None:
    """Return a pipeline that warpgroups take in turn, and why the order of turns may not fit; None if it
    does.

    Args:
        kernel: the waits and arrivals of all partitions.
        partition: the partition.
    """
    takes_order = holds(partition.op, OrderWaitOp)
    for event in kernel.events:
        if event.partition is not partition:
            continue
        if takes_order and event.turns:
            return next(iter(event.turns)).pipeline, _BY_BOTH
        if event.pipeline_side not in event.turns:
            for (pipeline, _), turn in event.turns.items():
                if 0 < turn.taken < turn.chunk:
                    return pipeline, _within(event, turn.chunk)
        elif event.waits:
            for other in event.turns:
                if not _fits(event, other):
                    return event.pipeline_side.pipeline, _in_another_order(other)
    return None


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


def hold_together(kernel: Kernel) -> None:
    """Count the indices that all warpgroups of a partition hold where they together take another one."""
    together = {
        (event.partition, side): ((event.partition.warpgroups or 1) - 1) * turn.chunk
        for event in kernel.events
        if event.pipeline_side not in event.turns
        for side, turn in event.turns.items()
        if turn.held
    }
    for key, of_others in together.items():
        kernel.held[key] += of_others


#: The order of turns (`check_async.order`) is one of warpgroups that all take the same indices.
_BY_BOTH = f"they take its indices in turn, and turns by {OrderWaitOp.OPERATION_NAME}"


def _within(event: Event, chunk: int) -> str:
    all_take = f"at the {at(event.op)}, between two of them, an index that all take"
    return f"each takes {chunk} of its indices in turn, and {all_take}"


def _in_another_order(other: PipelineSide) -> str:
    return f"the order in which they take its indices in turn may not be that of the {at(other.pipeline)}"
