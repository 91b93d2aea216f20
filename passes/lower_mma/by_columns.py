"""Accumulators of tcgen05 that are read by columns: those are loaded where they are taken, so that a
thread never holds all of them."""

from typing import Any

from ...dialect.ops.mma import STARTED
from ...ir.kernel import walk


def is_read_by_columns(wait: Any) -> bool:
    """Whether the result of an `smem.wait` is used by `smem.columns` alone, of the same block, before
    another product could write where it is."""
    operation = wait.operation
    users = [use.owner.operation for use in wait.results[0].uses]
    if not users or any(u.name != "smem.columns" or u.block != operation.block for u in users):
        return False
    ops = [op.operation for op in operation.block.operations]
    last = max(map(ops.index, users))
    between = ops[ops.index(operation) + 1 : last]
    return not any(op.name in STARTED or any(walk(op, *STARTED)) for op in between)
