"""`sl.assume(condition)`: what the author knows of a kernel's integers."""

from __future__ import annotations

from ...bindings.mlir import ir
from ..errors import TraceError
from ..trace import op_builder
from ..values.boolean import Bool, condition_value


@op_builder
def assume(condition: Bool | bool) -> None:
    """State that a condition holds wherever its block is executed: `sl.assume(n >= 1)`.

    It costs nothing. What is proven of the kernel may depend on it; a run in which it does not hold has
    no meaning, and on the CPU (`on="cpu"`) stops there. `Kernel.check` lists it. That an extent is a
    multiple of a number, which each call checks, is `sl.multiple_of`.

    Args:
        condition: a comparison of indices or numbers. For a Python bool, it is checked now.

    Raises:
        TraceError: if it is false, or no condition.

    Example:
        >>> sl.assume(sl.block_id(0) < 4)
    """
    if condition is False:
        raise TraceError("sl.assume takes a condition that holds; this one is False")
    if condition is not True:
        attributes = {"op_bundle_sizes": ir.DenseI32ArrayAttr.get([])}
        ir.Operation.create(
            "llvm.intr.assume", operands=[condition_value(condition)], attributes=attributes
        )
