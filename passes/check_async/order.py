"""Turns of warpgroups: that no warpgroup waits for a turn that never comes.

A turn waits for the warpgroup before it, which may be at any op before the same turn. Take the warpgroup
of a partition that has got least far in the program, the first one of several: the warpgroup before it
has ended the turn that it waits for, because it is further, and does not wait within a turn. So it waits
for other partitions alone. The others are further, and have released and committed whatever it has. Where
partitions do not wait for each other in a circle, each of them being one thread of execution, the
warpgroups that have got least far do not either. All of this needs turns without waits, and warpgroups
that run the same ops.
"""

from ...bindings.diagnostics import format_location, remark
from ...bindings.irtypes import Block, Op
from ...dialect.effects import Completion, Scope
from ...dialect.op import SmemOp
from ...dialect.ops import MapOp, OrderArriveOp, OrderWaitOp, ReduceOp, WarpgroupBarrierOp
from ...ir.errors import OpError
from ...ir.walk import walk
from ..order.harmless import is_harmless
from .reductions import differences
from .values import Values


def check_order(function: Op) -> None:
    """Check the turns of warpgroups; a remark states where some of them may not take a turn.

    Raises:
        OpError: if a turn has no begin or no end in its block, or holds what may wait for others.
    """
    turns = list(walk(function, OrderWaitOp, OrderArriveOp))
    for block in dict.fromkeys(op.operation.block for op in turns):
        _check_block(block)
    values = Values(function) if turns else None
    for op in turns:
        if values is None or not isinstance(op, OrderWaitOp):
            continue
        if reason := next(differences(op, values), None):
            remark(
                op.location,
                f"cannot prove that all warpgroups of its smem.partition take turns: {reason}",
            )


def _check_block(block: Block) -> None:
    """Check that turns of a block end in it, one after the other, and hold nothing that waits."""
    begun: Op | None = None
    for op in block.operations:
        if isinstance(op, OrderWaitOp):
            if begun is not None:
                raise OpError(op, f"is in the turn that begins {_at(begun)}; {_END} before it")
            begun = op
        elif isinstance(op, OrderArriveOp):
            if begun is None:
                raise OpError(
                    op, "ends a turn that no smem.order_wait before it in its block begins"
                )
            begun = None
        elif begun is not None and _may_wait(op):
            raise OpError(
                op,
                f"may wait for other warpgroups in the turn that begins {_at(begun)}; put it before "
                "that, or behind its smem.order_arrive",
            )
    if begun is not None:
        raise OpError(begun, f"begins a turn that does not end in its block; {_END} behind it")


_END = "put smem.order_arrive"


def _at(op: Op) -> str:
    return f"at {format_location(op.location)}"


def _may_wait(op: Op) -> bool:
    """Whether an op may wait for other threads than those of its warpgroup; regions may hold such ops."""
    if isinstance(op, MapOp):
        return False
    if len(op.regions):
        return True
    if not isinstance(op, SmemOp):
        return not is_harmless(op.operation)
    effects = op.effects
    waits = (
        effects.awaits is Completion.MBARRIER or (effects.barrier or Scope.THREAD) > Scope.WARPGROUP
    )
    return waits or (isinstance(op, (ReduceOp, WarpgroupBarrierOp)) and op.warpgroups != 1)
