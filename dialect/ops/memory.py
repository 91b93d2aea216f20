"""Ops that make tiles, and where in dynamic shared memory the bytes of ops begin."""

from typing import Any

from ...layout.elements import WINDOW_BYTES
from ..bindings import ir
from ..diagnostics import Invalid
from ..op import SmemOp

#: Where the bytes of a kernel end at the latest, whatever `max-bytes` says: LLVM's `getelementptr` takes
#: so much as a constant.
MAX_OFFSET = (1 << 31) - 1


class AllocationOp(SmemOp):
    """An op that makes a tile which is no part of another, as its only result."""


def offset_of(op: Any) -> int | None:
    """The bytes from the start of dynamic shared memory to what an op keeps there; None before
    `smem-allocate`."""
    return op.attributes["offset"].value if "offset" in op.attributes else None


def check_offset(op: Any, alignment: int, size: int) -> None:
    """Checks the offset of what `smem-allocate` has placed, if it has.

    Args:
        op: the op.
        alignment, size: of its bytes.

    Raises:
        Invalid: if it is no multiple of the alignment, or more than any memory has.
    """
    if size > WINDOW_BYTES:
        raise Invalid(f"takes {size} bytes of shared memory; a block has less than {WINDOW_BYTES}")
    if "offset" in op.attributes:
        given = op.attributes["offset"].maybe_downcast()
        last = (MAX_OFFSET - size) // alignment * alignment
        if not isinstance(given, ir.IntegerAttr) or given.value not in range(
            0, last + 1, alignment
        ):
            raise Invalid(
                f"has offset = {given}; expected a multiple of {alignment} from 0 to {last}"
            )
