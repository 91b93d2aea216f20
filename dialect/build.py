"""Building ops of the dialect from Python."""

from collections.abc import Sequence
from typing import Any

from .bindings import arith, ir


def create(
    op: Any,
    operands: Sequence[Any] = (),
    results: Sequence[Any] = (),
    attributes: dict[str, Any] | None = None,
) -> Any:
    """Creates an op of class `op` at the current insertion point and location.

    `ir.Operation.create` is used because the generated builders attach segment sizes that IRDL does
    not need where only one operand is optional or variadic.
    """
    return ir.Operation.create(
        op.OPERATION_NAME,
        results=list(results),
        operands=[operand_value(v) for v in operands],
        attributes=attributes or {},
    )


def operand_value(value: Any) -> Any:
    """The value that an operand stands for: a value as it is, an op by its result."""
    return value if isinstance(value, ir.Value) else value.result


def index(value: Any) -> Any:
    """An index value: an integer becomes a constant."""
    return arith.constant(ir.IndexType.get(), value) if isinstance(value, int) else value
