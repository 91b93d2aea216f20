"""Accessors of optional attributes."""

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Op
from ..bindings.mlir import ir


def has_unit_attribute(op: Op, name: str) -> bool:
    """Whether an op has the unit attribute of that name.

    Raises:
        Invalid: if the attribute has a value: `false` would mean the same as `true`.
    """
    if name not in op.attributes:
        return False
    attribute = op.attributes[name].maybe_downcast()
    if not isinstance(attribute, ir.UnitAttr):
        raise Invalid(f"has {name} = {attribute}; expected a unit attribute, without a value")
    return True


def positive_attribute(op: Op, name: str) -> int | None:
    """Return an integer attribute of an op; None if it is absent.

    Raises:
        Invalid: if it is not a positive integer.
    """
    if name not in op.attributes:
        return None
    attribute = op.attributes[name].maybe_downcast()
    if not isinstance(attribute, ir.IntegerAttr) or attribute.value < 1:
        raise Invalid(f"has {name} = {attribute}; expected a positive integer")
    return attribute.value


def string_attribute(op: Op, name: str, values: tuple[str, ...]) -> str | None:
    """Return a string attribute of an op; None if it is absent.

    Raises:
        Invalid: if it is not one of `values`.
    """
    if name not in op.attributes:
        return None
    attribute = op.attributes[name].maybe_downcast()
    if not isinstance(attribute, ir.StringAttr) or attribute.value not in values:
        raise Invalid(
            f"has {name} = {attribute}; expected " + " or ".join(f'"{v}"' for v in values)
        )
    return attribute.value
