"""Creation of ops of the dialect."""

from collections.abc import Sequence
from typing import Any

from ..bindings.irtypes import Attribute, Op, Type, Value
from ..bindings.mlir import arith, ir


def create(
    op: Any,
    /,
    operands: Sequence[Value] = (),
    results: Sequence[Type] = (),
    regions: int = 0,
    **attributes: Any,
) -> Op:
    """Create an op of class `op` at the current insertion point and location.

    The generated builders attach segment sizes, which IRDL does not need for an op with a single optional
    or variadic operand; `ir.Operation.create` does not.

    Args:
        op: the op class.
        operands: values.
        results: result types.
        regions: number of regions, each created without blocks.
        attributes: converted by `attribute_of`; None and False are omitted.
    """
    return ir.Operation.create(
        op.OPERATION_NAME,
        results=list(results),
        operands=list(operands),
        attributes={
            name: attribute_of(value)
            for name, value in attributes.items()
            if value is not None and value is not False
        },
        regions=regions,
    )


def attribute_of(value: Any) -> Attribute:
    """Convert a Python value to an attribute: an integer to i32, True to a unit attribute, text to a
    string attribute, a list to array<i64>. An attribute is returned unchanged."""
    if value is True:
        return ir.UnitAttr.get()
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    return ir.DenseI64ArrayAttr.get(value) if isinstance(value, list) else value


def i64(number: int) -> Attribute:
    """Return an i64 attribute."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def as_index(value: Value | int) -> Value:
    """Return a value of type index: an integer becomes a constant."""
    return arith.constant(ir.IndexType.get(), value) if isinstance(value, int) else value
