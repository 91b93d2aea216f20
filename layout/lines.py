"""Alignment of the lines of matrices in global memory, for accesses of several elements."""

from __future__ import annotations

from collections.abc import Sequence

from .elements import UNIT_BYTES


def unaligned_dim(
    shape: Sequence[int | None],
    strides: Sequence[int | None],
    item_bytes: int,
    alignment: int,
) -> int | None:
    """Return the first dimension whose stride is not aligned for the accesses, or None.

    Args:
        shape, strides: of the matrix, the strides in elements; None for an unknown number, and for the
            stride along which accesses run.
        item_bytes: bytes of an element.
        alignment: accesses begin at multiples of that many bytes; an access of a thread has at most 16.
    """
    unit = min(alignment, UNIT_BYTES)
    for dim, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        # The stride of a dimension of one element is not used.
        if extent is None or extent < 2 or stride is None:
            continue
        # A whole dimension may be in the bytes of one access, as in blocks of scale factors.
        size = stride * item_bytes
        if size % unit and size * extent > unit:
            return dim
    return None
