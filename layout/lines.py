"""Lines of matrices in global memory, which accesses of several elements need aligned."""

from __future__ import annotations

from collections.abc import Sequence

from .elements import UNIT_BYTES


def unaligned_dim(
    shape: Sequence[int | None],
    strides: Sequence[int | None],
    item_bytes: int,
    alignment: int,
) -> int | None:
    """The first dimension along which a step leads to an address at which no access can begin; None if
    there is none.

    Args:
        shape, strides: of the matrix, the strides in elements; None for what is not known, and for the
            stride along which accesses run.
        item_bytes: bytes of an element.
        alignment: bytes that accesses begin at multiples of; no access of a thread has more than 16.
    """
    unit = min(alignment, UNIT_BYTES)
    for dim, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        # A dimension of one element is never stepped along.
        if extent is None or extent < 2 or stride is None:
            continue
        # All of a dimension may lie in the bytes of one access, as in blocks of scale factors.
        size = stride * item_bytes
        if size % unit and size * extent > unit:
            return dim
    return None
