"""The kinds of `tcgen05.mma` and their scale factors, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout.tcgen05.scales import BLOCK_BYTES
from ...answer import data
from ...kind_rows import KindRow, KindTable, ScaleBlock, ScaleRow, ScaleTable
from ..formats import descriptor_hex


@data.register
def _(row: KindRow) -> dict[str, Any]:
    """K is in elements; M and N are over all CTAs."""
    kind = row.kind
    return {
        "kind": str(kind),
        "types": [str(each) for each in kind.codes],
        "same": kind.same,
        "accumulators": list(kind.accumulators),
        "k": row.k,
        "shapes": [data(shapes) for shapes in row.shapes],
        "negates": kind.negates,
        "saturates": kind.saturates,
    }


@data.register
def _(row: ScaleRow) -> dict[str, Any]:
    """K and the scale block are in elements."""
    return {
        "kind": str(row.kind),
        "scale": row.scale,
        "block": row.block,
        "k": row.k,
        "factors": row.factors,
        "vector": row.vector,
        "ids": list(row.ids),
    }


@data.register
def _(block: ScaleBlock) -> dict[str, Any]:
    """The descriptor is that of the block's `tcgen05.cp`, without the address."""
    return {
        "shape": list(block.layout.shape),
        "layout": str(block.layout),
        "bytes": BLOCK_BYTES,
        "columns": block.blocks.columns,
        "descriptor": descriptor_hex(block.blocks.descriptor(0, 0).encode()),
    }


@data.register
def _(table: KindTable) -> list[dict[str, Any]]:
    return [data(row) for row in table.rows]


@data.register
def _(table: ScaleTable) -> dict[str, Any]:
    return {"block": data(table.block), "kinds": [data(row) for row in table.rows]}
