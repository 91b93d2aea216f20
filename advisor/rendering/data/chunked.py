"""The descriptors of an operand that is read in chunks, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout.tcgen05 import LONG_K_BYTES
from ...answer import data
from ...chunked import EncodedChunks
from ..formats import descriptor_hex


@data.register
def _(encoded: EncodedChunks) -> dict[str, Any]:
    """Quantities are in bytes; tables are indexed [m/n][k]."""
    descriptors = encoded.descriptors
    return {
        "arch": str(encoded.arch),
        "k_bytes": LONG_K_BYTES,
        "role": encoded.role.value,
        "element": str(encoded.tile.element),
        "layout": str(encoded.tile),
        "sbo": encoded.chunks.sbo,
        "rows": list(encoded.chunks.pieces),
        "starts": [[d.start for d in row] for row in descriptors],
        "seconds": [[d.lbo if d.absolute else None for d in row] for row in descriptors],
        "descriptors": [[descriptor_hex(d.encode()) for d in row] for row in descriptors],
    }
