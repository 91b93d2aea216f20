"""The attribute `smem.config`: the configuration that a contraction's kernel is to have."""

from __future__ import annotations

from typing import Any

from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...kernels.gemm.generator.config import Config
from .unsupported import Unsupported

#: The attribute of a contraction: a dictionary of fields of `Config`.
CONFIG = "smem.config"

_DEFAULT = Config()

#: The fields of a configuration, in order.
FIELDS = tuple(Config.__dataclass_fields__)


def config_of(op: Op) -> Config | None:
    """Return the configuration that an op asks for; None if it has no `smem.config`.

    Raises:
        Unsupported: for an attribute that is no configuration.
    """
    if CONFIG not in op.attributes:
        return None
    fields = op.attributes[CONFIG]
    if not isinstance(fields, ir.DictAttr):
        raise Unsupported(f"has {CONFIG} = {fields}; expected a dictionary of {', '.join(FIELDS)}")
    return config_from({field.name: field.attr for field in fields}, CONFIG)


def config_from(attributes: dict[str, Any], subject: str) -> Config:
    """Return the configuration that attributes describe; the other fields have their defaults.

    Args:
        attributes: by the names of the fields.
        subject: what has the attributes, for messages.

    Raises:
        Unsupported: for an unknown field, or an attribute of another type than the field's.
    """
    values: dict[str, Any] = {}
    for name, attribute in attributes.items():
        if name not in FIELDS:
            raise Unsupported(f"has {subject} with '{name}'; expected {', '.join(FIELDS)}")
        values[name] = _value(subject, name, attribute)
    return Config(**values)


def _value(subject: str, name: str, attribute: Any) -> bool | int | tuple[int, ...]:
    """Return the value of a field, which has the type of its default."""
    default = getattr(_DEFAULT, name)
    if isinstance(default, bool):
        if isinstance(attribute, ir.BoolAttr):
            return attribute.value
        raise Unsupported(f"has {subject} with {name} = {attribute}; expected true or false")
    if isinstance(default, int):
        if _is_number(attribute):
            return attribute.value
        raise Unsupported(f"has {subject} with {name} = {attribute}; expected an integer")
    numbers = list(attribute) if isinstance(attribute, ir.ArrayAttr) else []
    if len(numbers) == len(default) and all(map(_is_number, numbers)):
        return tuple(ir.IntegerAttr(number).value for number in numbers)
    raise Unsupported(
        f"has {subject} with {name} = {attribute}; expected {len(default)} integers, for example "
        f"{list(default)}"
    )


def _is_number(attribute: Any) -> bool:
    return isinstance(attribute, ir.IntegerAttr) and not isinstance(attribute, ir.BoolAttr)
