"""Accumulators of tcgen05 that are read by columns: those are loaded where they are taken, so that a
thread never holds all of them."""

from typing import Any

from ....dialect.ops import AnyMma, ColumnsOp
from ....ir.walk import holds


def is_read_by_columns(wait: Any) -> bool:
    """Whether the result of an `smem.wait` is used by `smem.columns` alone, of the same block, before
    another product could write where it is."""
    operation = wait.operation
    users = [use.owner for use in wait.result.uses]
    block = operation.block
    if not users or any(not isinstance(u, ColumnsOp) or u.operation.block != block for u in users):
        return False
    ops = [op.operation for op in block.operations]
    last = max(ops.index(user.operation) for user in users)
    return not any(holds(op, AnyMma) for op in ops[ops.index(operation) + 1 : last])
