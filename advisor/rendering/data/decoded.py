"""A decoded descriptor of an operand, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout.descriptor import BASE_OFFSET, field_of
from ....layout.tcgen05 import Tcgen05Descriptor
from ...answer import data
from ...decoded import Decoded
from ..formats import descriptor_hex
from ..text.decoded import forms


@data.register
def _(decoded: Decoded) -> dict[str, Any]:
    """Quantities are in bytes; `reads` is indexed [m/n][k]."""
    d, reading = decoded.descriptor, decoded.reading
    legal = reading is not None and reading.legal
    return {
        "arch": str(decoded.arch),
        "descriptor": descriptor_hex(decoded.bits),
        "start": d.start,
        "lbo": d.lbo,
        "sbo": d.sbo,
        "base_offset": field_of(decoded.bits, BASE_OFFSET),
        "swizzle": str(d.swizzle),
        "absolute": isinstance(d, Tcgen05Descriptor) and d.absolute,
        "element": reading and str(reading.element),
        "major": reading and reading.major.value,
        "rows": reading and reading.rows,
        "chunks": list(reading.chunks) if reading is not None and legal else None,
        "layout": decoded.layout and str(decoded.layout),
        "forms": list(forms(decoded)),
        "reads": reading.addresses.tolist() if reading is not None and legal else None,
        "ranges": [list(pair) for pair in decoded.ranges] if legal else None,
        "suspicions": [data(each) for each in decoded.suspicions],
    }
