"""Creating ops of the dialect from Python."""

from collections.abc import Sequence
from typing import Any

from .bindings import arith, ir


def create(
    op: Any,
    operands: Sequence[Any] = (),
    results: Sequence[Any] = (),
    regions: int = 0,
    **attributes: Any,
) -> Any:
    """Creates an op of class `op` at the current insertion point and location.

    `ir.Operation.create` is used because the generated builders attach segment sizes that IRDL does
    not need where only one operand is optional or variadic.

    Args:
        op: the class.
        operands: values.
        results: their types.
        regions: how many it has, each without a block.
        attributes: as `attribute_of` takes them; None and False are left out.
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


def attribute_of(value: Any) -> Any:
    """The attribute that the dialect's ops have for a Python value: an i32 for an integer, a unit
    attribute for True, array<i64> for a list; an attribute as it is."""
    if value is True:
        return ir.UnitAttr.get()
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    return ir.DenseI64ArrayAttr.get(value) if isinstance(value, list) else value


def i64(number: int) -> Any:
    """An i64 attribute."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def index(value: Any) -> Any:
    """An index value: an integer becomes a constant."""
    return arith.constant(ir.IndexType.get(), value) if isinstance(value, int) else value
