"""Unit attributes: what is said of an op by their presence alone."""

from typing import Any

from .bindings import ir
from .diagnostics import Invalid


def is_said(op: Any, name: str) -> bool:
    """Whether an op has the unit attribute of that name.

    Raises:
        Invalid: if the attribute has a value: `false` would say the same as `true`.
    """
    if name not in op.attributes:
        return False
    given = op.attributes[name].maybe_downcast()
    if not isinstance(given, ir.UnitAttr):
        raise Invalid(f"has {name} = {given}; expected a unit attribute, without a value")
    return True
