"""Reductions across warpgroups must be executed by all warpgroups of a group."""

from collections.abc import Iterator

from ...dialect.diagnostics import format_location, remark
from ...dialect.irtypes import Op, Value
from ...dialect.ops import PartitionOp, ReduceOp, WarpSpecializeOp
from ...ir.kernel import ancestors_of, function_of
from ...ir.walk import walk
from .polynomials import Divergence
from .values import Values

#: Ops whose regions every thread executes once.
_STRAIGHT = (PartitionOp.OPERATION_NAME, WarpSpecializeOp.OPERATION_NAME)


def check_reductions(function: Op) -> None:
    """Emit a remark for each reduction across warpgroups that some of them may not execute."""
    values: Values | None = None
    for op in walk(function, ReduceOp):
        if op.warpgroups == 1:
            continue
        values = values or Values(function)
        reason = next(_differences(op, values), None)
        if reason:
            remark(
                op.location,
                f"cannot prove that {op.warpgroups} warpgroups execute it together: {reason}",
            )


def _differences(op: Op, values: Values) -> Iterator[str]:
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
    deciding: list[Value]
    if op.name in ("scf.if", "scf.index_switch"):
        deciding = [op.operands[0]]
    elif op.name == "scf.for":
        deciding = list(op.operands)[:3]
    else:
        return False
    return all(values.of(v).divergence <= Divergence.BETWEEN_CTAS for v in deciding)
