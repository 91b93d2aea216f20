"""The `tcgen05.mma` instructions of an MMA, as text and JSON data."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from ..answer import data, text
from ..tcgen05_mma import Tcgen05Mma
from .formats import instruction_hex
from .instruction import HEADS as FIELD_HEADS
from .instruction import field_rows, field_values
from .tables import text_table

_HEADS = ("count", "M", "N", "K", "instruction descriptor")


@text.register
def _(mma: Tcgen05Mma) -> str:
    first, *alternatives = mma.accumulators
    alternatives_text = f"; or {', '.join(alternatives)}" if alternatives else ""
    pair = ", CTA pair" if mma.op.ctas == 2 else ""
    field_values = field_rows(mma.decode_descriptor(*next(iter(mma.shapes))))
    factors = [text(mma.factors)] if mma.factors else []
    head = [
        f"D = A * B: {mma.m}x{mma.n} {first}{alternatives_text}{pair}",
        f"  {mma.opcode}",
        f"  {_takes(mma)}",
        *(f"  {line}" for line in _pair(mma)),
    ]
    tables = [text_table(_HEADS, _rows(mma)), text_table(FIELD_HEADS, field_values), *factors]
    return "\n\n".join(["\n".join(head), *(indent(table, "  ") for table in tables)])


def _takes(mma: Tcgen05Mma) -> str:
    """Return a sentence about the tensor memory."""
    takes = f"D takes {mma.columns} columns of tensor memory"
    if mma.factors:
        takes += f", scale factors {mma.factors.columns}"
    if mma.allocated_columns != mma.columns:
        takes += f"; allocate {mma.allocated_columns}"
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


@data.register
def _(mma: Tcgen05Mma) -> dict[str, Any]:
    """The commit mask is that of the CTAs with ranks 0 and 1."""
    mask = mma.commit_mask(0)
    return {
        "m": mma.m,
        "n": mma.n,
        "k": mma.k,
        "kind": str(mma.op.kind),
        "ctas": mma.op.ctas,
        "scale": mma.op.scale,
        "block": mma.op.block,
        "accumulators": list(mma.accumulators),
        "instructions": [
            {
                "instruction": mma.opcode,
                "m": m,
                "n": n,
                "k": mma.a.instruction_k,
                "count": count * mma.k_blocks,
                "descriptor": instruction_hex(mma.descriptor(m, n).encode()),
                "fields": field_values(mma.descriptor(m, n)),
            }
            for (m, n), count in mma.shapes.items()
        ],
        "scale_factors": mma.factors and data(mma.factors),
        "columns": mma.columns,
        "allocated_columns": mma.allocated_columns,
        "commit_mask": None if mask is None else f"{mask:#06x}",
    }
