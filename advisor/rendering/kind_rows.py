"""The kinds of `tcgen05.mma` and their scale factors, as text and JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...layout import Arch
from ...layout.tcgen05.scales import BLOCK_BYTES
from ..answer import data, text
from ..kind_rows import KindRow, KindTable, ScaleBlock, ScaleRow, ScaleTable
from .formats import descriptor_hex
from .tables import cell, text_table, text_table_of

_KINDS = ("kind", "A and B", "D", "K", "M", "N", "M of a CTA pair", "N of a CTA pair")

#: For the head of each column, the key of its values in a row's data.
_SCALES = {
    "kind": "kind",
    "scale type": "scale",
    "block size": "block",
    "K": "k",
    "factors per row": "factors",
    "qualifier": "vector",
    "IDs": "ids",
}


@text.register
def _(table: KindTable) -> str:
    return f"{text_table(_KINDS, [_cells(row) for row in table.rows])}\n\n{_kind_notes(table.arch)}"


@text.register
def _(table: ScaleTable) -> str:
    rows = text_table_of(_SCALES, [data(row) for row in table.rows])
    return f"{rows}\n\n{_scale_notes(table.block)}"


def runs(numbers: Sequence[int]) -> str:
    """Return ascending numbers as ranges, for example `8, 16, 24, 32-256 by 16`."""
    if len(numbers) < 3:
        return ", ".join(map(str, numbers))
    step = numbers[-1] - numbers[-2]
    first = len(numbers) - 2
    while first and numbers[first] - numbers[first - 1] == step:
        first -= 1
    return ", ".join([*map(str, numbers[:first]), f"{numbers[first]}-{numbers[-1]} by {step}"])


def _cells(row: KindRow) -> list[str]:
    """Return the cells of a kind; the columns are `_KINDS`."""
    kind = row.kind
    types = cell(list(kind.codes)) + (" (the same)" if kind.same else "")
    shapes = [runs(numbers) for shapes in row.shapes for numbers in (shapes.m, shapes.n)]
    return [str(kind), types, cell(list(kind.accumulators)), cell(row.k), *shapes]


def _kind_notes(arch: Arch) -> str:
    """Return the notes below the table of kinds."""
    long = " or K is 96," if arch.has_absolute_lbo else ""
    return (
        "M and N are over all CTAs: in a CTA pair (cta_group::2), each CTA has half of the rows of A and "
        f"half of the columns of B.\nWhere a B of 8 bits is N-major,{long} N is a multiple of 16, and "
        "of 32 in a CTA pair."
    )


def _scale_notes(block: ScaleBlock) -> str:
    """Return the notes about the layout of scale factors."""
    values = data(block)
    rows, factors = block.layout.shape
    return (
        "Block size: elements along K per scale factor. ID: the first byte of an instruction's "
        f"factors in a 4-byte word.\nFactors of {rows} rows by {factors} are a block in shared memory, "
        f"{block.layout}, {values['bytes']} bytes.\ntcgen05.cp.32x128b.warpx4 with descriptor "
        f"{values['descriptor']} | (address & 0x3ffff) >> 4\ncopies it to {values['columns']} columns "
        "of tensor memory."
    )


@data.register
def _(row: KindRow) -> dict[str, Any]:
    """K is in elements; M and N are over all CTAs."""
    kind = row.kind
    return {
        "kind": str(kind),
        "types": [str(element) for element in kind.codes],
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
