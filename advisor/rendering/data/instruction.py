"""A decoded instruction descriptor of tcgen05, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout.tcgen05 import InstructionDescriptor
from ...answer import data
from ...instruction import DecodedInstruction
from ..formats import instruction_hex


@data.register
def _(decoded: DecodedInstruction) -> dict[str, Any]:
    """The K of an instruction is in bytes."""
    return {
        "arch": str(decoded.arch),
        "instruction": instruction_hex(decoded.bits),
        "kind": str(decoded.descriptor.kind),
        "ctas": decoded.ctas,
        "fields": fields(decoded.descriptor),
        "suspicions": [data(each) for each in decoded.suspicions],
    }


def fields(descriptor: InstructionDescriptor) -> dict[str, Any]:
    """Return the value of each field that the kind has."""
    return {
        name: value if isinstance(value, bool | int) else str(value)
        for name in descriptor.fields(descriptor.kind)
        if (value := getattr(descriptor, name)) is not None
    }
