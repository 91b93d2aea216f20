"""Ops that make tiles, and where in dynamic shared memory the bytes of ops begin."""

from typing import Any

from ..bindings import ir
from ..diagnostics import Invalid
from ..op import SmemOp


class RootOp(SmemOp):
    """An op that makes a tile which is no part of another, as its only result."""


def offset_of(op: Any) -> int | None:
    """The bytes from the start of dynamic shared memory to what an op keeps there; None before
    `smem-allocate`."""
    return op.attributes["offset"].value if "offset" in op.attributes else None


def check_offset(op: Any, alignment: int) -> None:
    """Checks the offset of what `smem-allocate` has placed, if it has.

    Raises:
        Invalid: if it is no multiple of the alignment.
    """
    if "offset" in op.attributes:
        given = op.attributes["offset"].maybe_downcast()
        if not isinstance(given, ir.IntegerAttr) or given.value < 0 or given.value % alignment:
            raise Invalid(f"has offset = {given}; expected a multiple of {alignment} from 0")
