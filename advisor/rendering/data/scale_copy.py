"""A decoded descriptor of `tcgen05.cp`, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...scale_copy import DecodedCopy
from ..formats import descriptor_hex
from ..text.scale_copy import layout


@data.register
def _(decoded: DecodedCopy) -> dict[str, Any]:
    """Quantities are in bytes; `reads` is indexed [row][factor]."""
    d, reads = decoded.descriptor, decoded.reads
    return {
        "arch": str(decoded.arch),
        "descriptor": descriptor_hex(decoded.bits),
        "start": d.start,
        "lbo": d.lbo,
        "sbo": d.sbo,
        "swizzle": str(d.swizzle),
        "layout": layout(decoded),
        "reads": None if reads is None else reads.tolist(),
        "suspicions": [data(each) for each in decoded.suspicions],
    }
