"""The canonical layout of a tile, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout import Mismatch
from ...answer import data
from ...matched import Matched


@data.register
def _(matched: Matched) -> dict[str, Any]:
    found = matched.found
    mismatch = None
    if isinstance(found, Mismatch):
        mismatch = {
            "reason": found.reason,
            "mode": found.mode,
            "actual": found.actual,
            "expected": found.expected,
        }
    return {
        "arch": str(matched.arch),
        "matches": mismatch is None,
        "layout": matched.layout and str(matched.layout),
        "element": str(matched.element),
        "role": matched.role.value,
        "shape": list(matched.places.shape),
        "start": matched.start,
        "order": matched.order and data(matched.order),
        "encoded": matched.encoded and data(matched.encoded),
        "mismatch": mismatch,
        "matching_swizzles": [str(swizzle) for swizzle in matched.matching_swizzles],
        "nearest": matched.nearest and data(matched.nearest),
    }
