"""The `tcgen05.mma` instructions of an MMA, as text."""

from __future__ import annotations

from textwrap import indent

from ...answer import text
from ...tcgen05_mma import Tcgen05Mma
from ..formats import instruction_hex
from ..tables import columns
from .instruction import HEADS as FIELD_HEADS
from .instruction import field_rows

_HEADS = ("count", "M", "N", "K", "instruction descriptor")


@text.register
def _(mma: Tcgen05Mma) -> str:
    first, *others = mma.accumulators
    instead = f"; or {', '.join(others)}" if others else ""
    pair = ", CTA pair" if mma.op.ctas == 2 else ""
    fields = field_rows(mma.decoded(*next(iter(mma.shapes))))
    factors = [text(mma.factors)] if mma.factors else []
    head = [
        f"D = A * B: {mma.m}x{mma.n} {first}{instead}{pair}",
        f"  {mma.opcode}",
        f"  {_takes(mma)}",
        *(f"  {line}" for line in _pair(mma)),
    ]
    tables = [columns(_HEADS, _rows(mma)), columns(FIELD_HEADS, fields), *factors]
    return "\n\n".join(["\n".join(head), *(indent(table, "  ") for table in tables)])


def _takes(mma: Tcgen05Mma) -> str:
    """Return a sentence about the tensor memory."""
    takes = f"D takes {mma.columns} columns of tensor memory"
    if mma.factors:
        takes += f", scale factors {mma.factors.columns}"
    if mma.allocated != mma.columns:
        takes += f"; allocate {mma.allocated}"
    return takes


def _pair(mma: Tcgen05Mma) -> list[str]:
    """Return the rules of a CTA pair."""
    mask = mma.commit_mask(0)
    if mask is None:
        return []
    return [
        "the CTA of even rank issues the instructions; both CTAs have their tiles at the same shared "
        "memory addresses",
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64, "
        f"mask {mask:#06x} << its rank",
    ]


def _rows(mma: Tcgen05Mma) -> list[tuple[str, ...]]:
    """Return the instructions of each shape, with their number and descriptor; the columns are
    `_HEADS`."""
    return [
        (
            *map(str, (count * mma.k_blocks, m, n, mma.a.instruction_k)),
            instruction_hex(mma.descriptor(m, n).encode()),
        )
        for (m, n), count in mma.shapes.items()
    ]
