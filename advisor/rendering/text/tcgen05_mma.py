"""The `tcgen05.mma` instructions that multiply two tiles, as people read them."""

from __future__ import annotations

from textwrap import indent

from ...answer import text
from ...tcgen05_mma import Tcgen05Mma
from ..formats import instruction_hex
from ..tables import columns
from .instruction import HEADS as FIELD_HEADS
from .instruction import field_rows

_HEADS = ("times", "M", "N", "K", "instruction descriptor")


@text.register
def _(mma: Tcgen05Mma) -> str:
    first, *others = mma.accumulators
    instead = f"; or {', '.join(others)}" if others else ""
    together = ", two blocks together" if mma.by.ctas == 2 else ""
    fields = field_rows(mma.decoded(*next(iter(mma.shapes))))
    factors = [text(mma.factors)] if mma.factors else []
    head = [
        f"D = A * B: {mma.m}x{mma.n} {first}{instead}{together}",
        f"  {mma.opcode}",
        f"  {_takes(mma)}",
        *(f"  {line}" for line in _pair(mma)),
    ]
    tables = [columns(_HEADS, _rows(mma)), columns(FIELD_HEADS, fields), *factors]
    return "\n\n".join(["\n".join(head), *(indent(table, "  ") for table in tables)])


def _takes(mma: Tcgen05Mma) -> str:
    """How much of tensor memory it takes."""
    takes = f"D takes {mma.columns} columns of tensor memory"
    if mma.factors:
        takes += f", scale factors {mma.factors.columns}"
    if mma.allocated != mma.columns:
        takes += f"; allocate {mma.allocated}"
    return takes


def _pair(mma: Tcgen05Mma) -> list[str]:
    """What two blocks have to know of each other."""
    mask = mma.commit_mask(0)
    if mask is None:
        return []
    return [
        "the block of even rank starts the instructions; its descriptors hold in both, whose tiles "
        "lie at the same addresses",
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64, "
        f"mask {mask:#06x} << its rank",
    ]


def _rows(mma: Tcgen05Mma) -> list[tuple[str, ...]]:
    """How often there is an instruction of each shape, and its descriptor, as `_HEADS` names them."""
    return [
        (
            *map(str, (count * mma.steps, m, n, mma.a.instruction_k)),
            instruction_hex(mma.descriptor(m, n).encode()),
        )
        for (m, n), count in mma.shapes.items()
    ]
