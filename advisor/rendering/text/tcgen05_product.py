"""The `tcgen05.mma` instructions that multiply two tiles, as people read them."""

from __future__ import annotations

from textwrap import indent

from ...answer import text
from ...tcgen05_product import Tcgen05Product
from ..formats import instruction_hex
from ..tables import columns
from .instruction import HEADS as FIELD_HEADS
from .instruction import field_rows

_HEADS = ("times", "M", "N", "K", "instruction descriptor")


@text.register
def _(product: Tcgen05Product) -> str:
    first, *others = product.accumulators
    instead = f"; or {', '.join(others)}" if others else ""
    together = ", two blocks together" if product.by.ctas == 2 else ""
    fields = field_rows(product.decoded(*next(iter(product.shapes))))
    factors = [text(product.factors)] if product.factors else []
    head = [
        f"D = A * B: {product.m}x{product.n} {first}{instead}{together}",
        f"  {product.opcode}",
        f"  {_takes(product)}",
        *(f"  {line}" for line in _pair(product)),
    ]
    tables = [columns(_HEADS, _rows(product)), columns(FIELD_HEADS, fields), *factors]
    return "\n\n".join(["\n".join(head), *(indent(table, "  ") for table in tables)])


def _takes(product: Tcgen05Product) -> str:
    """How much of tensor memory it takes."""
    takes = f"D takes {product.columns} columns of tensor memory"
    if product.factors:
        takes += f", scale factors {product.factors.columns}"
    if product.allocated != product.columns:
        takes += f"; allocate {product.allocated}"
    return takes


def _pair(product: Tcgen05Product) -> list[str]:
    """What two blocks have to know of each other."""
    mask = product.commit_mask(0)
    if mask is None:
        return []
    return [
        "the block of even rank starts the instructions; its descriptors hold in both, whose tiles "
        "lie at the same addresses",
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64, "
        f"mask {mask:#06x} << its rank",
    ]


def _rows(product: Tcgen05Product) -> list[tuple[str, ...]]:
    """How often there is an instruction of each shape, and its descriptor, as `_HEADS` names them."""
    return [
        (
            *map(str, (count * product.steps, m, n, product.a.instruction_k)),
            instruction_hex(product.descriptor(m, n).encode()),
        )
        for (m, n), count in product.shapes.items()
    ]
