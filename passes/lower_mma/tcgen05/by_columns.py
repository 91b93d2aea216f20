"""Accumulators of tcgen05 that are read by columns: each group of columns is loaded where it is used, so
that a thread never holds the whole accumulator."""

from ....dialect.ops import AnyMma, ColumnsOp, WaitOp
from ....ir.walk import holds


def is_read_by_columns(wait: WaitOp) -> bool:
    """Whether the result of an `smem.wait` is used only by `smem.columns` of the same basic block, before
    another mma could overwrite its tensor memory."""
    operation = wait.operation
    users = [use.owner for use in wait.result.uses]
    block = operation.block
    if not users or any(not isinstance(u, ColumnsOp) or u.operation.block != block for u in users):
        return False
    ops = [op.operation for op in block.operations]
    last = max(ops.index(user.operation) for user in users)
    return not any(holds(op, AnyMma) for op in ops[ops.index(operation) + 1 : last])
