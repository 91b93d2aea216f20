"""Reductions and barriers of several warpgroups must be executed by all of a group; reductions, like
arrivals at semaphores, by all threads of a warpgroup."""

from collections.abc import Iterator

from ...bindings.diagnostics import format_location, remark
from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import (
    PartitionOp,
    ReduceOp,
    SemaphoreArriveOp,
    WarpgroupBarrierOp,
    WarpSpecializeOp,
)
from ...ir.kernel import ancestors_of, block_size, function_of
from ...ir.walk import walk
from ...layout.fragments import WARPGROUP
from .polynomials import Divergence
from .values import Values

#: Predicates of `arith.cmpi`: slt, sge, ult and uge.
_BELOW_OR_NOT = (2, 5, 6, 9)

#: How many operands of an op decide how often its regions are executed.
_DECIDING = {"scf.if": 1, "scf.index_switch": 1, "scf.for": 3}

#: Ops whose regions every thread executes once.
_STRAIGHT = (PartitionOp.OPERATION_NAME, WarpSpecializeOp.OPERATION_NAME)


def check_reductions(function: Op) -> None:
    """Emit a remark for each reduction or barrier of warpgroups that some of these, or of a warpgroup's
    threads, may not execute, and for each arrival at a semaphore that some threads may not execute."""
    values: Values | None = None
    for op in walk(function, ReduceOp, SemaphoreArriveOp, WarpgroupBarrierOp):
        if isinstance(op, WarpgroupBarrierOp) and op.warpgroups == 1:
            continue
        values = values or Values(function)
        if isinstance(op, SemaphoreArriveOp) or op.warpgroups == 1:
            _check_threads(op, values)
            continue
        reason = next(differences(op, values), None)
        if reason:
            remark(
                op.location,
                f"cannot prove that {op.warpgroups} warpgroups execute it together: {reason}",
            )


def _check_threads(op: Op, values: Values) -> None:
    """Emit a remark if a condition or a loop may choose some threads of a warpgroup only."""
    for outer in ancestors_of(op):
        deciding = list(outer.operands)[: _DECIDING.get(outer.name, 0)]
        unknown = isinstance(op, SemaphoreArriveOp) and outer.name not in (*_DECIDING, *_STRAIGHT)
        if unknown or not all(_is_same_in_warpgroup(value, values) for value in deciding):
            remark(
                op.location,
                "cannot prove that the threads of a warpgroup execute it together: the "
                f"'{outer.name}' at {format_location(outer.location)} may differ between them",
            )
            return


def _is_same_in_warpgroup(value: Value, values: Values) -> bool:
    """Whether all threads of a warpgroup have the same value."""
    found = values.of(value)
    if all(
        symbol.divergence <= Divergence.BETWEEN_WARPGROUPS or values.is_warpgroup(symbol)
        for symbol in found.symbols
    ):
        return True
    op = value.owner
    if isinstance(op, ir.Block) or not op.name.startswith("arith."):
        return False
    return _is_at_warpgroup(op, values) or all(
        _is_same_in_warpgroup(operand, values) for operand in op.operands
    )


def _is_at_warpgroup(op: Op, values: Values) -> bool:
    """Whether an op compares the thread's index with that of the first thread of a warpgroup."""
    if op.name != "arith.cmpi" or op.attributes["predicate"].value not in _BELOW_OR_NOT:
        return False
    thread, first = op.operands[0].owner, values.of(op.operands[1]).constant
    size = block_size(function_of(op))
    return (
        not isinstance(thread, ir.Block)
        and thread.name == "gpu.thread_id"
        and size is not None
        and size[1:] == (1, 1)
        and first is not None
        and first % WARPGROUP == 0
    )


def differences(op: Op, values: Values) -> Iterator[str]:
    """Yield why some warpgroups may not execute an op, from the innermost region on."""
    inner = op.operation
    for outer in (*ancestors_of(op), function_of(op)):
        # All threads that execute a region execute its first block, to which no op branches.
        if inner.block != inner.block.region.blocks[0]:
            yield (
                f"it is not in the first block of the '{outer.name}' at "
                f"{format_location(outer.location)}, and branches may differ between them"
            )
        if outer == function_of(op):
            return
        if outer.name not in _STRAIGHT and not _is_same_for_warpgroups(outer, values):
            yield (
                f"the '{outer.name}' at {format_location(outer.location)} may differ between them"
            )
        inner = outer


def _is_same_for_warpgroups(op: Op, values: Values) -> bool:
    """Whether all warpgroups execute the regions of an op alike."""
    if op.name not in _DECIDING:
        return False
    deciding = list(op.operands)[: _DECIDING[op.name]]
    return all(values.of(v).divergence <= Divergence.BETWEEN_CTAS for v in deciding)
