"""The order in which the dimensions of a tile are written, as text."""

from __future__ import annotations

from ..answer import text
from ..order import DimensionOrder, order_text


@text.register
def _(order: DimensionOrder) -> str:
    written = order_text(order.written)
    if not order.assumed:
        return f"{written}, as given; the layouts of this answer are {order_text(order.answered)}"
    if order.hint:
        return f"{written}, assumed; {order.hint}"
    if not order.others:
        return f"{written}, assumed"
    cute = order.others[0]
    cute_text = f"CuTe's {order_text(cute)} is --order {','.join(cute)}"
    return f"{written}, assumed; {cute_text}" + (
        f", where {order.problem}" if order.problem else ""
    )
