"""An operand and its descriptors, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout.tcgen05 import Tcgen05Descriptor
from ...answer import data
from ...encoded import Encoded, Operand
from ..formats import descriptor_hex


@data.register
def _(operand: Operand) -> dict[str, Any]:
    """LBO and SBO are in bytes, null where they have no effect; steps are in 16-byte units."""
    canonical = operand.mma_tiles.canonical
    return {
        "role": operand.role.value,
        "element": str(operand.tile.element),
        "layout": str(operand.tile),
        "major": canonical.major.value,
        "swizzle": str(canonical.swizzle),
        "form": operand.form,
        "lbo": canonical.lbo,
        "sbo": canonical.sbo,
        "rows": list(operand.mma_tiles.pieces),
        "k_steps": list(operand.k_steps),
        "mn_steps": list(operand.mn_steps),
        "stage_steps": list(operand.stage_steps),
    }


@data.register
def _(encoded: Encoded) -> dict[str, Any]:
    """Quantities of the descriptor are in bytes, steps in 16-byte units."""
    d = encoded.descriptor
    return {
        "arch": str(encoded.arch),
        "descriptor": descriptor_hex(encoded.bits),
        "constant": descriptor_hex(encoded.constant),
        "fields": {
            "start": d.start,
            "lbo": d.lbo,
            "sbo": d.sbo,
            "base_offset": d.base_offset,
            "swizzle": str(d.swizzle),
            "absolute": isinstance(d, Tcgen05Descriptor) and d.absolute,
        },
        "operand": encoded.operand and data(encoded.operand),
        "descriptors": [[descriptor_hex(bits) for bits in row] for row in encoded.descriptors],
        "suspicions": [data(each) for each in encoded.suspicions],
    }
