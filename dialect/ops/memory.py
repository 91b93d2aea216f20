"""Ops that allocate tiles, and offsets in dynamic shared memory."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...layout.elements import WINDOW_BYTES
from ..op import SmemOp

#: Upper bound of the end of a kernel's shared memory, for any `max-bytes`: the largest constant index of
#: LLVM's `getelementptr`.
MAX_OFFSET = (1 << 31) - 1


class AllocationOp(SmemOp):
    """An op whose only result is a tile with its own memory: `smem.alloc` or `smem.view`."""


def offset_of(op: Op) -> int | None:
    """Return the offset of an op's bytes in dynamic shared memory, in bytes; None before
    `smem-allocate`."""
    return op.attributes["offset"].value if "offset" in op.attributes else None


def check_offset(op: Op, alignment: int, size: int) -> None:
    """Check the size of an op's shared memory, and its offset if `smem-allocate` has added one.

    Args:
        op: the op.
        alignment, size: of its shared memory, in bytes.

    Raises:
        Invalid: if the size exceeds the memory, or the offset is not a multiple of the alignment in
            range.
    """
    if size > WINDOW_BYTES:
        raise Invalid(f"takes {size} bytes of shared memory; a CTA has less than {WINDOW_BYTES}")
    if "offset" in op.attributes:
        attribute = op.attributes["offset"].maybe_downcast()
        last = (MAX_OFFSET - size) // alignment * alignment
        if not isinstance(attribute, ir.IntegerAttr) or attribute.value not in range(
            0, last + 1, alignment
        ):
            raise Invalid(
                f"has offset = {attribute}; expected a multiple of {alignment} from 0 to {last}"
            )
